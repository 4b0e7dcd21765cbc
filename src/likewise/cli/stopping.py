"""What ends a command before its time: Ctrl-C, a supervisor's or container's SIGTERM, a terminal that is closed.

Each of them is an exception in the main thread, so that half-written files and locks go away as after an error, and
becomes one sentence and the exit code that shells expect: 128 and the number of the signal.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]


class Terminated(KeyboardInterrupt):
    """Somebody ended the process from outside; whatever tidies up after Ctrl-C does so after this, too."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class StoppedCommand(BaseException):
    """A command that did not come to its end. typer, which would end a `KeyboardInterrupt` silently, knows it not."""

    def __init__(self, interrupt: KeyboardInterrupt) -> None:
        number = interrupt.number if isinstance(interrupt, Terminated) else signal.SIGINT
        how = f"ended by {signal.Signals(number).name}" if isinstance(interrupt, Terminated) else "interrupted"
        super().__init__(f"{how}; the same command goes on where it stopped.")
        self.code = 128 + number


@contextmanager
def signals_end_commands() -> Iterator[None]:
    """Let the signals that end a process raise `Terminated`, but for those that are ignored (`nohup`)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in ENDING}
    try:
        for number, handler in before.items():
            if handler == signal.SIG_DFL:
                signal.signal(number, _end)
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, _: FrameType | None) -> None:
    for each in ENDING:
        signal.signal(each, signal.SIG_IGN)  # once is enough: tidying up is not to be disturbed
    raise Terminated(number)
