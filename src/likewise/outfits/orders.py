"""Section 4.1 of A100: does a test put models in the order that the data sets' own questions put them in?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.rank_correlation import kendall
from likewise.lineage.guard import MARK

_is_unseen = ~pl.col("model").str.ends_with(MARK)  # a model that learned from a test has no place in an order


@dataclass(frozen=True)
class OrderComparison:
    """Section 4.1: the order of models by vote over the test sets, and their order under each score of a test."""

    by_vote: list[str]
    votes: dict[str, float]
    by_score: dict[str, list[str]]
    agrees: dict[str, bool]
    kendall: dict[str, float]


def compare_orders(
    test_sets: Mapping[str, Mapping[str, float]], test: Mapping[str, Mapping[str, float]]
) -> OrderComparison:
    """`test_sets`: set -> model -> value; `test`: score (LATs, AATs, ...) -> model -> value.

    Where the sets disagree about two models, they vote: a model counts one for every other model that it beats on more
    sets than it loses on, and a half for a draw.
    """
    models = sorted(set.intersection(*(set(values) for values in (*test_sets.values(), *test.values()))))
    if len(models) < 2:
        raise LikewiseError("an order needs at least two models that were measured on every set and by the test.")
    values_by_set = np.array([[values[model] for model in models] for values in test_sets.values()])
    ahead = np.sign(values_by_set[:, :, None] - values_by_set[:, None, :]).sum(axis=0)
    votes = (ahead > 0).sum(axis=1) + ((ahead == 0).sum(axis=1) - 1) / 2.0
    beaten = dict(zip(models, votes.tolist(), strict=True))
    by_vote = sorted(models, key=lambda model: (-beaten[model], model))
    by_score = {score: sorted(models, key=lambda m: (-values[m], m)) for score, values in test.items()}
    agreement = {score: kendall(votes, np.array([values[model] for model in models])) for score, values in test.items()}
    return OrderComparison(
        by_vote,
        beaten,
        by_score,
        {score: bool(np.isclose(tau, 1.0)) for score, tau in agreement.items()},
        agreement,
    )


def benchmark_values(results: pl.DataFrame, test: str = "FITB") -> dict[str, float]:
    """model -> value of one test of a table of results."""
    mine = results.filter((pl.col("test") == test) & pl.col("value").is_not_null() & _is_unseen)
    return dict(mine.select("model", "value").iter_rows())


def taste_score_values(
    scores: pl.DataFrame, wanted: Sequence[str] = ("LATs", "mLATs", "AATs")
) -> dict[str, dict[str, float]]:
    """score -> model -> value, of a table of scores of a test."""
    found = {}
    for score in wanted:
        mine = scores.filter((pl.col("score") == score) & pl.col("value").is_not_null() & _is_unseen)
        if len(mine):
            found[score] = dict(mine.select("model", "value").iter_rows())
    return found
