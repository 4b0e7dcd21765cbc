"""Run a command, end it at its n-th write call, run it again, and compare what is left with an undisturbed run."""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from random import Random
from typing import Any

import polars as pl

from likewise.files import TEMPORARY
from tests.crash.server import FILLER, FULL, INTERRUPT, KILL, KILLED, SIGNALS, TERMINATE

EXTENSIONS = ("training", "conditional", "outfits")
FAR_FROM_LABELS = ("api", "explore", "report", "scale", "sklearn", "synthetic", "update", "web")
TIMES = {
    "at",
    "date",
    "datetime_start",
    "datetime_complete",
    "created",
    "time",
    "stored",
    "added",
    "changed",
    "expires",
    "seconds",
    "client_id",
    "revoked",
    "withdrawn",
}


ENDS = {KILL: KILLED, INTERRUPT: 130, TERMINATE: 143, FULL: 2}  # the exit codes of a command that is ended so


@dataclass(frozen=True)
class Outcome:
    """How a command ended."""

    code: int
    output: str
    events: list[str]


@dataclass(frozen=True)
class CommandServer:
    """A process that forks for every command."""

    process: "subprocess.Popen[str]"

    def run(self, argv: Sequence[str], root: Path, kill_at: int | None = None, how: str = KILL) -> Outcome:
        self._send({"argv": list(argv), "root": str(root.resolve()), "kill_at": kill_at, "how": how, "stop": False})
        return Outcome(**self._receive())

    def stops(self, argv: Sequence[str], root: Path) -> Iterator[str]:
        """Each write call of a command, while it waits before it."""
        self._send({"argv": list(argv), "root": str(root.resolve()), "kill_at": None, "how": KILL, "stop": True})
        while "event" in (said := self._receive()):
            yield said["event"]
            self._send(None)

    def _send(self, request: dict[str, Any] | None) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n" if request is None else json.dumps(request) + "\n")
        self.process.stdin.flush()

    def _receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        received: dict[str, Any] = json.loads(self.process.stdout.readline())
        return received


@contextmanager
def command_server(place: Path, *, without: Sequence[str] = (), threads: int = 1) -> Iterator[CommandServer]:
    """A server whose forks have imported everything before, but rooms that are not needed."""
    place.mkdir(parents=True, exist_ok=True)
    n_threads = {"OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": str(threads), "POLARS_MAX_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.server", str(place), *without],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | n_threads | {"COLUMNS": "200", "XDG_CACHE_HOME": str(place / "cache")},
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield CommandServer(process)
        finally:
            process.kill()


def folder_state(folder: Path, command: "Command | None" = None) -> dict[str, str]:
    """Every file with a digest of its content, of a database that of its rows without times of day."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_dir() or path.name.endswith(("-wal", "-shm", "-journal")):
            continue
        if command is not None and any(name.match(pattern) for pattern in command.but):
            found[str(name)] = "there"
        elif command is not None and any(name.match(pattern) for pattern in command.timed):
            found[str(name)] = hashlib.sha256(without_times(path)).hexdigest()
        elif path.suffix == ".db":
            found[str(name)] = _database_state(path)
        else:
            found[str(name)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def without_times(path: Path) -> bytes:
    """What a file holds but for the one key, or the one column, of a time of day."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).drop(TIMES, strict=False).write_csv().encode()
    if path.suffix != ".zip":
        return _json_without_times(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        parts = [(each.date_time, each.filename, archive.read(each)) for each in archive.infolist()]
    read = [(*each[:2], _json_without_times(each[2]) if each[1].endswith(".json") else each[2]) for each in parts]
    return repr(read).encode()


def _json_without_times(content: bytes) -> bytes:
    times = rb'"(' + "|".join(sorted(TIMES)).encode() + rb')": ("[^"]*"|[0-9.e+-]+)'
    found = re.findall(times, content)
    assert {name for name, _ in found} <= {b"date", b"time"}, f"times in more than one place: {found}"
    return re.sub(times, b"", content)


def _database_state(path: Path) -> str:
    with closing(sqlite3.connect(path)) as database:
        tables = [name for (name,) in database.execute("select name from sqlite_master where type = 'table'")]
        rows = []
        for table in sorted(tables):
            columns = [row[1] for row in database.execute(f'pragma table_info("{table}")')]
            kept = ", ".join(f'"{name}"' for name in columns if name not in TIMES)
            rows.append((table, sorted(map(repr, database.execute(f'select {kept} from "{table}"')))))
    return hashlib.sha256(repr(rows).encode()).hexdigest()


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@dataclass(frozen=True)
class Command:
    """A command that writes: `timed` names the files in which a time of day stands, `code` how it exits.

    Files of `but` are there, but hold the token of an invitation, a speed, or how often a search was begun. `needs`
    names what it reads and its command line does not name.
    """

    name: str
    argv: tuple[str, ...]
    timed: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    code: int = 0
    needs: tuple[str, ...] = ()


@dataclass(frozen=True)
class Kills:
    """A command that was ended at `n_kills` of its `n_writes` write calls; a line for each that was not mended."""

    n_writes: int
    n_kills: int
    problems: list[str]


def kill_everywhere(
    server: CommandServer,
    command: Command,
    before: Path,
    work: Path,
    at_most: int | None = None,
    seed: int = 0,
    how: str = KILL,
) -> Kills:
    """End a command at every write call, or at so many of them as a seed draws, and run it again each time.

    `how`: killed, interrupted as by Ctrl-C, ended as by a supervisor, or by a disk that is full from then on and has
    room again afterwards.
    """
    start_over(before, work, (*command.argv, *command.needs))
    whole = server.run(command.argv, work)
    assert whole.code == command.code, whole.output
    wanted = folder_state(work, command)
    places, problems = drawn_places(len(whole.events), at_most, seed), []
    for place in places:
        start_over(before, work, (*command.argv, *command.needs))
        ended = server.run(command.argv, work, place, how)
        work.with_name(FILLER).unlink(missing_ok=True)
        where = f"{command.name}, ended before {place} ({whole.events[place]})"
        if ended.code != ENDS[how] and not (how == FULL and ended.code == command.code):
            problems.append(f"{where}: ended with {ended.code} {ended.output.strip()[-200:]}")
        elif how in SIGNALS and (untidy := _is_untidy(ended, work)):
            problems.append(f"{where}: {untidy}")
        elif "Traceback" in ended.output:
            problems.append(f"{where}: traceback {ended.output.strip().splitlines()[-1]}")
        elif problem := _run_again(server, command, work, wanted):
            problems.append(f"{where}: {problem}")
    return Kills(len(whole.events), len(places), problems)


def _is_untidy(ended: Outcome, work: Path) -> str | None:
    """What a command that was told to end did not do before."""
    if "the same command goes on where it stopped." not in ended.output:
        return f"said {ended.output.strip()[-200:]}"
    left = [path.name for path in work.rglob("*") if path.name.endswith(TEMPORARY)]
    return f"left {', '.join(left)}" if left else None


def drawn_places(n_writes: int, at_most: int | None, seed: int) -> list[int]:
    """All write calls, or as many as a seed draws."""
    places = list(range(n_writes))
    return places if at_most is None or n_writes <= at_most else sorted(Random(seed).sample(places, at_most))


def stop_everywhere(
    stopped: CommandServer,
    server: CommandServer,
    command: Command,
    before: Path,
    work: Path,
    at_most: int | None = None,
    seed: int = 0,
    until: float = inf,
) -> Kills | None:
    """The same at less cost: one run waits before each write call, and the other server goes on with its folder's copy.

    A process that ended there would leave the same bytes. What an earlier call left as well is not tried twice. After
    the moment `until` nothing more is tried: what was found is kept beside the work, and the next time goes on there.
    """
    start_over(before, work, (*command.argv, *command.needs))
    whole = server.run(command.argv, work)
    assert whole.code == command.code, whole.output
    wanted = folder_state(work, command)
    places = drawn_places(len(whole.events), at_most, seed)
    start_over(before, work, (*command.argv, *command.needs))
    aside, tried = work.with_name(f"{work.name}-waiting"), work.with_name(f"{work.name}.tried.json")
    shutil.rmtree(aside, ignore_errors=True)
    found: dict[str, str | None] = json.loads(tried.read_text()) if tried.exists() else {}  # by place
    known = dict[str, str | None]()
    for place, event in enumerate(stopped.stops(command.argv, work)):
        if str(place) in found or (at_most is not None and place not in places):
            continue
        if time.monotonic() > until:
            return None
        left = _what_was_left(work)
        if left not in known:
            work.rename(aside)
            shutil.copytree(aside, work)
            known[left] = _run_again(server, command, work, wanted)
            shutil.rmtree(work)
            aside.rename(work)
        problem = known[left]
        found[str(place)] = None if problem is None else f"{command.name}, ended before {place} ({event}): {problem}"
        tried.write_text(json.dumps(found))
    problems = [problem for problem in found.values() if problem is not None]
    if different := differences(wanted, folder_state(work, command)):
        problems.append(f"{command.name} was disturbed by stops: differs in {', '.join(different[:6])}")
    shutil.rmtree(work)
    tried.unlink(missing_ok=True)
    return Kills(len(whole.events), len(found), problems)


def _what_was_left(work: Path) -> str:
    """One digest of every path and its bytes; names of temporary files are drawn anew by every process."""
    digest = hashlib.sha256()
    for path in sorted(work.rglob("*"), key=_without_drawn):
        content = path.read_bytes() if path.is_file() else b""
        digest.update(f"{_without_drawn(path)} {len(content)} ".encode() + content)
    return digest.hexdigest()


def _without_drawn(path: Path) -> str:
    return re.sub(r"[0-9a-f]{12}", "*", str(path))


def _run_again(server: CommandServer, command: Command, work: Path, wanted: dict[str, str]) -> str | None:
    """What is wrong after the command was run again, if anything."""
    again = server.run(command.argv, work)
    if "Traceback" in again.output:
        return f"traceback {again.output.strip().splitlines()[-1]}"
    different = differences(wanted, folder_state(work, command))
    if not different:
        return None
    said = again.output.strip().splitlines()[-1][:150] if again.code != command.code else ""
    return f"{again.code} {said} differs in {', '.join(different[:6])}"


def start_over(before: Path, work: Path, argv: Sequence[str]) -> None:
    """Copy what a command line names of what was built, and the pictures of its workspaces."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    named = {word for part in argv for word in re.split("[/:=,]", part)}
    for file in before.glob("*/workspace.json"):
        if file.parent.name in named:
            named |= {*Path(json.loads(file.read_text(encoding="utf-8"))["root"]).parts}
    for path in before.iterdir():
        if path.is_dir() and path.name in named:
            shutil.copytree(path, work / path.name)
        elif path.name in named:
            shutil.copy2(path, work)
