"""Run a command, end it at its n-th write call, run it again, and compare what is left with an undisturbed run."""

import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from tests.crash.server import KILLED

EXTENSIONS = ("training", "conditional", "outfits")
FAR_FROM_LABELS = ("api", "explore", "report", "scale", "sklearn", "synthetic", "update", "web")
TIMES = {
    "at",
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

    def run(self, argv: Sequence[str], root: Path, kill_at: int | None = None) -> Outcome:
        assert self.process.stdin is not None and self.process.stdout is not None
        request = {"argv": list(argv), "root": str(root.resolve()), "kill_at": kill_at, "cwd": str(root)}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return Outcome(**json.loads(self.process.stdout.readline()))


@contextmanager
def command_server(place: Path, *, without: Sequence[str] = ()) -> Iterator[CommandServer]:
    """A server whose forks have imported everything before, but rooms that are not needed."""
    place.mkdir(parents=True, exist_ok=True)
    one_thread = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.crash.server", str(place), *without],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | one_thread | {"COLUMNS": "200", "XDG_CACHE_HOME": str(place / "cache")},
        cwd=Path(__file__).parents[2],
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            yield CommandServer(process)
        finally:
            process.kill()


def folder_state(folder: Path, but: Sequence[str] = ()) -> dict[str, str]:
    """Every file with a digest of its content, of a database that of its rows without times; `but` patterns."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if path.is_dir() or path.name.endswith(("-wal", "-shm", "-journal")):
            continue
        if any(name.match(pattern) for pattern in but):
            found[str(name)] = "there"
        elif path.suffix == ".db":
            found[str(name)] = _database_state(path)
        else:
            found[str(name)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


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
    """A command that writes: `but` names the files in which times of day stand, `code` how it exits."""

    name: str
    argv: tuple[str, ...]
    but: tuple[str, ...] = ()
    code: int = 0


@dataclass(frozen=True)
class Kills:
    """A command that was ended at `n_kills` of its `n_writes` write calls; a line for each that was not mended."""

    n_writes: int
    n_kills: int
    problems: list[str]


def kill_everywhere(
    server: CommandServer, command: Command, before: Path, work: Path, at_most: int | None = None, seed: int = 0
) -> Kills:
    """What went wrong over kills at every write call of a command, or at so many of them that a seed draws."""
    start_over(before, work)
    whole = server.run(command.argv, work)
    assert whole.code == command.code, whole.output
    wanted = folder_state(work, command.but)
    places = list(range(len(whole.events)))
    if at_most is not None and len(places) > at_most:
        places = sorted(Random(seed).sample(places, at_most))
    known = dict[str, str | None]()  # many calls leave the same bytes behind, and need be tried once
    problems = []
    for place in places:
        start_over(before, work)
        killed = server.run(command.argv, work, place)
        where = f"{command.name}, ended before {place} ({whole.events[place]})"
        if killed.code != KILLED:
            problems.append(f"{where}: was not ended ({killed.code})")
            continue
        left = _what_was_left(work)
        if left not in known:
            known[left] = _run_again(server, command, work, wanted)
        if (problem := known[left]) is not None:
            problems.append(f"{where}: {problem}")
    return Kills(len(whole.events), len(places), problems)


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
    different = differences(wanted, folder_state(work, command.but))
    if not different:
        return None
    said = again.output.strip().splitlines()[-1][:150] if again.code != command.code else ""
    return f"{again.code} {said} differs in {', '.join(different[:6])}"


def start_over(before: Path, work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(before, work)
