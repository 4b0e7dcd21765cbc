"""A check whose folds are trained on a Ray cluster ends in the same tables as one on this machine."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from likewise.training.reality_check import run_reality_check
from likewise.workspace import WorkspaceFolder
from tests.scale.namespace import run_alone

from .check_toy import check_command, toy_plan, toy_workspace


def on_the_cluster(folder: Path) -> list[str]:
    """Runs inside the namespace: the command as a user types it."""
    command = check_command(WorkspaceFolder(folder / "ray"), "triplet", "--engine", "ray", "--json")
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    return list(dict.fromkeys(row["method"] for row in json.loads(ran.stdout)["accuracy"]))


def here(function: Any, arguments: Sequence[Any]) -> list[Any]:
    return [function(each) for each in arguments]


@pytest.mark.slow
def test_the_same_tables_on_ray(tmp_path: Path) -> None:
    workspace = toy_workspace(tmp_path)
    shutil.copytree(workspace.path, tmp_path / "ray")
    found = run_alone("tests.training.test_reality_check_ray:on_the_cluster", tmp_path)
    assert found == ["pretrained", "triplet"]
    run_reality_check(workspace, ["triplet"], toy_plan(), here, column="kind", encoder="toy")
    for table in ("trials", "accuracy"):
        local, there = (tmp_path / name / "runs" / "check" / f"{table}.parquet" for name in ("toy", "ray"))
        assert pl.read_parquet(local).equals(pl.read_parquet(there)), table
