"""Sampled negatives (VSD, sec. 6.4): candidates from further down the generators' lists, taken to be dissimilar.

For every query, as many as it has positives (or `per_query`) are drawn from the union of the generators' ranks
100-499 (zero-based), never a labelled pair. They replace the labelled negatives; the positives stay.
"""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from likewise.evaluation.pairs import JudgedPairs
from likewise.search import NOBODY
from likewise.search.scores import Rows

BAND = (100, 500)


def with_sampled_negatives(
    pairs: JudgedPairs, bands: Iterable[Rows], seed: int, per_query: int | None = None
) -> JudgedPairs | None:
    """The positives of `pairs` with sampled negatives; None when no list reaches to the band (a small gallery).

    `bands` holds, for each generator, the gallery rows of the band for every query (-1 where there is none).
    """
    together = np.concatenate(list(bands), axis=1)
    if (together == NOBODY).all():
        return None
    labelled = _by_query(pairs)
    positives = pairs.label == 1
    n_positive = pairs.n_positive
    query: list[np.ndarray[tuple[int], np.dtype[np.int64]]] = [pairs.query[positives]]
    candidate = [pairs.candidate[positives]]
    for row in range(len(pairs.queries)):
        wanted = n_positive[row] if per_query is None else per_query
        if not n_positive[row]:
            continue
        eligible = np.setdiff1d(together[row], np.append(labelled[row], NOBODY))
        rng = np.random.default_rng([seed, *pairs.queries[row].encode()])  # by key: other queries have no say
        drawn = rng.choice(eligible, size=min(wanted, len(eligible)), replace=False)
        query.append(np.full(len(drawn), row, dtype=np.int64))
        candidate.append(np.sort(drawn))
    n_sampled = sum(len(part) for part in query[1:])
    label = np.concatenate([np.ones(int(positives.sum()), np.int8), np.zeros(n_sampled, np.int8)])
    return replace(pairs, query=np.concatenate(query), candidate=np.concatenate(candidate), label=label)


def _by_query(pairs: JudgedPairs) -> list[Rows]:
    """The labelled candidates of every query."""
    order = np.argsort(pairs.query, kind="stable")
    ends = np.searchsorted(pairs.query[order], np.arange(1, len(pairs.queries)))
    return np.split(pairs.candidate[order], ends)
