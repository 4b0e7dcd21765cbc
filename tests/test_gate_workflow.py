"""docs/gate_workflow.yml, run by a stand-in for the CI: its `run` steps in a shell, on a small workspace."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.evaluation.labelled_workspace import make_labelled
from tests.warm import likewise_command

FILE = Path(__file__).parents[1] / "docs" / "gate_workflow.yml"


@dataclass(frozen=True)
class Job:
    """What a job left: its exit code, the summary, the artifacts that would be uploaded, and what it printed."""

    code: int
    summary: str
    artifacts: list[str]
    log: str


def _output(outputs: dict[str, str], found: re.Match[str]) -> str:
    return outputs[found[1]]


def run_job(workflow: dict[str, Any], folder: Path, commands: Path, **env: str) -> Job:
    """One job as the CI runs it, with `likewise` in the folder of commands: a shell that stops at the first error,
    outputs and summary in files."""
    outputs: dict[str, str] = {}
    summary, artifacts, log = folder / "summary.md", [], ""
    for step in workflow["jobs"]["gate"]["steps"]:
        if "uses" in step:
            if step["uses"].startswith("actions/upload-artifact@"):
                artifacts = sorted(path.name for path in (folder / step["with"]["path"]).iterdir())
            continue
        output = folder / f"{step.get('id', 'step')}.output"
        output.touch()
        own = {
            name: re.sub(r"\$\{\{ steps\.\w+\.outputs\.(\w+) \}\}", partial(_output, outputs), value)
            for name, value in step.get("env", {}).items()
        }
        known = {"GITHUB_OUTPUT": str(output), "GITHUB_STEP_SUMMARY": str(summary)}
        path = os.pathsep.join([str(commands), str(Path(sys.executable).parent), os.environ["PATH"]])
        ran = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=folder,
            env={**os.environ, "PATH": path, **workflow["env"], **env, **own, **known},
            capture_output=True,
            text=True,
        )
        log += ran.stdout + ran.stderr
        outputs |= dict(line.split("=", 1) for line in output.read_text().splitlines())
        if ran.returncode:
            return Job(ran.returncode, summary.read_text() if summary.exists() else "", artifacts, log)
    return Job(0, summary.read_text(), artifacts, log)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a labelled workspace `ws`, in which `shape` is right and `colour` wrong."""
    return make_labelled(tmp_path_factory.mktemp("repository")).path.parent


@pytest.fixture(scope="module")
def commands(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return likewise_command(tmp_path_factory.mktemp("path") / "bin")


@pytest.mark.parametrize(
    ("old", "new", "undecided", "code", "says"),
    [
        ("colour", "shape", "stop", 0, "## pass: shape against colour (P@3)"),
        ("shape", "colour", "stop", 1, "## fail: colour against shape (P@3)"),
        ("colour", "layout", "allow", 0, "## undecided: layout against colour (P@3)"),
    ],
)
def test_the_workflow_opens_and_closes_the_gate(
    folder: Path, commands: Path, old: str, new: str, undecided: str, code: int, says: str
) -> None:
    (folder / "summary.md").unlink(missing_ok=True)
    (folder / "gate.output").unlink(missing_ok=True)
    workflow = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    job = run_job(workflow, folder, commands, WORKSPACE="ws", OLD=old, NEW=new, MEASURE="P@3", UNDECIDED=undecided)
    assert job.code == code, job.log
    assert job.summary.startswith(says)
    assert job.artifacts == ["gate.json", "index.html", "junit.xml", "pairs.parquet"]
    assert ElementTree.parse(folder / "gate" / "junit.xml").getroot().tag == "testsuites"


def test_a_wrong_command_stops_the_job_with_its_sentence(folder: Path, commands: Path, tmp_path: Path) -> None:
    workflow = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    job = run_job(workflow, tmp_path, commands, WORKSPACE=str(folder / "ws"), OLD="colour", NEW="nobody")
    assert job.code == 1 and not job.artifacts and "there is no model 'nobody'" in " ".join(job.log.split())
