"""The test files and folders of the packages that changed: `python tests/changed.py [BASE]`, for `make check`.

Changed is what differs from BASE (the last commit by default), committed or not, and what git does not track yet. A
package src/likewise/NAME is tested by tests/NAME, a module that all packages share and that has no tests of its own by
those of the road from pictures to the report; the house test always runs.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
ALWAYS = "tests/test_house.py"
ROAD = {"tests/catalog", "tests/cli", "tests/status"}


def changed_files(base: str) -> list[str]:
    """Paths relative to the project's folder."""
    listed = [["git", "diff", "--name-only", base], ["git", "ls-files", "--others", "--exclude-standard"]]
    return [
        line
        for command in listed
        for line in subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout.splitlines()
    ]


def paths_to_test(files: list[str], root: Path = ROOT) -> list[str]:
    """The tests to run for these files; nothing where none of them is code."""
    found = set()
    for file in files:
        match Path(file).parts:
            case ("src", "likewise", name, *_):
                stem = name.removesuffix(".py")
                own = {path for path in (f"tests/{stem}", f"tests/test_{stem}.py") if (root / path).exists()}
                found |= own or ROAD
            case ("tests", name) if name.startswith("test_") and name.endswith(".py"):
                found.add(file)
            case ("tests", name, *_) if (root / "tests" / name).is_dir():
                found.add(f"tests/{name}")
            case ("docs", *_):
                found |= {"tests/test_docs.py", "tests/test_marks.py"}
    there = sorted(path for path in found if (root / path).exists() and path not in ("tests/real", "tests/browser"))
    return [ALWAYS, *(path for path in there if path != ALWAYS)] if there else []


if __name__ == "__main__":
    sys.stdout.write(" ".join(paths_to_test(changed_files(sys.argv[1] if len(sys.argv) > 1 else "HEAD"))) + "\n")
