"""The machine that this runs on: its cores, its memory, and how its C library treats memory that is freed."""

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

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


class _BlasLimit:
    """How many are inside `one_blas_thread` now; the last to leave gives the threads back."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0
        self.limit: Any = None


_blas_limit = _BlasLimit()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Matrix products on one thread each, for work that keeps every core busy itself: else threads wait for threads."""
    from threadpoolctl import threadpool_limits

    with _blas_limit.lock:
        if not _blas_limit.inside:
            _blas_limit.limit = threadpool_limits(1, user_api="blas")
        _blas_limit.inside += 1
    try:
        yield
    finally:
        with _blas_limit.lock:
            _blas_limit.inside -= 1
            if not _blas_limit.inside:
                _blas_limit.limit.restore_original_limits()


@cache
def keep_freed_memory() -> None:
    """Ask the C library to keep what it is given back: pictures come and go, and their pages are dear to fetch anew."""
    mmap_threshold, trim_threshold, enough = -3, -1, 64 << 20
    with suppress(OSError, AttributeError, TypeError):  # another C library than glibc: then without
        library = ctypes.CDLL(None)
        library.mallopt(mmap_threshold, enough)
        library.mallopt(trim_threshold, 4 * enough)
