"""A process that has imported everything and used nothing: each request is a fork of it that runs one command.

    {"argv": [...], "root": FOLDER, "kill_at": N or null, "how": how it ends there, "stop": true or false}
    ->  {"code": ..., "output": ..., "events": [...]}

Inside the fork every call that changes a file below `root` is counted: opening for writing, fsync, rename, remove,
mkdir, rmdir, and every statement or commit that changes a database. Before the N-th one, the process ends at once
("kill"), is interrupted as by Ctrl-C ("interrupt") or ended by SIGTERM ("terminate"), or the disk that `root` lies on
is full from then on ("full"); or, with `stop`, it says `{"event": ...}` before every one of them and waits for a line.
"""

import gc
import importlib
import json
import os
import pkgutil
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any

KILLED = 137
LIMIT_SECONDS = 300
CHANGES = {"os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate", "os.link", "os.symlink"}
LEARNING = ("torch", "optuna", "pytorch_metric_learning.losses", "pytorch_metric_learning.miners")
# What those, and commands, import when they are used first: a second or two of every fork.
IMPORTED_BY_OTHERS = (
    "alembic.command",
    "safetensors.numpy",
    "skimage.color",
    "skimage.feature",
    "skimage.util",
    "sqlalchemy.dialects.sqlite",
    "torch._dynamo",
    "torch.onnx",
    "transformers.models.clip.modeling_clip",
    "transformers.models.vit.modeling_vit",
)
KILL, INTERRUPT, TERMINATE, FULL = "kill", "interrupt", "terminate", "full"
SIGNALS = {INTERRUPT: signal.SIGINT, TERMINATE: signal.SIGTERM}
FILLER = "filler"  # beside `root`
STATEMENTS = ("INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "DROP")


class Counter:
    """Counts the calls that change something, and ends the process before one of them."""

    def __init__(self, root: str, kill_at: int | None, how: str, stop: int | None) -> None:
        self.root, self.kill_at, self.how, self.stop = root, kill_at, how, stop
        self.events, self.counting = list[str](), True

    def count(self, what: str, path: str) -> None:
        if not self.counting:
            return
        self.events.append(f"{what} {os.path.relpath(path, self.root) if path else ''}".strip())
        if self.kill_at is not None and len(self.events) == self.kill_at + 1:
            self.strike()
        if self.stop is not None:
            os.write(self.stop, json.dumps({"event": self.events[-1]}).encode() + b"\n")
            os.read(0, 1)

    def strike(self) -> None:
        if self.how in SIGNALS:
            signal.raise_signal(SIGNALS[self.how])
        elif self.how == FULL:
            fill_disk(Path(self.root).with_name(FILLER))
        else:
            os._exit(KILLED)

    def inside(self, path: object) -> str | None:
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if not isinstance(path, str | os.PathLike):
            return None
        absolute = os.path.abspath(os.fspath(path))  # noqa: PTH100
        return absolute if absolute.startswith(self.root + os.sep) else None

    def audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "open" and isinstance(args[2], int) and args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
            if path := self.inside(args[0]):
                self.count("open", path)
        elif event in CHANGES:
            relative_to_folder = event in ("os.remove", "os.rmdir") and args[-1] not in (-1, None)
            path = os.path.join(self.root, args[0]) if relative_to_folder else self.inside(args[0])  # noqa: PTH118
            if path and (relative_to_folder or os.path.lexists(path) == (event != "os.mkdir")):  # else nothing changes
                self.count(event.removeprefix("os."), path)

    def watch_fsync(self) -> None:
        fsync = os.fsync

        def counted(fd: Any) -> None:
            if path := self.inside(os.readlink(f"/proc/self/fd/{fd}")):  # noqa: PTH115
                self.count("fsync", path)
            fsync(fd)

        os.fsync = counted

    def watch_databases(self) -> None:
        from sqlalchemy import event
        from sqlalchemy.engine import Engine

        changed = set[int]()  # connections with something to commit

        def statement(connection: Any, cursor: Any, text: str, *_: Any) -> None:
            if text.lstrip().upper().startswith(STATEMENTS):
                changed.add(id(connection))
                self.count("sql", "")

        def commit(connection: Any) -> None:
            if id(connection) in changed:
                changed.discard(id(connection))
                self.count("commit", "")

        event.listen(Engine, "before_cursor_execute", statement)
        event.listen(Engine, "commit", commit)


def fill_disk(filler: Path) -> None:
    """Write until there is no room for a single byte."""
    for size in (1 << 16, 1):
        with suppress(OSError), filler.open("ab", buffering=0) as file:
            while True:
                file.write(bytes(size))


def import_everything(skip: tuple[str, ...]) -> None:
    """Every module of likewise that can be imported here; none of them computes anything by that."""
    import likewise

    for module in pkgutil.walk_packages(likewise.__path__, "likewise."):
        if ".migrations" in module.name or module.name.endswith("__main__") or module.name.split(".")[1] in skip:
            continue
        importlib.import_module(module.name)
    if "report" not in skip:
        for heavy in ("sklearn.linear_model", "scipy.stats", "matplotlib.pyplot", "faiss"):
            importlib.import_module(heavy)
    if not skip:
        for heavy in (*LEARNING, *IMPORTED_BY_OTHERS):
            importlib.import_module(heavy)
    gc.freeze()  # what is there stays: forks do not look through it again, and share it


def ended_process() -> int:
    """The number of a process that has ended."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return child


def run(request: dict[str, Any], report: Path) -> None:
    """In the fork: run the command line, then write down what happened."""
    if request["stop"]:
        ended = ended_process()
        os.getpid = lambda: ended  # what it notes of itself is a process that is gone, as if it had been killed
    else:
        signal.alarm(LIMIT_SECONDS)
    counter = Counter(str(request["root"]), request["kill_at"], request["how"], os.dup(1) if request["stop"] else None)
    output = os.open(report.with_suffix(".out"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    counter.watch_fsync()
    counter.watch_databases()
    sys.addaudithook(counter.audit)
    from likewise.cli import main

    code: object = 0
    sys.argv = ["likewise", *request["argv"]]
    try:
        main()
    except SystemExit as ended:
        code = ended.code or 0
    except BaseException:
        traceback.print_exc()
        code = 1
    counter.counting = False
    sys.stdout.flush()
    sys.stderr.flush()
    report.write_text(json.dumps({"code": code, "events": counter.events}))
    os._exit(0)


def serve(place: Path, skip: tuple[str, ...]) -> None:
    import_everything(skip)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    for line in sys.stdin:
        request = json.loads(line)
        report = place / "report.json"
        report.unlink(missing_ok=True)
        child = os.fork()
        if child == 0:
            os.chdir(request["root"])
            run(request, report)
        status = os.waitpid(child, 0)[1]
        code = os.waitstatus_to_exitcode(status)
        found = json.loads(report.read_text()) if report.exists() else {"code": code, "events": []}
        found["output"] = report.with_suffix(".out").read_text(errors="replace")
        sys.stdout.write(json.dumps(found) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Path(sys.argv[1]), tuple(sys.argv[2:]))
