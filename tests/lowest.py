"""The lowest versions that pyproject.toml allows, as constraints for pip: `python tests/lowest.py`.

`make lowest` installs them into an environment of its own and runs the tests of the core there, which
`python tests/lowest.py tests` names: the core's folders, without what needs torch, a database server or a data-set hub.
"""

import re
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
CORE = [
    *("api", "catalog", "discovery", "evaluation", "explore", "labeling"),
    *("lineage", "neighbours", "report", "synthetic", "update", "web"),
]
NEEDS_MORE = (  # packages that the core does not install
    "api/test_evaluate_arrays.py::test_every_kind_of_input_gives_the_same_numbers",
    "api/test_results.py::test_what_extensions_return_shows_itself",
    "evaluation/test_hub.py",
    "web/test_nonsense.py",
    "web/test_openapi.py",
)


def lowest_versions(root: Path = ROOT) -> list[str]:
    """`name==version` of every dependency of the base install that has a lower bound."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [re.match(r"([\w.-]+)(?:\[[\w,]+\])?>=([\w.]+)", each) for each in project["dependencies"]]
    return [f"{match[1]}=={match[2]}" for match in found if match]


def core_tests() -> list[str]:
    """What pytest is told: folders, and what is left out of them."""
    left_out = [f"--{'deselect' if '::' in each else 'ignore'}=tests/{each}" for each in NEEDS_MORE]
    return [*(f"tests/{name}" for name in CORE), *left_out]


if __name__ == "__main__":
    sys.stdout.write("\n".join(core_tests() if sys.argv[1:] == ["tests"] else lowest_versions()) + "\n")
