"""A second process that would do the same work at the same time is told to wait."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from PIL import Image

from likewise.catalog import make_catalog
from likewise.catalog.make import changing_catalog
from likewise.discovery.pool import choosing_pairs
from likewise.errors import LikewiseError
from likewise.files import locked
from likewise.outfits.training.trainer import train_model
from likewise.training.reality_check import run_reality_check
from likewise.update import update_catalog
from likewise.workspace import WorkspaceFolder
from tests.outfits.toy_outfits import examples, job, toy_features
from tests.training.check_toy import toy_plan, toy_workspace


def here(function: Any, arguments: Sequence[Any]) -> list[Any]:
    return [function(each) for each in arguments]


def test_two_catalogs(tmp_path: Path) -> None:
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    workspace = WorkspaceFolder(tmp_path / "ws")
    with (
        locked(workspace.path / "catalog", ""),
        pytest.raises(LikewiseError, match="another process makes or updates the catalog"),
    ):
        make_catalog(workspace, pl.DataFrame({"image": ["a.png"]}), tmp_path, "table")


def test_two_updates(tmp_path: Path) -> None:
    """The second of two would write its version over the first one's."""
    Image.new("RGB", (8, 8)).save(tmp_path / "a.png")
    workspace, rows = WorkspaceFolder(tmp_path / "ws"), pl.DataFrame({"image": ["a.png"]})
    make_catalog(workspace, rows, tmp_path, "table")
    with changing_catalog(workspace):
        with pytest.raises(LikewiseError, match="another process makes or updates the catalog"):
            update_catalog(workspace, rows, tmp_path)
        assert update_catalog(workspace, rows, tmp_path, dry_run=True).changes.nothing  # looks, and writes nothing


def test_two_pools(tmp_path: Path) -> None:
    workspace = WorkspaceFolder(tmp_path)
    with (
        choosing_pairs(workspace),
        pytest.raises(LikewiseError, match="another process chooses pairs"),
        choosing_pairs(workspace),
    ):
        pass
    with choosing_pairs(workspace):
        pass


def test_two_checks(tmp_path: Path) -> None:
    workspace = toy_workspace(tmp_path)
    with (
        locked(workspace.path / "runs" / "check" / "check", ""),
        pytest.raises(LikewiseError, match=r"another process runs the check .* --search-only"),
    ):
        run_reality_check(workspace, ["triplet"], toy_plan(), here, column="kind", encoder="toy")


def test_two_trainings_of_an_outfit_model(tmp_path: Path) -> None:
    with locked(tmp_path / "m" / "training", ""), pytest.raises(LikewiseError, match="another process trains"):
        train_model(job("ngnn", 1), examples(), toy_features(), tmp_path / "m")
