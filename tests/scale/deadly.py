"""Work that kills its own process once, in the middle: what a lost machine looks like to the cluster."""

import os
import signal
from pathlib import Path


def die_once(marker: Path) -> None:
    """SIGKILL for whichever process comes first; those after it find the marker and live."""
    try:
        marker.touch(exist_ok=False)
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def square_or_die(argument: tuple[int, str]) -> int:
    number, marker = argument
    if number == 3:
        die_once(Path(marker))
    return number * number
