"""The sampled design: every admissible pair may be drawn, the better the generators rank it the likelier.

The weight of a pair is the sum over generators of 1 / (rank + RANK_OFFSET), with ranks joined in bands that double in
width; a pair that no generator ranks above the depth of the lists belongs to the tail, which shares one weight. Because
similar pairs thin out with about the square of the rank, and the best probability follows the square root of their
share, the harmonic weight is close to the best for counting them. Each generator's first candidates are always
drawn, and a share of all labels goes to pairs drawn uniformly, so that no pair stands for very many others.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.discovery.designs.drawing import Floats, Ints, PairWeights, UnlistedPairs
from likewise.neighbours import NO_INDEX

RANK_OFFSET = 3.0
FLOOR_SHARE = 0.1  # of the labels, spread uniformly over all admissible pairs
CERTAIN_RANKS = 1  # of every generator, always drawn
LIST_DEPTH = 512
LEADING_POWER = 4.0
LEADING_FLOOR = 0.3  # of each query's labels, by the weights of the sampled design
CERTAIN_SHARE = 0.5  # of a query's labels, at most, for pairs that are always drawn


@dataclass(frozen=True)
class RankedPairs:
    """Every pair that some generator lists, sorted by query and candidate, with the sum of harmonic weights."""

    query: Ints
    candidate: Ints
    best_rank: Ints
    harmonic: Floats


def band_weight(rank: NDArray[np.integer]) -> Floats:
    """1 / (rank + RANK_OFFSET) at the middle of the rank's band; bands double in width."""
    octave = np.floor(np.log2(rank / RANK_OFFSET + 1.0))
    middle = RANK_OFFSET * (1.5 * 2.0**octave - 1.0)
    return np.asarray(1.0 / (middle + RANK_OFFSET))


def combine_lists(lists: Sequence[NDArray[np.integer]], n_gallery: int) -> RankedPairs:
    """Join the generators' lists (queries x depth, gallery rows, best first, -1 where a list ends)."""
    cells, weights, ranks = [], [], []
    for one in lists:
        query, rank = np.nonzero(one != NO_INDEX)
        cells.append(query * n_gallery + one[query, rank])
        weights.append(band_weight(np.arange(one.shape[1]))[rank])
        ranks.append(rank)
    cell, place = np.unique(np.concatenate(cells), return_inverse=True)
    best = np.full(len(cell), np.iinfo(np.int64).max)
    np.minimum.at(best, place, np.concatenate(ranks))
    n_without = len(lists) - np.bincount(place, minlength=len(cell))
    below = n_without * tail_weight(max(one.shape[1] for one in lists), n_gallery)
    harmonic = np.bincount(place, np.concatenate(weights), len(cell)) + below
    return RankedPairs(cell // n_gallery, cell % n_gallery, best, harmonic)


def tail_weight(depth: int, n_gallery: int) -> float:
    """The mean of 1 / (rank + RANK_OFFSET) over the ranks below a list: what an unlisted pair weighs per generator."""
    if n_gallery <= depth:
        return 1.0 / (n_gallery + RANK_OFFSET)
    return float(np.log((n_gallery + RANK_OFFSET) / (depth + RANK_OFFSET)) / (n_gallery - depth))


def sampled_weights(
    lists: Sequence[NDArray[np.integer]], query_items: Ints, gallery_items: Ints, sizes: Ints
) -> tuple[PairWeights, UnlistedPairs]:
    """The weights of the design and the pairs it does not list.

    First candidates are certain where they take up at most CERTAIN_SHARE of the pairs that a query may have labelled.
    """
    pairs = combine_lists(lists, len(gallery_items))
    unlisted = UnlistedPairs(pairs.query, pairs.candidate, query_items, gallery_items)
    tail_size = unlisted.sizes()
    weight, tail = ranked_weights(pairs, lists, tail_size, len(gallery_items))
    first = pairs.best_rank < CERTAIN_RANKS
    affordable = np.bincount(pairs.query, first, len(query_items)) <= CERTAIN_SHARE * sizes
    weight[first & affordable[pairs.query]] = np.inf
    return PairWeights(pairs.query, pairs.candidate, weight, tail_size, tail), unlisted


def first_round_pair_weights(
    lists: Sequence[NDArray[np.integer]], query_items: Ints, gallery_items: Ints
) -> tuple[PairWeights, UnlistedPairs]:
    """For a first round that looks for similar pairs: most labels go where the generators together rank best.

    The harmonic weights to the power of LEADING_POWER, and a share of LEADING_FLOOR by the sampled design's.
    """
    pairs = combine_lists(lists, len(gallery_items))
    unlisted = UnlistedPairs(pairs.query, pairs.candidate, query_items, gallery_items)
    tail_size, n_queries = unlisted.sizes(), len(query_items)
    base, tail = ranked_weights(pairs, lists, tail_size, len(gallery_items))
    leading = pairs.harmonic**LEADING_POWER
    base_total = np.bincount(pairs.query, base, n_queries) + tail_size * tail
    total = np.bincount(pairs.query, leading, n_queries)
    factor = LEADING_FLOOR / (1.0 - LEADING_FLOOR) * total / base_total
    weight = leading + factor[pairs.query] * base
    return PairWeights(pairs.query, pairs.candidate, weight, tail_size, factor * tail), unlisted


def ranked_weights(
    pairs: RankedPairs, lists: Sequence[NDArray[np.integer]], tail_size: Ints, n_gallery: int
) -> tuple[Floats, Floats]:
    """Harmonic weights of listed pairs and of a pair of each tail, FLOOR_SHARE of each query's spread evenly."""
    n_queries = len(tail_size)
    n_listed = np.bincount(pairs.query, minlength=n_queries)
    tail = np.full(n_queries, len(lists) * tail_weight(max(one.shape[1] for one in lists), n_gallery))
    total = np.bincount(pairs.query, pairs.harmonic, n_queries) + tail_size * tail
    floor = FLOOR_SHARE / (1.0 - FLOOR_SHARE) * total / np.maximum(n_listed + tail_size, 1)
    return pairs.harmonic + floor[pairs.query], tail + floor
