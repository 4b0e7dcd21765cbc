"""Worker processes: they end with their parent, and use one thread each."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context, parent_process
from types import FrameType, TracebackType
from typing import Any, ParamSpec, TypeVar

THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")

TERMINATED = 128 + signal.SIGTERM
SECONDS_TO_TIDY_UP = 3
Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class WorkerProcesses(ProcessPoolExecutor):
    """Processes that end with this one, however it ends, and leave their work tidily when this one gives up.

    Ctrl-C and a closed terminal reach every process, but are the business of this one, which then ends the others.
    """

    def __init__(self, n_workers: int, start: Callable[[], None] | None = None) -> None:
        with _signals_blocked():
            super().__init__(n_workers, get_context("spawn"), _start_worker, (start,))

    def submit(
        self, function: Callable[Arguments, Result], /, *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> "Future[Result]":
        with _signals_blocked():
            return super().submit(partial(_work, function, *args, **kwargs))

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None:
            self.give_up()
        super().__exit__(kind, error, trace)

    def give_up(self) -> None:
        """Drop what waits, and end what is being worked on."""
        processes = list((self._processes or {}).values())
        self.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()


class _WorkerEndedError(SystemExit):
    """A worker was told to end while it works."""


def _start_worker(start: Callable[[], None] | None) -> None:
    signal.signal(signal.SIGTERM, _end_worker)
    exit_with_parent()
    if start is not None:
        start()


_working = threading.Event()


def _work(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """What a worker does; told to end, it removes what is half written, and takes up nothing else."""
    _working.set()
    try:
        return function(*args, **kwargs)
    except _WorkerEndedError:
        os._exit(TERMINATED)
    finally:
        _working.clear()


def _end_worker(number: int, _: FrameType | None) -> None:
    """Between two tasks there is nothing to tidy up, and a result that is being sent would wait for a reader."""
    signal.signal(number, signal.SIG_IGN)
    if not _working.is_set():
        os._exit(TERMINATED)
    if hasattr(signal, "alarm"):
        signal.alarm(SECONDS_TO_TIDY_UP)  # an exception may be dropped on its way (by an import): then this ends it
    raise _WorkerEndedError(TERMINATED)


@contextmanager
def _signals_blocked() -> Iterator[None]:
    """Processes that are started in here never hear of Ctrl-C or a closed terminal, not even in their first moment.

    Here signals wait: a process that is half started would be left without what it is to do.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    heard = list[int]()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)}
    held = threading.current_thread() is threading.main_thread()  # only there they are raised
    ours = {number: handler for number, handler in handlers.items() if held and callable(handler)}
    for number in ours:
        signal.signal(number, lambda said, _: heard.append(said))
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        for number, handler in ours.items():
            signal.signal(number, handler)
        for each in heard:
            signal.raise_signal(each)


def exit_with_parent() -> None:
    """In a fresh worker process: end with the parent, however it ends, instead of waiting forever for work."""
    parent = parent_process()
    if parent is None:
        return

    def follow() -> None:
        parent.join()
        os._exit(1)

    threading.Thread(target=follow, daemon=True).start()


@contextmanager
def single_threaded_children() -> Iterator[None]:
    """Processes started in here use one thread: as many processes as cores are already all the machine can do."""
    before = {name: os.environ.get(name) for name in THREAD_SETTINGS}
    os.environ.update(dict.fromkeys(THREAD_SETTINGS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
