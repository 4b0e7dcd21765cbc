"""HR@k, MRR@k, NDCG@k and judged@k: what stands in the first k of a model's list.

HR@k  = (labelled positives in the top k) / (k x queries that have a positive)
MRR@k = (sum of 1/rank over labelled positives in the top k) / (queries that have a positive x H_k),
        H_k = 1 + 1/2 + ... + 1/k
NDCG@k = DCG / the best possible DCG of a query, DCG = sum of 1/log2(rank + 1) over labelled positives in the top k
judged@k = share of the top k that carries a label at all: how far the two above can be trusted.

Lists are reduced to the best image of each item, without the query's own item. An unlabelled candidate counts as
a miss, so HR and MRR favour the models that fed the pool; that is why they are never printed without judged@k.
"""

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Ints
from likewise.evaluation.query_sums import QuerySums

UNJUDGED = -1


def look_up_labels(
    lists: Ints, pair_query: Ints, pair_candidate: Ints, pair_label: NDArray[np.integer], n_gallery: int
) -> Ints:
    """The label (0, 1, or -1 for unjudged) of every entry of the lists (queries x k, -1 where a list is short)."""
    keys = pair_query * n_gallery + pair_candidate
    order = np.argsort(keys)
    keys, values = keys[order], pair_label[order].astype(np.int64)
    wanted = np.arange(len(lists))[:, None] * n_gallery + lists
    if not len(keys):
        return np.full(lists.shape, UNJUDGED)
    at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where((keys[at] == wanted) & (lists >= 0), values[at], UNJUDGED)


def hit_rate(listed_labels: Ints, k: int, has_positive: NDArray[np.bool_]) -> QuerySums:
    hits = (listed_labels[:, :k] == 1).sum(axis=1)
    return QuerySums(hits.astype(np.float64), k * has_positive.astype(np.float64))


def reciprocal_rank(listed_labels: Ints, k: int, has_positive: NDArray[np.bool_]) -> QuerySums:
    gains = 1.0 / np.arange(1, k + 1)
    found = (listed_labels[:, :k] == 1).astype(np.float64)
    return QuerySums(found @ gains[: found.shape[1]], gains.sum() * has_positive)


def discounted_gain(listed_labels: Ints, k: int, n_positive: Ints) -> QuerySums:
    discount = 1.0 / np.log2(np.arange(2, k + 2))
    found = (listed_labels[:, :k] == 1).astype(np.float64)
    best = np.concatenate([[0.0], np.cumsum(discount)])[np.minimum(n_positive, k)]
    value = np.divide(found @ discount[: found.shape[1]], best, out=np.full(len(best), np.nan), where=best > 0)
    return QuerySums.mean_of(value)


def judged(listed_labels: Ints, lists: Ints, k: int) -> QuerySums:
    present = (lists[:, :k] >= 0).sum(axis=1)
    return QuerySums((listed_labels[:, :k] != UNJUDGED).sum(axis=1).astype(np.float64), present.astype(np.float64))
