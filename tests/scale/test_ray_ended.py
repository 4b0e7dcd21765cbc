"""A command on a cluster of its own that is ended by SIGTERM: its sentence, its exit code, and no process of Ray's."""

import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest

from tests.encoders.helpers import make_workspace
from tests.scale.namespace import run_alone

SECONDS = 90


def processes() -> list[str]:
    """Of this namespace, but for those that ended."""
    found = subprocess.run(["ps", "-A", "-o", "stat=,args="], capture_output=True, text=True, check=True).stdout
    return [line for line in found.splitlines() if not line.startswith("Z")]


def rays() -> list[str]:
    return [line for line in processes() if "raylet" in line or "gcs_server" in line or "ray::" in line]


def end_while_it_encodes(folder: Path) -> dict[str, Any]:
    """Runs inside the namespace."""
    running = subprocess.Popen(
        [sys.executable, "-m", "likewise", "encode", str(folder / "workspace"), "--with", "blend", "--engine", "ray"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    until = time.monotonic() + SECONDS
    while not any("ray::" in line for line in processes()) and running.poll() is None and time.monotonic() < until:
        time.sleep(0.05)  # until a worker has begun
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=SECONDS)
    while rays() and time.monotonic() < until + SECONDS:
        time.sleep(0.1)
    return {"code": running.returncode, "said": said, "left": rays()}


@pytest.mark.slow
def test_a_command_on_a_cluster_of_its_own_is_ended(tmp_path: Path) -> None:
    make_workspace(tmp_path, 400)
    before = set(Path(tempfile.gettempdir()).glob("lw-ray-*"))
    found = run_alone("tests.scale.test_ray_ended:end_while_it_encodes", tmp_path)
    assert (found["code"], found["left"]) == (143, []), found["said"]
    assert found["said"].endswith("ended by SIGTERM; the same command goes on where it stopped.\n")
    assert set(Path(tempfile.gettempdir()).glob("lw-ray-*")) <= before
