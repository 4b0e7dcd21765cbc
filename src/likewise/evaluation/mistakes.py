"""Each model's worst mistakes, to be looked at: similar pairs it puts low, dissimilar pairs it puts high.

Severity is the share of the query's judged candidates of the other class that stand on the wrong side
(ties count one half): 1 means a positive below every negative, or a negative above every positive.
"""

from collections.abc import Iterable

import numpy as np
import polars as pl

from likewise.evaluation.auc import Floats, sort_pairs
from likewise.evaluation.discovery import EncoderScores
from likewise.evaluation.pairs import JudgedPairs

MISTAKES_PER_KIND = 12
MISSED, FALSE_FRIEND = "missed", "false friend"


def mistake_severity(scores: Floats, pairs: JudgedPairs) -> Floats:
    """Of each judged pair; NaN where its query has no candidate of the other class."""
    by_query = sort_pairs(pairs.query, scores, pairs.label, len(pairs.queries))
    is_positive = by_query.positive == 1.0
    wrong = np.empty(len(scores))
    for positive_side in (True, False):
        other = np.where(positive_side, 1.0 - by_query.positive, by_query.positive)
        in_run = np.bincount(by_query.run_of_pair, other)
        through_run = np.cumsum(in_run)
        total = np.bincount(by_query.query, other, by_query.n_queries)
        before_query = (np.cumsum(total) - total)[by_query.query]
        run = by_query.run_of_pair
        below = through_run[run] - in_run[run] / 2.0 - before_query
        with np.errstate(invalid="ignore", divide="ignore"):
            share = below / total[by_query.query]
        chosen = is_positive == positive_side
        wrong[chosen] = (1.0 - share if positive_side else share)[chosen]
    in_order = np.empty(len(scores))
    in_order[by_query.order] = wrong
    return in_order


def all_mistakes(encoder: str, scores: Floats, pairs: JudgedPairs) -> pl.DataFrame:
    """Every judged pair that stands on the wrong side of most of the other class, the worst first."""
    table = pl.DataFrame(
        {
            "encoder": [encoder] * len(pairs),
            "kind": np.where(pairs.label == 1, MISSED, FALSE_FRIEND).tolist(),
            "query": [pairs.queries[row] for row in pairs.query],
            "candidate": [pairs.gallery[row] for row in pairs.candidate],
            "severity": mistake_severity(scores, pairs),
            "score": scores,
        },
        schema_overrides={"encoder": pl.String, "kind": pl.String, "query": pl.String, "candidate": pl.String},
    ).filter(pl.col("severity").is_not_nan() & (pl.col("severity") > 0.5))
    score_order = pl.when(pl.col("kind") == MISSED).then(pl.col("score")).otherwise(-pl.col("score"))
    worst = table.with_columns(score_order=score_order).sort(
        "severity", "score_order", "query", "candidate", descending=[True, False, False, False]
    )
    return worst.drop("score_order")


def mistake_table(
    measured: Iterable[EncoderScores], pairs: JudgedPairs, per_kind: int = MISTAKES_PER_KIND
) -> pl.DataFrame:
    """The worst `per_kind` missed pairs and false friends of each encoder, at most one of a kind per query."""
    tables = []
    for one in measured:
        worst = all_mistakes(one.encoder, one.scores, pairs)
        worst = worst.unique(["kind", "query"], keep="first", maintain_order=True)
        tables.append(worst.filter(pl.int_range(pl.len()).over("kind") < per_kind))
    return pl.concat(tables)
