"""`python -m tests.crash.full_disk FOLDER`: commands on a small disk that is full from one of their writes on.

The disk is mounted at FOLDER/disk by whoever starts this (test_full_disk.py); what is not mended is printed.
"""

import sys
from pathlib import Path

from tests.crash.commands import CORE, build_start
from tests.crash.killing import EXTENSIONS, command_server, kill_everywhere
from tests.crash.server import FULL

AT_MOST = 2


def main(place: Path) -> None:
    with command_server(place / "server", without=EXTENSIONS) as server:
        build_start(server, place / "before")
        for command in CORE:
            found = kill_everywhere(server, command, place / "before", place / "disk" / "work", AT_MOST, 4, FULL)
            sys.stdout.write("\n  ".join([f"{command.name}: {found.n_kills} times", *found.problems]) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
