"""Locks on open files that end with their process: flock, or on Windows msvcrt, which needs no fcntl."""

import importlib
import os
import sys
import time
from types import ModuleType

WAIT_SECONDS = 0.05


def _import(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError:
        return None


fcntl, msvcrt = _import("fcntl"), _import("msvcrt")
# Windows refuses to rename or to remove what somebody has open, and to open a folder at all.
OPEN_FILES_CAN_MOVE = sys.platform != "win32"


def lock_file(handle: int, *, wait: bool) -> bool | None:
    """Lock an open file; False where another process has it, None where nobody can know."""
    try:
        while not _try_lock(handle, wait=wait):
            if not wait:
                return False
            time.sleep(WAIT_SECONDS)
    except OSError:  # a file system without locks
        return None
    return True


def _try_lock(handle: int, *, wait: bool) -> bool:
    if fcntl is not None:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
    if msvcrt is None:
        raise OSError("no locks here")
    os.lseek(handle, 0, os.SEEK_SET)
    try:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except PermissionError:  # EACCES: somebody has it
        return False
    return True
