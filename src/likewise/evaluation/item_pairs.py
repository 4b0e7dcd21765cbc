"""A query and an item as one pair: the item scores as its best image does, and is similar if one of its images is.

Experts see one image of an item, the one that a generator put first; which one it was says nothing about other models.
So models are compared on items, and a labelled image speaks for its item.
"""

import numpy as np

from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.neighbours import pair_scores
from likewise.neighbours.scores import Floats as Vectors

BLOCK_PAIRS = 2_000_000  # pairs of a query and an image scored in one step


def item_cells(pairs: JudgedPairs) -> Ints:
    """A number for each pair's query and item: equal where two candidates show one item."""
    return pairs.query * (int(pairs.gallery_items.max(initial=0)) + 1) + pairs.gallery_items[pairs.candidate]


def positive_items(pairs: JudgedPairs) -> JudgedPairs:
    """Every query and item labelled similar, once, by the first of its images that is."""
    positives = select_pairs(pairs, pairs.label == 1)
    first = np.zeros(len(positives), dtype=np.bool_)
    first[np.unique(item_cells(positives), return_index=True)[1]] = True
    return select_pairs(positives, first)


def item_scores(queries: Vectors, gallery: Vectors, pairs: JudgedPairs) -> Floats:
    """For each pair the score of the best gallery image of its candidate's item."""
    return best_images(queries, gallery, pairs)[1]


def best_images(queries: Vectors, gallery: Vectors, pairs: JudgedPairs) -> tuple[Ints, Floats]:
    """For each pair the gallery image of its candidate's item that scores best, the first of equal ones; its score."""
    cells, first, inverse = np.unique(item_cells(pairs), return_index=True, return_inverse=True)
    query, item = pairs.query[first], pairs.gallery_items[pairs.candidate[first]]
    by_item = np.argsort(pairs.gallery_items, kind="stable")
    begin, end = (np.searchsorted(pairs.gallery_items[by_item], item, side) for side in ("left", "right"))
    ends = np.cumsum(end - begin)
    image, best = np.empty(len(cells), np.int64), np.empty(len(cells))
    start = 0
    while start < len(cells):
        done = ends[start - 1] if start else 0
        stop = max(start + 1, int(np.searchsorted(ends, done + BLOCK_PAIRS, "right")))
        n_images = (end - begin)[start:stop]
        opening = np.cumsum(n_images) - n_images
        places = np.arange(n_images.sum()) - np.repeat(opening - begin[start:stop], n_images)
        shown = by_item[places]
        scores = pair_scores(queries, gallery, np.repeat(query[start:stop], n_images), shown)
        best[start:stop] = np.maximum.reduceat(scores, opening)
        is_best = scores == np.repeat(best[start:stop], n_images)
        image[start:stop] = np.minimum.reduceat(np.where(is_best, shown, len(by_item)), opening)
        start = stop
    return image[inverse.ravel()], best[inverse.ravel()]
