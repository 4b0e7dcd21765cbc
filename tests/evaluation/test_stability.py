"""Would more labels change the order? The answer of the site is that of the evaluation behind the report."""

from pathlib import Path

import numpy as np
import polars as pl

from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.ranking import MAIN
from likewise.evaluation.ranking_stability import main_values, ranking_stability
from likewise.evaluation.stability import order_stability
from likewise.evaluation.step import evaluate
from likewise.evaluation.summary import EvaluationSettings
from likewise.labeling.state import labels_part, read_votes_or_reason
from likewise.labeling.store import add_votes, opened_votes, read_votes
from likewise.labeling.store.owner import remove_votes

from .labelled_workspace import make_labelled


def values(**models: "np.ndarray[tuple[int], np.dtype[np.float64]]") -> dict[str, QuerySums]:
    return {model: QuerySums.mean_of(per_query) for model, per_query in models.items()}


def test_the_order_is_settled_when_models_differ_clearly(rng: np.random.Generator) -> None:
    noise = rng.normal(0, 0.05, (2, 50))
    found = order_stability(values(good=0.9 + noise[0], poor=0.6 + noise[1]))
    assert (found.winner, found.winner_share) == ("good", 1.0)
    assert found.sentence.startswith("Hardly")
    noise = rng.normal(0, 0.1, (2, 20))
    assert order_stability(values(a=0.7 + noise[0], b=0.7 + noise[1])).sentence.startswith("It may")
    assert order_stability(values(a=np.full(30, np.nan), b=np.full(30, np.nan))).winner_share is None
    assert order_stability(values(a=np.ones(30))).winner_share is None


def test_the_site_answers_what_the_evaluation_stores_even_before_it_is_renewed(tmp_path: Path) -> None:
    workspace = make_labelled(tmp_path)
    done = evaluate(workspace, settings=EvaluationSettings(seed=3), store=True)
    stored = done.evaluation.sums(MAIN)
    live = main_values(workspace)
    assert live.keys() == stored.keys()
    for name, found in live.items():
        assert np.array_equal(found.numerator, stored[name].numerator)
        assert np.array_equal(found.denominator, stored[name].denominator)
    assert ranking_stability(workspace) == done.summary.stability
    with opened_votes(workspace) as engine:
        remove_votes(engine, "anna", "a test")
        first = read_votes(engine).filter(pl.col("query") == pl.col("query").first())
        other = first.with_columns(answer=pl.lit("not similar"))
        add_votes(engine, other, "import other.csv", replace=True)
    before, now = live, main_values(workspace)  # of the votes of now, and nothing was written for it
    assert labels_part(workspace, read_votes_or_reason(workspace)).state == "stale"
    assert any(not np.array_equal(now[name].numerator, before[name].numerator) for name in now)
    assert ranking_stability(workspace) == evaluate(workspace, settings=EvaluationSettings(seed=3)).summary.stability
