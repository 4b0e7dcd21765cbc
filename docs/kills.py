"""The table of docs/crashes.md: every command that writes is ended at every one of its write calls, and run again.

`python docs/kills.py --work FOLDER` keeps what it found for each command in FOLDER and goes on where it stopped;
`--only` takes some of them, `--page` fills the page from what is there; commands that FOLDER knows nothing of keep
their row of the page. With `--at-most N` a command with more write
calls than that is ended at N of them, drawn by a seed. With `--minutes N` it ends by itself after that time, within a
command too, and goes on there when it is called again (exit code 3 says that there is more to do).
"""

import argparse
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from math import inf
from pathlib import Path

from marks import fill, paragraph

from likewise.workspace import read_json, write_json

sys.path.append(str(Path(__file__).parents[1]))

from tests.crash.commands import CORE, build_start
from tests.crash.extension_commands import EXTENSIONS, build_extension_start
from tests.crash.killing import EXTENSIONS as ROOMS_OF_EXTENSIONS
from tests.crash.killing import Command, CommandServer, Kills, command_server, stop_everywhere

PAGE = Path(__file__).with_name("crashes.md")
Row = tuple[Command, int, int, int]
Build = Callable[[CommandServer, Path], None]


def kept_in(work: Path, command: Command) -> Path:
    return work / f"{command.name.replace(' ', '_')}.json"


def stop_commands(
    work: Path,
    name: str,
    build: Build,
    commands: Sequence[Command],
    without: Sequence[str],
    at_most: int | None,
    until: float,
) -> None:
    """Stop each command at every write call; what is found replaces what was kept for it."""
    with (
        command_server(work / "servers" / f"{name}-stopped", without=without) as stopped,
        command_server(work / "servers" / name, without=without) as server,
    ):
        before, built = work / name, work / f"{name}.built"
        if not built.exists():  # built in its place: workspaces name their pictures' folder
            shutil.rmtree(before, ignore_errors=True)
            build(server, before)
            built.touch()
        for command in commands:
            place = kept_in(work, command).with_suffix("")
            found = stop_everywhere(stopped, server, command, before, place, at_most, until=until)
            if found is None:
                print(f"{command.name}: to be continued")
                sys.exit(3)
            write_json(asdict(found), kept_in(work, command))
            print(
                f"{command.name}: {found.n_kills} kills, {len(found.problems)} not mended", *found.problems, sep="\n  "
            )


def table(rows: Iterable[Row]) -> str:
    lines = ["| command | write calls | ended at | finished by running it again |", "|---|---|---|---|"]
    lines += [f"| `{' '.join(each.argv)}` | {n} | {k} | {mended} |" for each, n, k, mended in rows]
    return "\n".join(lines)


def fill_page(work: Path, commands: Iterable[Command]) -> None:
    rows: list[Row] = []
    page = PAGE.read_text(encoding="utf-8")
    for command in commands:
        if kept_in(work, command).exists():
            found = Kills(**read_json(kept_in(work, command)))
            rows.append((command, found.n_writes, found.n_kills, found.n_kills - len(found.problems)))
        elif row := re.search(rf"^\| `{re.escape(' '.join(command.argv))}` \| (\d+) \| (\d+) \| (\d+) \|$", page, re.M):
            rows.append((command, int(row[1]), int(row[2]), int(row[3])))
    kills, mended = sum(row[2] for row in rows), sum(row[3] for row in rows)
    drawn = [f"`{each.name}` at {k} of {n}" for each, n, k, _ in rows if k < n]
    said = (
        f"{len(rows)} commands were ended {kills:,} times; {mended:,} times running the command again finished the "
        "work to the same bytes and left nothing else behind."
        + (f" Ended at calls drawn by a seed: {', '.join(drawn)}; all others at every one." if drawn else "")
    )
    fill(PAGE, {"crashes-sum": paragraph(said), "crashes-table": table(rows)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", action="append", help="a command, by its name in tests/crash; may be repeated")
    parser.add_argument("--page", action="store_true", help="only fill the page")
    parser.add_argument("--minutes", type=float, default=inf, help="end after that time; the next call goes on")
    parser.add_argument("--at-most", type=int, help="end a command with more write calls at so many, drawn")
    asked = parser.parse_args()
    until = time.monotonic() + 60 * asked.minutes

    def wanted(commands: Sequence[Command]) -> list[Command]:
        return [
            each
            for each in commands
            if not (asked.page or kept_in(asked.work, each).exists()) and each.name in (asked.only or [each.name])
        ]

    if core := wanted(CORE):
        stop_commands(asked.work, "core", build_start, core, ROOMS_OF_EXTENSIONS, asked.at_most, until)
    if extensions := wanted(EXTENSIONS):
        stop_commands(asked.work, "extensions", build_extension_start, extensions, (), asked.at_most, until)
    fill_page(asked.work, (*CORE, *EXTENSIONS))


if __name__ == "__main__":
    main()
