"""The table of docs/crashes.md: every command that writes is ended at every one of its write calls, and run again.

`python docs/kills.py --work FOLDER` keeps what it found for each command in FOLDER and goes on where it stopped;
`--only` takes one command, `--page` fills the page from what is there.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path

from marks import fill, paragraph

from likewise.workspace import read_json, write_json

sys.path.append(str(Path(__file__).parents[1]))

from tests.crash.commands import CORE, build_start
from tests.crash.extension_commands import EXTENSIONS, build_extension_start
from tests.crash.killing import EXTENSIONS as ROOMS_OF_EXTENSIONS
from tests.crash.killing import Command, command_server, kill_everywhere

PAGE = Path(__file__).with_name("crashes.md")
Row = tuple[Command, int, int, int]


def kept_in(work: Path, command: Command) -> Path:
    return work / f"{command.name.replace(' ', '_')}.json"


def end_everywhere(work: Path, command: Command) -> None:
    """End one command at every write call; what is found replaces what was kept for it."""
    of_core = command in CORE
    name, build = ("core", build_start) if of_core else ("extensions", build_extension_start)
    place = work / kept_in(work, command).stem
    with command_server(place / "server", without=ROOMS_OF_EXTENSIONS if of_core else ()) as server:
        before = work / name
        if not before.exists():
            build(server, work / f"{name}.part")
            (work / f"{name}.part").rename(before)
        found = kill_everywhere(server, command, before, place / "work")
    write_json({"writes": found.n_writes, "kills": found.n_kills, "problems": found.problems}, kept_in(work, command))
    print(f"{command.name}: {found.n_kills} kills, {len(found.problems)} not mended", *found.problems, sep="\n  ")


def table(rows: Iterable[Row]) -> str:
    lines = ["| command | write calls | ended at | finished by running it again |", "|---|---|---|---|"]
    lines += [f"| `{' '.join(each.argv)}` | {n} | {k} | {mended} |" for each, n, k, mended in rows]
    return "\n".join(lines)


def fill_page(work: Path, commands: Iterable[Command]) -> None:
    rows: list[Row] = []
    for command in commands:
        if kept_in(work, command).exists():
            kept = read_json(kept_in(work, command))
            rows.append((command, kept["writes"], kept["kills"], kept["kills"] - len(kept["problems"])))
    kills, mended = sum(row[2] for row in rows), sum(row[3] for row in rows)
    said = (
        f"{len(rows)} commands were ended {kills:,} times; {mended:,} times running the command again finished the "
        "work to the same bytes and left nothing else behind."
    )
    fill(PAGE, {"crashes-sum": paragraph(said), "crashes-table": table(rows)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--only", help="one command, by its name in tests/crash")
    parser.add_argument("--page", action="store_true", help="only fill the page")
    asked = parser.parse_args()
    commands = (*CORE, *EXTENSIONS)
    if not asked.page:
        for command in commands:
            if command.name == asked.only or (asked.only is None and not kept_in(asked.work, command).exists()):
                end_everywhere(asked.work, command)
    fill_page(asked.work, commands)


if __name__ == "__main__":
    main()
