"""What a step prints may go nowhere; what it makes is stored all the same."""

import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from likewise.encoders import encode_catalog
from likewise.workspace import WorkspaceFolder


def without_reader(workspace: Path, *command: str) -> subprocess.CompletedProcess[bytes]:
    """A command whose output nobody reads from the start, as behind `| head -0`."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        words = [sys.executable, "-m", "likewise", *command, str(workspace)]
        return subprocess.run(words, stdout=writing, stderr=subprocess.PIPE, check=False)
    finally:
        os.close(writing)


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_a_pool_is_stored_although_nobody_reads_its_cost(workspace: WorkspaceFolder, options: tuple[str, ...]) -> None:
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    done = without_reader(workspace.path, "discover", "--random", "20", *options)
    assert (done.returncode, done.stderr) == (0, b"")
    assert pl.read_parquet(workspace.pool_file).height > 20
    assert workspace.pool_settings_file.exists()


def test_a_mistake_keeps_its_exit_code_although_nobody_reads_it(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    words = [sys.executable, "-m", "likewise", "status", str(tmp_path / "nothing")]
    done = subprocess.run(words, stdout=writing, stderr=writing, check=False)
    os.close(writing)
    assert done.returncode == 2


def test_a_reader_gets_every_line(tmp_path: Path) -> None:
    """The same through a pipe as into a file, with what is left in the buffers at the end."""
    words = [sys.executable, "-m", "likewise", "list", "measures"]
    file = tmp_path / "measures.txt"
    with file.open("w") as output:
        subprocess.run(words, stdout=output, check=True)
    piped = subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout
    assert piped == file.read_bytes() and len(piped) > 500
