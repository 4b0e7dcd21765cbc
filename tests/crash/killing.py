"""Run a command, end it at its n-th write call, run it again, and compare what is left with an undisturbed run."""

import hashlib
import json
import os
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
    """A command that writes: `but` names the files in which times of day stand."""

    name: str
    argv: tuple[str, ...]
    but: tuple[str, ...] = ()


def kill_everywhere(
    server: CommandServer, command: Command, before: Path, work: Path, at_most: int, seed: int = 0
) -> list[str]:
    """What went wrong, one line each, over kills at (at most so many of) the write calls of a command."""
    start_over(before, work)
    whole = server.run(command.argv, work)
    assert whole.code == 0, whole.output
    wanted = folder_state(work, command.but)
    places = list(range(len(whole.events)))
    if len(places) > at_most:
        places = sorted(Random(seed).sample(places, at_most))
    problems = []
    for place in places:
        start_over(before, work)
        killed = server.run(command.argv, work, place)
        where = f"{command.name}, ended before {place} ({whole.events[place]})"
        if killed.code != KILLED:
            problems.append(f"{where}: was not ended ({killed.code})")
            continue
        again = server.run(command.argv, work)
        different = differences(wanted, folder_state(work, command.but))
        if "Traceback" in again.output:
            problems.append(f"{where}: traceback {again.output.strip().splitlines()[-1]}")
        elif different:
            said = again.output.strip().splitlines()[-1][:150] if again.code else ""
            problems.append(f"{where}: {again.code} {said} differs in {', '.join(different[:6])}")
    return problems


def start_over(before: Path, work: Path) -> None:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(before, work)
