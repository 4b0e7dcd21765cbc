"""Many experts answer at the same moment: their answers are stored together, in one transaction for all who wait.

Nobody is told that an answer is saved before the transaction that holds it has ended.
"""

from collections.abc import Sequence
from concurrent.futures import Future

from sqlalchemy import Engine

from likewise.labeling.store.batches import BatchWorker
from likewise.labeling.store.engine import write_transaction
from likewise.labeling.store.events import SubmissionResult, SubmittedAnswer, store_answers

SentAnswers = tuple[int, Sequence[SubmittedAnswer]]


class VoteWriter:
    """Stores the answers of all experts of a site."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._worker: BatchWorker[SentAnswers, SubmissionResult] = BatchWorker("vote-writer", self._store)

    def add(self, expert: int, answers: Sequence[SubmittedAnswer]) -> "Future[SubmissionResult]":
        """Hand in an expert's answers; the future is done when they are on the disk, or holds why they are not."""
        return self._worker.submit((expert, answers), size=len(answers))

    def close(self) -> None:
        """Store what waits, then stop, until somebody adds answers again."""
        self._worker.close()

    def _store(self, sent: Sequence[SentAnswers]) -> list[SubmissionResult]:
        with write_transaction(self._engine, *(expert for expert, _ in sent)) as connection:
            return store_answers(connection, sent)
