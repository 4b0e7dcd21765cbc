"""The lowest versions that pyproject.toml allows, as constraints for pip: `python tests/lowest.py [EXTRA ...]`.

`make lowest` installs them into an environment of its own and runs the tests of the core there.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]


def lowest_versions(extras: list[str], root: Path = ROOT) -> list[str]:
    """`name==version` of every dependency that has a lower bound."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(each for extra in extras for each in project["optional-dependencies"][extra])]
    found = [re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", each) for each in wanted]
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest_versions(sys.argv[1:])) + "\n")
