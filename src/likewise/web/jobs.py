"""Work that takes longer than a request: started once, asked about until it is done."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from likewise.errors import LikewiseError
from likewise.progress import ProgressCallback

T = TypeVar("T")


@dataclass
class Job(Generic[T]):
    """One piece of work in a thread of its own."""

    what: str = "starting"
    done: int = 0
    total: int = 0
    result: T | None = None
    error: LikewiseError | None = None

    def run(self, work: Callable[[ProgressCallback], T]) -> None:
        try:
            self.result = work(self._progress)
        except LikewiseError as error:
            self.error = error
        except Exception as error:  # whatever it is, whoever waits must hear of it
            self.error = LikewiseError(f"this could not be computed ({type(error).__name__}: {error}).")

    def _progress(self, what: str, done: int, total: int) -> None:
        self.what, self.done, self.total = what, done, total


@dataclass
class Jobs(Generic[T]):
    """Jobs by what they are about; one that failed is begun again when it is asked for the next time."""

    _jobs: dict[str, Job[T]] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, key: str, work: Callable[[ProgressCallback], T]) -> T | Job[T]:
        """What the work gave, or the job that is still at it."""
        with self._lock:
            job = self._jobs.get(key)
            if job is None:
                job = self._jobs[key] = Job()
                threading.Thread(target=job.run, args=(work,), daemon=True).start()
            if job.error is not None:
                del self._jobs[key]
                raise job.error
        return job if job.result is None else job.result
