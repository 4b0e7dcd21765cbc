"""What the machine that this runs on has: cores and memory."""

import os
from dataclasses import dataclass

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
