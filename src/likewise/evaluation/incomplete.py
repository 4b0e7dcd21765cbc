"""Incomplete labels: what the missing ones could change, and which to get next.

bpref asks only how judged pairs are ordered. The bounds recompute a model's gallery ROC-AUC with its own unlabelled top
candidates taken as all negative (as now: they may be drawn from the gallery) or all positive.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.discovery import EncoderScores
from likewise.evaluation.gallery_negatives import macro_against_gallery
from likewise.evaluation.measures.ranked import UNJUDGED, look_up_labels
from likewise.evaluation.pairs import JudgedPairs

SIGNIFICANT_WEIGHT = 0.1  # how much a significant pair of models counts in the list of next pairs


def auc_bounds(
    one: EncoderScores, scores_of_lists: Floats, pairs: JudgedPairs, gallery: JudgedPairs, k: int
) -> tuple[float, float, int]:
    """Gallery ROC-AUC if the model's unlabelled top k were all negative, all positive; and how many they are."""
    assert one.gallery_scores is not None and one.item_scores is not None
    listed = look_up_labels(one.lists, pairs.query, pairs.candidate, pairs.label, len(pairs.gallery))[:, :k]
    query, place = np.nonzero(listed == UNJUDGED)
    positive = pairs.label == 1
    values = []
    for added in (slice(0), slice(None)):
        found = replace(
            pairs,
            query=np.concatenate([pairs.query[positive], query[added]]),
            candidate=np.concatenate([pairs.candidate[positive], one.lists[query, place][added]]),
            label=np.ones(int(positive.sum()) + len(query[added]), np.int8),
        )
        scores = np.concatenate([one.item_scores[positive], scores_of_lists[query, place][added]])
        values.append(macro_against_gallery(found, scores, gallery, one.gallery_scores).value())
    return min(values), max(values), len(query)


def unlabelled_candidates(measured: Sequence[EncoderScores], pairs: JudgedPairs, k: int) -> tuple[Ints, Ints]:
    """(query, candidate) rows that some model lists among its first k and nobody has judged."""
    width = len(pairs.gallery)
    seen = []
    for one in measured:
        listed = look_up_labels(one.lists, pairs.query, pairs.candidate, pairs.label, width)[:, :k]
        query, place = np.nonzero(listed == UNJUDGED)
        seen.append(query * width + one.lists[query, place])
    cells = np.unique(np.concatenate(seen)) if seen else np.empty(0, np.int64)
    return cells // width, cells % width


def next_pairs(
    pairs: JudgedPairs,
    query: Ints,
    candidate: Ints,
    scores: Mapping[str, Floats],
    judged_scores: Mapping[str, Floats],
    significant: Mapping[tuple[str, str], bool],
    n_pairs: int,
) -> pl.DataFrame:
    """The unlabelled pairs whose labels would move the models' order most, best first.

    A label moves a model's AUC of the query by where the candidate stands among the judged ones. Models that place it
    differently move apart; pairs of models without a significant difference count most, and queries with few labels
    more than others.
    """
    relative_ranks = {name: _relative_ranks(pairs, query, scores[name], judged_scores[name]) for name in scores}
    priority = np.zeros(len(query))
    for (a, b), differs in significant.items():
        weight = SIGNIFICANT_WEIGHT if differs else 1.0
        priority += weight * np.abs(relative_ranks[a] - relative_ranks[b])
    n_judged = np.bincount(pairs.query, minlength=len(pairs.queries))
    priority /= 1.0 + n_judged[query]
    best = np.lexsort((candidate, query, -priority))[:n_pairs]
    return pl.DataFrame(
        {
            "query": [pairs.queries[row] for row in query[best]],
            "candidate": [pairs.gallery[row] for row in candidate[best]],
            "priority": priority[best],
        },
        schema={"query": pl.String, "candidate": pl.String, "priority": pl.Float64},
    )


def open_pairs(pool: pl.DataFrame, labels: pl.DataFrame, n_pairs: int, seed: int) -> pl.DataFrame:
    """The next pairs of a design that draws: those drawn and not labelled, in an order that gives nothing away."""
    pair = ["query", "candidate"]
    waiting = pool.select(*pair, "probability", "round").unique(pair).join(labels.select(pair), on=pair, how="anti")
    waiting = waiting.sort("round", *pair)
    order = np.random.default_rng(seed).random(len(waiting))
    return waiting.with_columns(order=order).sort("round", "order").drop("order").head(n_pairs)


def _relative_ranks(pairs: JudgedPairs, query: Ints, scores: Floats, judged_scores: Floats) -> Floats:
    """For each unlabelled pair the share of its query's judged pairs that score below it (ties one half)."""
    order = np.lexsort((judged_scores, pairs.query))
    sorted_scores, sorted_query = judged_scores[order], pairs.query[order]
    start = np.searchsorted(sorted_query, np.arange(len(pairs.queries) + 1))
    share = np.full(len(query), 0.5)
    for row in np.unique(query):
        here = sorted_scores[start[row] : start[row + 1]]
        if len(here):
            mine = query == row
            left, right = np.searchsorted(here, scores[mine], "left"), np.searchsorted(here, scores[mine], "right")
            share[mine] = (left + right) / (2.0 * len(here))
    return share
