"""From pictures and votes to whether the winner of a check finds what looks alike: over queries and all its reruns."""

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from likewise.errors import LikewiseError
from likewise.evaluation.step import evaluate
from likewise.training.discovery_accuracy import discovery_scores
from likewise.workspace import WorkspaceFolder

from .check_toy import Check, toy_workspace


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    from likewise.cli import main

    def call(*words: object) -> None:
        monkeypatch.setattr(sys, "argv", ["likewise", *map(str, words)])
        try:
            main()
        except SystemExit as leaving:
            if leaving.code:
                raise LikewiseError(f"{words} ended with {leaving.code}") from leaving

    return call


def label_by_kind(workspace: WorkspaceFolder, run: Callable[..., None]) -> None:
    """A pool of two encoders, and an expert who calls pictures of one kind similar."""
    run("encode", workspace.path, "--with", "colour", "--workers", 1)
    run("discover", workspace.path, "--k", 3, "--n-queries", 40, "--random", 20)
    pairs = pl.read_parquet(workspace.pool_file).select("query", "candidate").unique().sort("query", "candidate")
    same = pl.col("query").str.slice(0, 2) == pl.col("candidate").str.slice(0, 2)
    answer = pl.when(same).then(pl.lit("similar")).otherwise(pl.lit("not similar"))
    votes = pairs.with_columns(expert=pl.lit("anna"), answer=answer)
    votes.write_csv(workspace.path / "votes.csv")
    run("label", "import", workspace.path, workspace.path / "votes.csv")


@pytest.mark.slow
def test_the_winners_reruns_are_all_measured_on_discovery(
    tmp_path: Path, check: Check, run: Callable[..., None]
) -> None:
    workspace = toy_workspace(tmp_path)
    label_by_kind(workspace, run)
    found = check(workspace, "TripletMarginLoss", "--reruns", "3", "--lr", "1e-3")
    lines = {(row["encoder"], row["queries"]): row for row in found["discovery"]}
    assert set(lines) == {(name, of) for name in ("colour", "toy", "run:check") for of in ("all", "of test classes")}
    assert {row["n_reruns"] for key, row in lines.items() if key[0] == "run:check"} == {3}
    reruns = workspace.path / "runs" / "check" / "reruns" / "TripletMarginLoss"
    assert sorted(path.parent.name for path in reruns.glob("*/encoder.json")) == ["1", "2"]  # 0 is the run's encoder
    winner, toy = lines["run:check", "all"], lines["toy", "all"]
    assert toy["lead"] == pytest.approx(winner["value"] - toy["value"]) and winner["lead"] is None
    assert toy["lead_low"] < toy["lead"] < toy["lead_high"] and 0 < toy["p_holm"] <= 1
    main = evaluate(workspace, ["toy"]).results.filter(measure='ROC_AUC(negatives="gallery")')
    assert toy["value"] == pytest.approx(main["value"][0])  # the number that `evaluate` ranks by
    losses = {(row["method"], row["queries"]): row for row in found["discovery_of_losses"]}
    assert set(losses) == {
        (name, of) for name in ("pretrained", "TripletMarginLoss") for of in ("all", "of test classes")
    }
    assert losses["pretrained", "all"]["value"] == pytest.approx(toy["value"])  # the trunk's own vectors
    loss = losses["TripletMarginLoss", "all"]
    assert loss["value"] == pytest.approx(winner["value"]) and loss["n_reruns"] == 3  # it is the winner
    assert loss["difference"] == pytest.approx(toy["lead"]) and loss["difference_low"] < loss["difference"]
    folder = workspace.path / "runs" / "check"
    assert 'id="losses-table"' in (folder / "index.html").read_text(encoding="utf-8")
    assert "winner’s lead" in (folder / "index.html").read_text(encoding="utf-8")
    assert "own lead" in (folder / "card.md").read_text(encoding="utf-8")


def test_a_lead_that_depends_on_the_seed_is_not_significant(rng: np.random.Generator) -> None:
    """The first rerun alone would be far ahead of the other encoder on every query."""
    base = rng.random((1, 200)) * 0.1 + 0.6
    reruns = base + np.array([[0.05], [-0.05], [0.01]])
    every = np.ones(200, bool)
    [other, _] = discovery_scores({"other": base, "run:check": reruns}, "run:check", "all", every)
    assert other.p_holm is not None and other.p_holm > 0.5
    [other, _] = discovery_scores({"other": base, "run:check": base + 0.05 + 0.001 * reruns}, "run:check", "all", every)
    assert other.p_holm is not None and other.p_holm < 0.001
