"""A connection to Ray: an existing cluster by its address, or one on the cores of this machine that ends with the work.

Every machine of a cluster needs likewise in the same version, and sees the pictures and the workspace under the same
paths (a shared file system).  Nothing is reported to Ray's makers.
"""

import os
import shutil
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from likewise.errors import LikewiseError
from likewise.machine import usable_cores
from likewise.optional_dependencies import import_optional, suppress_output
from likewise.worker_processes import single_threaded_children

RAY_ENVIRONMENT = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_TQDM": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
}
CONNECT_TIMEOUT_SECONDS = 5.0
MAX_OBJECT_STORE_BYTES = 2 * 1024**3  # of a local cluster; vectors and prepared pictures pass through, none stay


@contextmanager
def cluster(address: str | None = None, cores: int | None = None) -> Iterator[Any]:
    """The module `ray`, connected; without an address to a cluster of `cores` (all by default) of this machine."""
    if address is not None and not _is_listening(address):
        raise _no_cluster_error(address, "nothing listens there")
    os.environ.update({name: os.environ.get(name, value) for name, value in RAY_ENVIRONMENT.items()})
    ray = import_optional("ray", "--engine ray")
    if ray.is_initialized():  # inside another step that runs on the cluster
        yield ray
        return
    _silence_workers()
    if address is None:
        with _local_cluster(ray, cores or usable_cores()):
            yield ray
        return
    try:
        with suppress_output():
            ray.init(address=address, log_to_driver=False, logging_level="error")
    except (ConnectionError, ValueError, RuntimeError, ray.exceptions.RayError) as error:
        raise _no_cluster_error(address, _first_line(error)) from error
    try:
        _check_same_version(ray)
        yield ray
    finally:
        ray.shutdown()


def _is_listening(address: str) -> bool:
    """Whether something listens at HOST:PORT: Ray itself would wait for minutes.  Other addresses are left to it."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdecimal():
        return True
    try:
        socket.create_connection((host.strip("[]"), int(port)), CONNECT_TIMEOUT_SECONDS).close()
    except OSError:
        return False
    return True


def _no_cluster_error(address: str, why: str) -> LikewiseError:
    return LikewiseError(
        f"no Ray cluster answers at {address} ({why}): start one with `ray start --head`, set RAY_AUTH_MODE=token and "
        "RAY_AUTH_TOKEN where it wants a token, or leave --address out to use the cores of this machine."
    )


def _silence_workers() -> None:
    """Ray prints the death of a worker to standard output, where a command may be printing JSON; it has its log."""
    worker: Any = import_module("ray._private.worker")
    if hasattr(worker, "print_to_stdstream"):
        worker.print_to_stdstream = lambda *_, **__: None


@contextmanager
def _local_cluster(ray: Any, cores: int) -> Iterator[None]:
    """A cluster of its own in a fresh folder with a short name, which Ray's sockets need."""
    short = "/tmp" if sys.platform != "win32" and Path("/tmp").is_dir() else None
    folder = tempfile.mkdtemp(prefix="lw-ray-", dir=short)
    try:
        with single_threaded_children(), suppress_output(), _own_signals():
            ray.init(
                address="local",
                num_cpus=cores,
                include_dashboard=False,
                log_to_driver=False,
                logging_level="error",
                object_store_memory=MAX_OBJECT_STORE_BYTES,
                _temp_dir=folder,
            )
        yield
    finally:
        ray.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _own_signals() -> Iterator[None]:
    """Ray would answer SIGTERM by ending this process without a word; what ends a command here shuts it down, too."""
    before = signal.getsignal(signal.SIGTERM)
    if not callable(before) or threading.current_thread() is not threading.main_thread():
        yield
        return
    ended = False
    try:
        yield
    except SystemExit:  # that was Ray's answer
        ended = True
    finally:
        signal.signal(signal.SIGTERM, before)
        if ended:
            signal.raise_signal(signal.SIGTERM)


def cluster_cores(ray: Any) -> int:
    """Cores of the whole cluster."""
    return max(1, int(ray.cluster_resources().get("CPU", 1)))


def _worker_version() -> str:
    from likewise import __version__

    return __version__


def _check_same_version(ray: Any) -> None:
    from likewise import __version__

    try:
        there = ray.get(ray.remote(_worker_version).remote())
    except ray.exceptions.RayError as error:
        raise LikewiseError(
            f"the workers of the cluster cannot run likewise ({_first_line(error)}): "
            f"install version {__version__} there."
        ) from error
    if there != __version__:
        raise LikewiseError(f"the cluster has likewise {there}, here is {__version__}: install the same version there.")


def to_likewise_error(error: Exception) -> LikewiseError:
    """What went wrong on the cluster; a user's mistake found by a worker stays what it is."""
    cause: BaseException = error
    while deeper := getattr(cause, "cause", None) or cause.__cause__:
        cause = deeper
    if isinstance(cause, LikewiseError):
        return LikewiseError(str(cause))
    return LikewiseError(
        f"the cluster gave up ({type(error).__name__}: {_first_line(error)}): finished work is kept, "
        "running again continues."
    )


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
