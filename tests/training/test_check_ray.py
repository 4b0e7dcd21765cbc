"""A check whose folds are trained on a Ray cluster ends in the same tables as one on this machine."""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from likewise.training.check import check
from likewise.workspace import Workspace
from tests.scale.namespace import run_alone

from .check_toy import toy_plan, toy_workspace


def on_the_cluster(folder: Path) -> list[str]:
    """Runs inside the namespace."""
    from likewise.scale.cluster import cluster
    from likewise.scale.tasks import run_tasks

    with cluster(cores=2):
        done = check(Workspace(folder / "ray"), ["triplet"], toy_plan(), run_tasks, column="kind", encoder="toy")
    return done.accuracy["method"].unique(maintain_order=True).to_list()


def here(function: Any, arguments: Sequence[Any]) -> list[Any]:
    return [function(each) for each in arguments]


@pytest.mark.slow
def test_the_same_tables_on_ray(tmp_path: Path) -> None:
    workspace = toy_workspace(tmp_path)
    shutil.copytree(workspace.path, tmp_path / "ray")
    found = run_alone("tests.training.test_check_ray:on_the_cluster", tmp_path)
    assert found == ["pretrained", "triplet"]
    check(workspace, ["triplet"], toy_plan(), here, column="kind", encoder="toy")
    for table in ("trials", "accuracy"):
        local, there = (tmp_path / name / "runs" / "check" / f"{table}.parquet" for name in ("toy", "ray"))
        assert pl.read_parquet(local).equals(pl.read_parquet(there)), table
