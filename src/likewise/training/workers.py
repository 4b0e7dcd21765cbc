"""Where folds are trained: in this process, or in several single-threaded ones."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any

from likewise.encoders.networks.device import one_torch_thread
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional
from likewise.training.context import TaskRunner
from likewise.worker_processes import WorkerProcesses, single_threaded_children


@contextmanager
def training_processes(n_workers: int) -> Iterator[TaskRunner]:
    """A runner over `n_workers` processes that are started once; one works in this process, on one thread."""
    if n_workers < 1:
        raise LikewiseError(f"there must be at least one worker, not {n_workers}.")
    if n_workers == 1:
        with one_torch_thread():
            yield lambda function, arguments: [function(each) for each in arguments]
        return
    with (
        one_torch_thread(),
        single_threaded_children(),
        WorkerProcesses(n_workers, _use_one_thread) as pool,
    ):

        def run(function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
            try:
                return list(pool.map(function, arguments))
            except BrokenProcessPool as error:
                raise LikewiseError(
                    "a training process was killed, perhaps for want of memory: run the same command again, it goes "
                    "on where it stopped; --workers 1 needs the least memory."
                ) from error

        yield run


def _use_one_thread() -> None:
    import_optional("torch", "training").set_num_threads(1)
