"""Training with one seed gives the same weights each time, killed and continued or not, on several threads."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

CHAIN = (
    "new {} --wardrobe --items 90 --views 1 --seed 2",
    "encode {} --with colour --workers 1",
)
TRAIN = "outfits train {} --n-outfits 400 --with colour --epochs 3 --name"
THREADS = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}


def start(command: str) -> "subprocess.Popen[bytes]":
    words = [sys.executable, "-m", "likewise", *command.split()]
    return subprocess.Popen(words, env=THREADS | {"OMP_NUM_THREADS": "2"}, stdout=subprocess.DEVNULL)


def weights(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "epochs").glob("*.safetensors")}


@pytest.mark.slow
def test_a_training_on_two_threads_that_was_killed_gives_the_same_weights(tmp_path: Path) -> None:
    workspace = tmp_path / "shop"
    for command in CHAIN:
        assert start(command.format(workspace)).wait() == 0
    train = TRAIN.format(workspace)
    assert start(f"{train} whole").wait() == 0
    assert start(f"{train} again").wait() == 0
    broken = start(f"{train} broken")
    first = workspace / "outfit_models" / "broken" / "epochs" / "0001.safetensors"
    while broken.poll() is None and not first.exists():
        time.sleep(0.01)
    broken.send_signal(signal.SIGKILL)
    broken.wait()
    assert not (workspace / "outfit_models" / "broken" / "card.json").exists()
    assert start(f"{train} broken").wait() == 0
    wanted = weights(workspace / "outfit_models" / "whole")
    assert len(wanted) == 3
    assert weights(workspace / "outfit_models" / "again") == wanted
    assert weights(workspace / "outfit_models" / "broken") == wanted
