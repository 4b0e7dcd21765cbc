"""What a run leaves can be read again, also where an earlier version wrote it."""

from dataclasses import asdict, replace
from pathlib import Path

import polars as pl

from likewise.training.hyperparameter_search import Trial
from likewise.training.perceptual.settings import NetworkPlan
from likewise.training.perceptual.summary import CalibrationSummary, PerceptualSummary
from likewise.training.plan import make_plan
from likewise.training.runs import read_run_table
from likewise.training.summary import CheckSummary, DiscoveryScore, ExportedEncoder, FoldSizes, MethodSummary
from likewise.workspace import read_json, write_json

PERCEPTUAL = PerceptualSummary(
    learned_from="labels",
    source="labels.parquet",
    catalog="abc",
    n_answers=10,
    n_votes=30,
    n_queries=4,
    n_items=8,
    n_test_answers=0,
    test=None,
    bases=["small"],
    trunk=NetworkPlan("small", n_evaluations=2),
    unseen=["queries"],
    folds=5,
    seed=0,
    choice={"steps": 20},
    chosen="20 steps",
    negative_log_likelihood_train=0.4,
    negative_log_likelihood_held_out=0.5,
    calibration=CalibrationSummary(2.0, 0.1, 0.03, 0.2, 30),
    queries=["a.png"],
)
BEST = Trial("triplet", 3, {"margin": 0.1}, 0.5, (0.4, 0.6), (10, 20), 7, "")
CHECK = CheckSummary(
    run="check",
    workspace="toy",
    column="kind",
    trunk="frozen",
    encoder="toy",
    trunk_dim=24,
    papers_trunk="BN-Inception",
    plan=make_plan("quick"),
    n_images=384,
    n_without_class=0,
    n_classes=64,
    n_test_classes=32,
    n_test_images=192,
    folds=(FoldSizes(144, 24, 48, 8),),
    pretrained_dims={"concatenated": 24, "separated": 24},
    winner="triplet",
    methods={
        "triplet": MethodSummary("Triplet", 2006, "embedding", BEST, 8, 0),
        "ms": MethodSummary("MS", 2019, "embedding", None, 8, 8),
    },
    encoder_made=ExportedEncoder("run:check", 512, ""),
    discovery=(DiscoveryScore("toy", "all", 0.7, 0.6, 0.8, 12), DiscoveryScore("toy", "other", None, None, None, 0)),
)


def test_summaries_are_the_same_after_they_were_written(tmp_path: Path) -> None:
    for check in (CHECK, replace(CHECK, winner=None, encoder_made=None, discovery=None)):
        write_json(check.to_dict(), tmp_path / "summary.json")
        assert CheckSummary.from_dict(read_json(tmp_path / "summary.json")) == check
    for perceptual in (PERCEPTUAL, replace(PERCEPTUAL, trunk=None)):
        write_json(perceptual.to_dict(), tmp_path / "summary.json")
        assert PerceptualSummary.from_dict(read_json(tmp_path / "summary.json")) == perceptual


def test_a_run_of_an_earlier_version_is_read_with_the_names_of_today(tmp_path: Path) -> None:
    written = asdict(PERCEPTUAL)
    for name in ("train", "held_out"):
        written[f"surprise_{name}"] = written.pop(f"negative_log_likelihood_{name}")
    written["trunk"]["looks"] = written["trunk"].pop("n_evaluations")
    assert PerceptualSummary.from_dict(written) == PERCEPTUAL
    path = tmp_path / "table.parquet"
    pl.DataFrame({"metric": ["ROC-AUC", "PR-AUC", "majority"], "real": [True, False, True]}).write_parquet(path)
    table = read_run_table(path, "likewise train check").to_dict(as_series=False)
    assert table == {"measure": ["ROC_AUC", "AP", "majority"], "significant": [True, False, True]}
    pl.DataFrame({"image": ["a"], "R-Precision": [0.5]}).write_parquet(path)
    assert read_run_table(path, "likewise train check").columns == ["image", "R_Precision"]
