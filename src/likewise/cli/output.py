"""Standard output and error that outlive their reader: `likewise discover shoes | head -1` still stores its pool.

A step prints what it is about to do before it has stored its work. When whoever reads the output has left, further
lines are dropped, and the step goes on.
"""

import io
import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class _Pipe(io.FileIO):
    """A pipe that nobody may read any more."""

    def write(self, data: "ReadableBuffer", /) -> int:
        with suppress(BrokenPipeError):
            return super().write(data)
        return memoryview(data).nbytes


def outlive_readers() -> None:
    """Drop what is printed after the reader of a pipe has left, whoever prints it."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if not isinstance(stream, io.TextIOWrapper) or isinstance(_raw(stream), _Pipe) or not _is_pipe(stream):
            continue
        stream.flush()
        pipe = io.BufferedWriter(_Pipe(stream.fileno(), "w", closefd=False))
        setattr(sys, name, io.TextIOWrapper(pipe, stream.encoding, stream.errors, None, stream.line_buffering))


def _raw(stream: io.TextIOWrapper) -> object:
    return getattr(stream.buffer, "raw", None)


def _is_pipe(stream: io.TextIOWrapper) -> bool:
    try:
        mode = os.fstat(stream.fileno()).st_mode
    except OSError:  # not an open file: a test, a notebook
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
