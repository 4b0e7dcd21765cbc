"""Requests of many at the same moment, handled together: whoever comes while the database is busy shares its next turn.

A disk takes as long to keep one answer as to keep fifty, and a question for fifty sessions costs what one costs.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from sqlalchemy.exc import OperationalError, TimeoutError

from likewise.labeling.store.engine import StoreError

Request = TypeVar("Request")
Result = TypeVar("Result")
MAX_PER_TURN = 200


@dataclass(frozen=True)
class _Waiting(Generic[Request, Result]):
    request: Request
    size: int
    done: "Future[Result]" = field(default_factory=Future)


class BatchWorker(Generic[Request, Result]):
    """One thread that handles requests in turns; it starts with the first of them."""

    def __init__(self, name: str, handle: Callable[[Sequence[Request]], Sequence[Result]]) -> None:
        self._name, self._handle = name, handle
        self._waiting: SimpleQueue[_Waiting[Request, Result] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def submit(self, request: Request, size: int = 1) -> "Future[Result]":
        """Hand in a request; the future is done when its turn has ended, or holds why it failed."""
        waiting: _Waiting[Request, Result] = _Waiting(request, size)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._thread.start()
            self._waiting.put(waiting)
        return waiting.done

    def close(self) -> None:
        """Handle what waits, then stop, until somebody hands something in again."""
        with self._lock:
            if self._thread is not None:
                self._waiting.put(None)
                self._thread.join()
                self._thread = None

    def _run(self) -> None:
        running = True
        while running:
            found, running = self._next_turn()
            ready = [each for each in found if each.done.set_running_or_notify_cancel()]
            if ready:
                self._finish(ready)

    def _next_turn(self) -> tuple[list[_Waiting[Request, Result]], bool]:
        """Wait for a request and take all that came meanwhile; False when somebody asked to stop."""
        found: list[_Waiting[Request, Result]] = []
        try:
            while sum(each.size for each in found) < MAX_PER_TURN:
                each = self._waiting.get(block=not found)
                if each is None:
                    return found, False
                found.append(each)
        except Empty:
            pass
        return found, True

    def _finish(self, turn: list[_Waiting[Request, Result]]) -> None:
        try:
            results = self._handle([each.request for each in turn])
        except Exception as error:
            if len(turn) > 1 and not _is_database_failure(error):
                for each in turn:  # one of them is at fault: the others must not suffer for it
                    self._finish([each])
                return
            for each in turn:
                each.done.set_exception(error)
            return
        for each, result in zip(turn, results, strict=True):
            each.done.set_result(result)


def _is_database_failure(error: Exception) -> bool:
    """Whether the database cannot be used at all just now: locked, full, gone."""
    return isinstance(error, StoreError) and isinstance(error.__cause__, OperationalError | TimeoutError | None)
