"""Similarity under a condition from Python: every method of a workspace returns a result that shows itself."""

from pathlib import Path

import polars as pl

import likewise as lw
from likewise.conditional.towers import TwoTower
from likewise.conditional.training import TrainingSettings
from likewise.conditional.two_tower import TwoTowerSettings
from likewise.workspace import WorkspaceFolder
from tests.api.checks import check_result


def test_templates_and_combiners_from_python(drawn: WorkspaceFolder, small_tower: TwoTower, tmp_path: Path) -> None:
    shop = lw.Workspace(drawn.path)
    built = shop.build_template_set("python", per_task=12)
    check_result(built, plot=False, tmp_path=tmp_path)
    assert built.counts["n"].sum() == len(built.table)
    check_result(shop.audit_template_set("python"), plot=False, tmp_path=tmp_path)
    encoder = small_tower.spec
    few = TrainingSettings(steps=2, batch=8, validate_every=1)
    trained = shop.train_combiner(encoder, "python", name="python", settings=few)
    check_result(trained, plot=True, tmp_path=tmp_path)
    assert trained.table.columns == ["step", "loss", "recall"] and trained.trained.best_recall >= 0
    found = shop.evaluate_conditions([encoder], templates="python")
    check_result(found, plot=True, tmp_path=tmp_path)
    average = found.table.filter(pl.col("task") == "average", pl.col("measure") == "Recall@1")
    assert found.names == average["method"].to_list()


def test_a_two_tower_encoder_from_python(drawn: WorkspaceFolder, cache: Path, tmp_path: Path) -> None:
    few = TwoTowerSettings(steps=2, batch=32, dim=8)
    trained = lw.Workspace(drawn.path).train_two_tower(tmp_path / "tower", few)
    check_result(trained, plot=False, tmp_path=tmp_path)
    assert trained.table["n_images"][0] + trained.table["n_held_out"][0] == 240
