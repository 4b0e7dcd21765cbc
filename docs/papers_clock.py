"""Processor time of the parts behind `papers.md`: kept in the working folder, summed where a part was interrupted."""

import json
import resource
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

FILE = "clock.json"


@contextmanager
def timed(work: Path, part: str) -> Iterator[None]:
    """Add what the block takes, with all commands that it starts, to the part's time; also where it is ended."""
    before = processor_seconds()
    try:
        yield
    finally:
        clock = read_clock(work)
        clock[part] = clock.get(part, 0.0) + processor_seconds() - before
        (work / FILE).write_text(json.dumps(clock, indent=1))


def read_clock(work: Path) -> dict[str, float]:
    file = work / FILE
    return json.loads(file.read_text()) if file.exists() else {}


def processor_seconds() -> float:
    """Of this process and of all commands that have ended, with their workers."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


def stop_in_order() -> None:
    """When this process is to end, the command that it runs ends first, and its time is noted."""

    def stop(number: int, frame: FrameType | None) -> None:
        sys.exit(f"stopped by signal {number}; the same command goes on")

    signal.signal(signal.SIGTERM, stop)
