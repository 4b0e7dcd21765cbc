"""The machine that this runs on: its cores, its memory, and how its C library treats memory that is freed."""

import ctypes
import os
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

from likewise.errors import LikewiseError


@dataclass(frozen=True)
class Machine:
    """Cores and memory of one machine."""

    cores: int
    memory_gb: float


def usable_cores() -> int:
    """Cores this process may run on, which in a container is often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def this_machine(cores: int | None = None, memory_gb: float | None = None) -> Machine:
    """This machine, or what the user says instead."""
    if memory_gb is None:
        try:
            memory_gb = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9
        except (AttributeError, ValueError, OSError):
            raise LikewiseError("the memory of this machine cannot be read: say it with --memory GB.") from None
    if (cores is not None and cores < 1) or memory_gb <= 0:
        raise LikewiseError("a machine has at least one core and some memory.")
    return Machine(cores or usable_cores(), memory_gb)


@cache
def keep_freed_memory() -> None:
    """Ask the C library to keep what it is given back: pictures come and go, and their pages are dear to fetch anew."""
    mmap_threshold, trim_threshold, enough = -3, -1, 64 << 20
    with suppress(OSError, AttributeError, TypeError):  # another C library than glibc: then without
        library = ctypes.CDLL(None)
        library.mallopt(mmap_threshold, enough)
        library.mallopt(trim_threshold, 4 * enough)
