"""Negatives from the gallery: candidates drawn at random from everything a query could be answered with.

A pool's labelled negatives are its generators' own mistakes, so an area over labelled pairs is lower for the models
that fed the pool than for others. Candidates of the whole gallery are nobody's choice. For every query `per_query`
images of other items are drawn uniformly (all of them where there are no more): labelled negatives like any other, but
never an image of an item that is labelled similar. A few of them are similar and nobody knows; they lower the value of
every model, and are the same for all.

With n candidates a query's ROC-AUC is known up to sqrt(AUC (1 - AUC) / n), 1.6 points or less for 1,000: under one
percent of the variance between queries that an interval is about.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints, roc_auc, sort_pairs
from likewise.evaluation.key_hashes import key_hashes, mix, smallest_per_row
from likewise.evaluation.pairs import JudgedPairs, against_negatives, select_pairs
from likewise.evaluation.query_sums import QuerySums

PER_QUERY = 1000
BLOCK_CELLS = 4_000_000  # queries x gallery looked at in one step


def draw_gallery_negatives(
    pairs: JudgedPairs, seed: int, per_query: int = PER_QUERY, labelled: JudgedPairs | None = None
) -> JudgedPairs:
    """The positives of `pairs` with candidates drawn from the gallery as negatives.

    `labelled` are all labelled pairs, those that judge no model among them: what they call similar is not drawn.
    """
    known = labelled or pairs
    query_keys, gallery_keys = key_hashes(pairs.queries, seed), key_hashes(pairs.gallery, seed)
    queries = np.arange(len(pairs.queries))
    step = max(1, BLOCK_CELLS // max(1, len(pairs.gallery)))
    drawn = [np.empty((2, 0), np.int64)]
    for start in range(0, len(queries), step):
        rows = queries[start : start + step]
        eligible = _eligible(known, rows)
        keys = np.where(eligible, mix(query_keys[rows, None] ^ gallery_keys), np.iinfo(np.uint64).max)
        chosen = smallest_per_row(keys, per_query)
        row, place = np.nonzero(np.take_along_axis(eligible, chosen, 1))
        drawn.append(np.stack([rows[row], chosen[row, place]]))
    query, candidate = np.concatenate(drawn, axis=1)
    return against_negatives(pairs, query, candidate)


def macro_against_gallery(
    positives: JudgedPairs, positive_scores: Floats, gallery: JudgedPairs, gallery_scores: Floats
) -> QuerySums:
    """ROC-AUC of each query for other positives than those the candidates of `gallery` were drawn for.

    A drawn candidate of an item that is a positive here is no negative here.
    """
    drawn = gallery.label == 0
    n_items = int(gallery.gallery_items.max()) + 1
    items, taken = (
        pairs.query * n_items + pairs.gallery_items[pairs.candidate]
        for pairs in (select_pairs(gallery, drawn), positives)
    )
    kept = ~np.isin(items, taken)
    query = np.concatenate([positives.query, gallery.query[drawn][kept]])
    scores = np.concatenate([positive_scores, gallery_scores[drawn][kept]])
    label = np.arange(len(query)) < len(positives)
    return QuerySums.mean_of(roc_auc(sort_pairs(query, scores, label.astype(np.int8), len(gallery.queries))))


def _eligible(known: JudgedPairs, rows: Ints) -> NDArray[np.bool_]:
    """Which gallery images may be drawn for these queries (queries x gallery)."""
    block_of = np.full(len(known.queries), -1)
    block_of[rows] = np.arange(len(rows))
    here = block_of[known.query] >= 0
    row, candidate, positive = block_of[known.query[here]], known.candidate[here], known.label[here] == 1
    similar = np.zeros((len(rows), int(known.gallery_items.max()) + 1), dtype=np.bool_)
    similar[row[positive], known.gallery_items[candidate[positive]]] = True
    eligible = ~similar[:, known.gallery_items]
    eligible[row[~positive], candidate[~positive]] = True
    return np.asarray(eligible & (known.query_items[rows, None] != known.gallery_items), dtype=np.bool_)
