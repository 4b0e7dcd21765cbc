"""Many experts answer at the same moment: their answers are stored together, in one transaction for all who wait.

A disk takes as long to keep one answer as to keep fifty, so whoever comes while it is busy shares the next turn. Nobody
is told that an answer is saved before the transaction that holds it has ended.
"""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue

from sqlalchemy import Engine
from sqlalchemy.exc import OperationalError, TimeoutError

from likewise.labeling.store.engine import StoreError, write_transaction
from likewise.labeling.store.events import SubmissionResult, SubmittedAnswer, store_answers

MAX_ANSWERS_PER_TRANSACTION = 200  # of one turn


@dataclass(frozen=True)
class _WriteRequest:
    expert: int
    answers: Sequence[SubmittedAnswer]
    done: "Future[SubmissionResult]" = field(default_factory=Future)


class VoteWriter:
    """One thread that stores the answers of all experts of a site; it starts with the first of them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._waiting: SimpleQueue[_WriteRequest | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def add(self, expert: int, answers: Sequence[SubmittedAnswer]) -> "Future[SubmissionResult]":
        """Hand in an expert's answers; the future is done when they are on the disk, or holds why they are not."""
        request = _WriteRequest(expert, answers)
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="vote-writer", daemon=True)
                self._thread.start()
            self._waiting.put(request)
        return request.done

    def close(self) -> None:
        """Store what waits, then stop, until somebody adds answers again."""
        with self._lock:
            if self._thread is not None:
                self._waiting.put(None)
                self._thread.join()
                self._thread = None

    def _run(self) -> None:
        running = True
        while running:
            requests, running = self._next_requests()
            ready = [request for request in requests if request.done.set_running_or_notify_cancel()]
            if ready:
                self._store(ready)

    def _next_requests(self) -> tuple[list[_WriteRequest], bool]:
        """Wait for a request and take all that came meanwhile; False when somebody asked to stop."""
        found: list[_WriteRequest] = []
        try:
            while sum(len(request.answers) for request in found) < MAX_ANSWERS_PER_TRANSACTION:
                request = self._waiting.get(block=not found)
                if request is None:
                    return found, False
                found.append(request)
        except Empty:
            pass
        return found, True

    def _store(self, requests: list[_WriteRequest]) -> None:
        try:
            with write_transaction(self._engine, *(request.expert for request in requests)) as connection:
                results = store_answers(connection, [(request.expert, request.answers) for request in requests])
        except Exception as error:
            if len(requests) > 1 and not _is_database_failure(error):
                for request in requests:  # one of them is at fault: the others must not suffer for it
                    self._store([request])
                return
            for request in requests:
                request.done.set_exception(error)
            return
        for request, stored in zip(requests, results, strict=True):
            request.done.set_result(stored)


def _is_database_failure(error: Exception) -> bool:
    """Whether the database cannot be used at all just now: locked, full, gone."""
    return isinstance(error, StoreError) and isinstance(error.__cause__, OperationalError | TimeoutError | None)
