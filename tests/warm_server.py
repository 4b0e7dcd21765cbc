"""A process that has imported what commands need and used none of it; every request is run by a fork of it.

It imports and computes nothing: no thread is started before a fork (polars, torch and BLAS start theirs when used).
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import runpy
import signal
import socket
import sys
import threading
import traceback
from contextlib import suppress
from types import ModuleType

THIRD_PARTY = (
    "sklearn.linear_model",
    "scipy.stats",
    "matplotlib.pyplot",
    "faiss",
    "alembic.command",
    "uvicorn",
    "optuna",
    "torch._dynamo",  # torch itself imports it for the first optimizer
    "pytorch_metric_learning.losses",
    "pytorch_metric_learning.miners",
)
SECONDS_BETWEEN_LOOKS = 5.0


def import_everything() -> None:
    import likewise

    for module in pkgutil.walk_packages(likewise.__path__, "likewise."):
        if ".migrations" not in module.name and not module.name.endswith("__main__"):
            with suppress(ImportError):  # an extra that is not installed
                importlib.import_module(module.name)
    for name in THIRD_PARTY:
        with suppress(ImportError):
            importlib.import_module(name)


def run(options: list[str]) -> int:
    """`-m MODULE ARGUMENTS` or `-c CODE ARGUMENTS`, as Python would; the exit code."""
    kind, what, *arguments = options
    try:
        if kind == "-m":
            sys.argv = [what, *arguments]
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.argv, sys.modules["__main__"] = ["-c", *arguments], ModuleType("__main__")
            sys.modules["__main__"].__dict__["__builtins__"] = __builtins__
            exec(compile(what, "<string>", "exec"), sys.modules["__main__"].__dict__)
    except SystemExit as leaving:
        if isinstance(leaving.code, str):
            sys.stderr.write(f"{leaving.code}\n")
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except BaseException:
        traceback.print_exc()
        return 1
    return 0


def become(request: dict[str, object], streams: list[int]) -> None:
    """Take on the folder, environment and streams of whoever asked."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(str(request["folder"]))
    os.environ.clear()
    os.environ.update(request["environment"])  # type: ignore[call-overload]
    sys.path[0] = os.getcwd()  # noqa: PTH109
    given = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    sys.path[1:1] = [each for each in given if each and each not in sys.path]


def answer(connection: socket.socket) -> None:
    """In a fork: another one runs the request, this one waits for it and tells how it ended."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    head, streams, _, _ = socket.recv_fds(connection, 8, 3)
    wanted, content = int.from_bytes(head, "big"), b""
    while len(content) < wanted:
        content += connection.recv(wanted - len(content))
    request = json.loads(content)
    if (child := os.fork()) == 0:
        connection.close()
        become(request, streams)
        code = run(request["options"])
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code & 0xFF)
    connection.sendall(str(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])).encode())


def serve(address: str) -> None:
    import_everything()
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the forks
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen()
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        listener.settimeout(SECONDS_BETWEEN_LOOKS)
        parent = os.getppid()
        while os.getppid() == parent:  # however the tests end
            try:
                connection, _ = listener.accept()
            except TimeoutError:
                continue
            connection.setblocking(True)
            if os.fork() == 0:
                listener.close()
                answer(connection)
                os._exit(0)
            connection.close()


if __name__ == "__main__":
    serve(sys.argv[1])
