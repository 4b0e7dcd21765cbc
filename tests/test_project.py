"""The files a stranger meets first agree with the code: one version, a wheel with every file, workflows that parse."""

import ast
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

from likewise import __version__
from tests.conftest import heavy_tests, not_run
from tests.real.places import NO_DATA

from .changed import paths_to_test
from .lowest import CORE, NEEDS_MORE

ROOT = Path(__file__).parents[1]


def test_the_version_has_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert "version" not in project and "version" in project["dynamic"]
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"] == __version__
    assert re.search(
        r"^## (Unreleased|" + re.escape(__version__) + ")", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE
    )


def test_the_citation_names_the_four_papers() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["references"]
    assert sorted(each["year"] for each in cited) == [2020, 2022, 2023, 2023]
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert all(each["authors"][0]["family-names"] in readme for each in cited)


@pytest.mark.parametrize("file", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda file: file.name)
def test_workflows_run_targets_that_exist(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text(encoding="utf-8"))
    targets = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    runs = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    made = [word for run in runs for line in run.splitlines() if line.startswith("make ") for word in line.split()[1:]]
    assert runs and set(made) <= targets


def test_the_classifiers_name_the_versions_that_the_workflow_tests() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    tests = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]["tests"]["strategy"]["matrix"]
    named = [each.rpartition(" ")[2] for each in project["classifiers"] if "Python :: 3." in each]
    assert named == tests["python"] and project["requires-python"] == f">={named[0]}"
    assert {each.partition("-")[0] for each in tests["os"]} == {"ubuntu", "macos", "windows"}


def fits_schema(schema: str, *files: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("github-workflows", (".github/workflows/*.yml", "docs/gate_workflow.yml")),
        ("github-issue-forms", (".github/ISSUE_TEMPLATE/*.yml",)),
        ("compose-spec", ("compose.yaml",)),
        ("citation-file-format", ("CITATION.cff",)),
    ],
)
def test_files_for_other_programs_fit_their_published_schema(
    schema: str, files: tuple[str, ...], tmp_path: Path
) -> None:
    found = [path for pattern in files for path in sorted(ROOT.glob(pattern))]
    checked = fits_schema(schema, *found)
    assert found and checked.returncode == 0, checked.stdout + checked.stderr
    (tmp_path / "wrong.yml").write_text("on: [push]\nnobody-knows: this\n")
    assert fits_schema(schema, tmp_path / "wrong.yml").returncode == 1


def test_what_changed_decides_which_tests_run() -> None:
    assert paths_to_test(["README.md"]) == []
    assert paths_to_test(["src/likewise/evaluation/auc.py"]) == ["tests/test_house.py", "tests/evaluation"]
    assert paths_to_test(["src/likewise/intervals.py"]) == ["tests/test_house.py", "tests/test_intervals.py"]
    assert "tests/status" in paths_to_test(["src/likewise/workspace.py"])
    assert "tests/labeling" in paths_to_test(["tests/labeling/test_store.py"])


def test_the_tests_of_the_core_import_what_the_core_installs() -> None:
    """`make lowest` has nothing else: a file that needs more must stand in its list."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]

    def names(requirements: list[str]) -> set[str]:
        found = {match[0].lower().replace("_", "-") for each in requirements if (match := re.match(r"[\w.-]+", each))}
        return found - {"likewise"}

    installed = names([*project["dependencies"], *extras["core-test"], *extras["sklearn"]])
    others = names([each for extra in extras.values() for each in extra]) - installed
    homes = packages_distributions()
    wrong = []
    for folder in CORE:
        for file in (ROOT / "tests" / folder).rglob("*.py"):
            if file.relative_to(ROOT / "tests").as_posix() in NEEDS_MORE:
                continue
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                modules += [each.name for each in node.names] if isinstance(node, ast.Import) else []
                needed = {home.lower() for module in modules for home in homes.get(module.partition(".")[0], [])}
                wrong += [f"{file.name}: {home}" for home in needed & others]
    assert "schemathesis" in others and wrong == []


def _tracked() -> set[str]:
    listed = subprocess.run(["git", "ls-files", "src/likewise"], cwd=ROOT, check=True, capture_output=True, text=True)
    return {line.removeprefix("src/") for line in listed.stdout.splitlines()}


def test_the_wheel_and_the_sdist_hold_every_file_of_the_package(tmp_path: Path) -> None:
    built = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(tmp_path), str(ROOT)],
        capture_output=True,
        text=True,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        names = wheel.namelist()
    assert _tracked() <= set(names)
    assert any(name.endswith("licenses/LICENSE") for name in names)
    assert not [name for name in names if "dist-info" not in name and not name.startswith("likewise/")]
    with tarfile.open(next(tmp_path.glob("*.tar.gz"))) as source:
        inside = {name.partition("/")[2] for name in source.getnames()}
    assert {f"src/{name}" for name in _tracked()} | {"LICENSE", "NOTICE", "pyproject.toml"} <= inside


def test_what_make_check_leaves_out_is_still_there() -> None:
    gone = []
    for name in heavy_tests():
        file, _, test = name.partition("::")
        path = Path(__file__).parents[1] / file
        if not path.is_file() or (test and f"def {test}(" not in path.read_text(encoding="utf-8")):
            gone.append(name)
    assert gone == []


def test_what_was_not_run_is_one_line_for_each_reason() -> None:
    reasons = [f"Skipped: {NO_DATA}: products", f"Skipped: {NO_DATA}: captions", f"{NO_DATA}: products", "no root"]
    assert not_run(reasons) == [
        "NOT RUN: 1 test: no root",
        f"NOT RUN: 3 tests: {NO_DATA} (captions, products)",
    ]
