"""Worker processes: they end with their parent, and use one thread each."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import parent_process

THREAD_SETTINGS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "POLARS_MAX_THREADS")


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
