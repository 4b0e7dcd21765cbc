"""Negatives from the gallery: items drawn at random from everything a query could be answered with.

A pool's labelled negatives are its generators' own mistakes, so an area over labelled pairs is lower for
generators than for others. Items of the whole gallery are nobody's choice. For every query `per_query` other
items are drawn uniformly (all of them where there are no more): labelled negatives like any other, but never an item
that is labelled similar. Every item, positive or drawn, scores as its best image does (`item_pairs.py`). A few of the
drawn ones are similar and nobody knows; they lower the value of every model, and are the same for all.

With n items a query's ROC-AUC is known up to sqrt(AUC (1 - AUC) / n), 1.6 points or less for 1,000: under one percent
of the variance between queries that an interval is about.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints, roc_auc, sort_pairs
from likewise.evaluation.item_pairs import item_cells, positive_items
from likewise.evaluation.key_hashes import key_hashes, mix_hash_bits, smallest_per_row
from likewise.evaluation.pairs import JudgedPairs, against_negatives, select_pairs
from likewise.evaluation.query_sums import QuerySums

PER_QUERY = 1000
BLOCK_CELLS = 4_000_000  # queries x items looked at in one step


def draw_gallery_negatives(
    pairs: JudgedPairs, seed: int, per_query: int = PER_QUERY, labelled: JudgedPairs | None = None
) -> JudgedPairs:
    """The items that `pairs` call similar, once each, with items drawn from the gallery as negatives.

    A drawn item is named by its first image of the gallery. `labelled` are all labelled pairs, those that judge no
    model among them: what they call similar is not drawn.
    """
    known = positive_items(labelled or pairs)
    items, first_image = np.unique(pairs.gallery_items, return_index=True)
    query_keys = key_hashes(pairs.queries, seed)
    item_keys = key_hashes([pairs.gallery[row] for row in first_image], seed)
    queries = np.arange(len(pairs.queries))
    step = max(1, BLOCK_CELLS // max(1, len(items)))
    drawn = [np.empty((2, 0), np.int64)]
    for start in range(0, len(queries), step):
        rows = queries[start : start + step]
        eligible = _eligible(known, rows, items)
        keys = np.where(eligible, mix_hash_bits(query_keys[rows, None] ^ item_keys), np.iinfo(np.uint64).max)
        chosen = smallest_per_row(keys, per_query)
        row, place = np.nonzero(np.take_along_axis(eligible, chosen, 1))
        drawn.append(np.stack([rows[row], first_image[chosen[row, place]]]))
    query, candidate = np.concatenate(drawn, axis=1)
    return against_negatives(positive_items(pairs), query, candidate)


def keep_positives(gallery: JudgedPairs, positives: JudgedPairs) -> NDArray[np.bool_]:
    """Which pairs of `gallery` stay where only the items of `positives` are labelled similar: all negatives do."""
    return np.asarray((gallery.label == 0) | np.isin(item_cells(gallery), item_cells(positives)), dtype=np.bool_)


def macro_against_gallery(
    positives: JudgedPairs, positive_scores: Floats, gallery: JudgedPairs, gallery_scores: Floats
) -> QuerySums:
    """ROC-AUC of each query for other positives than those the items of `gallery` were drawn for.

    `positive_scores` are those of the best images. A drawn item that is a positive here is no negative here.
    """
    drawn = gallery.label == 0
    taken, first = np.unique(item_cells(positives), return_index=True)
    kept = ~np.isin(item_cells(select_pairs(gallery, drawn)), taken)
    query = np.concatenate([positives.query[first], gallery.query[drawn][kept]])
    scores = np.concatenate([positive_scores[first], gallery_scores[drawn][kept]])
    label = np.arange(len(query)) < len(first)
    return QuerySums.mean_of(roc_auc(sort_pairs(query, scores, label.astype(np.int8), len(gallery.queries))))


def _eligible(similar: JudgedPairs, rows: Ints, items: Ints) -> NDArray[np.bool_]:
    """Which items may be drawn for these queries (queries x items): none that is similar, or the query's own."""
    block_of = np.full(len(similar.queries), -1)
    block_of[rows] = np.arange(len(rows))
    here = block_of[similar.query] >= 0
    eligible = similar.query_items[rows, None] != items
    eligible[block_of[similar.query[here]], np.searchsorted(items, similar.gallery_items[similar.candidate[here]])] = (
        False
    )
    return np.asarray(eligible, dtype=np.bool_)
