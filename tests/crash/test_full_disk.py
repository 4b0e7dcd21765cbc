"""A disk that is full from any write on: one sentence, and with room again the command finishes to the same bytes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.commands import CORE

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="a small disk needs root: NOT run")
def test_commands_on_a_disk_that_is_full_from_one_of_their_writes_on(tmp_path: Path) -> None:
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-m", "true"], check=False).returncode != 0:
        pytest.skip("unshare is not allowed here: NOT run")
    (tmp_path / "disk").mkdir()
    script = f'mount -t tmpfs -o size=64m tmpfs {tmp_path}/disk && exec "$@"'
    inner = [sys.executable, "-m", "tests.crash.full_disk", str(tmp_path)]
    done = subprocess.run(
        ["unshare", "-m", "sh", "-c", script, "sh", *inner], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    lines = done.stdout.splitlines()
    assert [line for line in lines if line.startswith("  ")] == []
    assert len(lines) == len(CORE)
