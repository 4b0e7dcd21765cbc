"""A fixed number of pairs per query, drawn with known inclusion probabilities that follow given weights.

Scheme: systematic sampling with unequal probabilities (Madow 1949), independently in every query. Inclusion
probabilities are min(1, c x weight) with c such that they sum to the number wanted; pairs of a query are laid end to
end by falling probability (equal ones in random order), each as long as its probability, and a comb of teeth at
distance 1 with a random offset picks those it hits. It is chosen over conditional Poisson sampling because it meets the
size and the probabilities exactly for any weights, in one pass, and because its teeth spread over the whole list as
strata would. That pairs which lie close together are never drawn together does no harm: variances are taken between
queries, which are drawn independently.

The tail, every admissible pair of a query that is not listed, has one weight and is never written out: the comb says
how many of it are drawn, and that many are picked uniformly.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
WATER_FILLING_STEPS = 200
CERTAIN = 1.0 - 1e-12  # a probability of 1 but for rounding


@dataclass(frozen=True)
class PairWeights:
    """Pairs in play: those listed (sorted by query), and a tail per query of unlisted pairs that share a weight."""

    query: Ints
    candidate: Ints
    weight: Floats
    tail_size: Ints
    tail_weight: Floats

    @property
    def n_queries(self) -> int:
        return len(self.tail_size)


@dataclass(frozen=True)
class Probabilities:
    """Inclusion probability of every listed pair, and of each pair of a query's tail (0 where the tail is empty)."""

    listed: Floats
    tail: Floats


@dataclass(frozen=True)
class DrawnPairs:
    """Pairs drawn, each with its inclusion probability, sorted by query and candidate."""

    query: Ints
    candidate: Ints
    probability: Floats

    def __len__(self) -> int:
        return len(self.query)


def split_evenly(n_pairs: int, available: Ints, rng: np.random.Generator) -> Ints:
    """How many pairs each query gets: equal shares, the remainder by lot, never more than it has."""
    sizes = np.zeros(len(available), dtype=np.int64)
    left = min(n_pairs, int(available.sum()))
    while left:
        open_queries = np.flatnonzero(sizes < available)
        share, rest = divmod(left, len(open_queries))
        sizes[open_queries] += share
        sizes[rng.permutation(open_queries)[:rest]] += 1
        sizes = np.minimum(sizes, available)
        left = min(n_pairs, int(available.sum())) - int(sizes.sum())
    return sizes


def inclusion_probabilities(pairs: PairWeights, sizes: Ints) -> Probabilities:
    """min(1, c x weight), c per query such that they sum to `sizes`; an infinite weight is a pair drawn for certain.

    Refuses a weight that is not positive: then there would be pairs that no label can speak for.
    """
    tail_weight = np.where(pairs.tail_size > 0, pairs.tail_weight, 0.0)
    if not (pairs.weight > 0).all() or not (tail_weight[pairs.tail_size > 0] > 0).all():
        raise LikewiseError(
            "a design needs a floor: every pair must have a chance of being drawn, but some have weight 0 or less."
        )
    available = np.bincount(pairs.query, minlength=pairs.n_queries) + pairs.tail_size
    if (sizes > available).any():
        row = int(np.argmax(sizes > available))
        raise LikewiseError(f"query {row} has {available[row]} pairs, but {sizes[row]} are to be drawn.")
    certain = np.isinf(pairs.weight)
    weight = np.where(certain, 0.0, pairs.weight)
    certain_tail = np.zeros(pairs.n_queries, dtype=np.bool_)
    factor = np.zeros(pairs.n_queries)
    for _ in range(WATER_FILLING_STEPS):
        wanted = sizes - np.bincount(pairs.query, certain, pairs.n_queries) - np.where(certain_tail, pairs.tail_size, 0)
        mass = np.bincount(pairs.query, np.where(certain, 0.0, weight), pairs.n_queries).astype(np.float64)
        mass = mass + np.where(certain_tail, 0.0, pairs.tail_size * tail_weight)
        factor = np.divide(wanted, mass, out=np.zeros(pairs.n_queries), where=mass > 0)
        above = ~certain & (factor[pairs.query] * weight >= CERTAIN)
        above_tail = ~certain_tail & (pairs.tail_size > 0) & (factor * tail_weight >= CERTAIN)
        if not above.any() and not above_tail.any():
            break
        certain |= above
        certain_tail |= above_tail
    listed = np.where(certain, 1.0, factor[pairs.query] * weight)
    return Probabilities(listed, np.where(certain_tail, 1.0, factor * tail_weight))


def draw_pairs(pairs: PairWeights, sizes: Ints, unlisted: "UnlistedPairs", rng: np.random.Generator) -> DrawnPairs:
    """Draw exactly `sizes` pairs of each query; `unlisted` picks pairs of a tail."""
    chances = inclusion_probabilities(pairs, sizes)
    hit, tail_hits = _comb(pairs, chances, sizes, rng)
    tail_query = np.repeat(np.arange(pairs.n_queries), tail_hits)
    tail_candidate = [unlisted.pick(int(row), int(tail_hits[row]), rng) for row in np.flatnonzero(tail_hits)]
    query = np.concatenate([pairs.query[hit], tail_query])
    candidate = np.concatenate([pairs.candidate[hit], *tail_candidate]).astype(np.int64)
    probability = np.concatenate([chances.listed[hit], chances.tail[tail_query]])
    order = np.lexsort((candidate, query))
    return DrawnPairs(query[order], candidate[order], probability[order])


@dataclass(frozen=True)
class UnlistedPairs:
    """The admissible pairs of each query that a design does not list: all of the gallery but its own item."""

    listed_query: Ints
    listed_candidate: Ints
    query_items: Ints
    gallery_items: Ints

    def sizes(self) -> Ints:
        """How many there are for each query."""
        own = np.bincount(self.gallery_items, minlength=int(self.query_items.max()) + 1)[self.query_items]
        listed = np.bincount(self.listed_query, minlength=len(self.query_items))
        return np.asarray(len(self.gallery_items) - own - listed, dtype=np.int64)

    def pick(self, query: int, n_pairs: int, rng: np.random.Generator) -> Ints:
        """So many different ones of a query, all equally likely."""
        first, last = np.searchsorted(self.listed_query, [query, query + 1])
        free = self.gallery_items != self.query_items[query]
        free[self.listed_candidate[first:last]] = False
        return rng.choice(np.flatnonzero(free), n_pairs, replace=False)


def _comb(
    pairs: PairWeights, chances: Probabilities, sizes: Ints, rng: np.random.Generator
) -> tuple[NDArray[np.bool_], Ints]:
    """Which listed pairs are hit, and how many pairs of each tail."""
    certain = chances.listed >= 1.0
    length = np.where(certain, 0.0, chances.listed)
    order = np.lexsort((rng.random(len(length)), -length, pairs.query))
    of_query, offset = pairs.query[order], rng.random(pairs.n_queries)
    mass = np.bincount(pairs.query, length, pairs.n_queries)
    end = np.cumsum(length[order]) - (np.cumsum(mass) - mass)[of_query] + offset[of_query]
    first = np.append(True, of_query[1:] != of_query[:-1])[: len(of_query)]
    last = np.append(of_query[1:] != of_query[:-1], True)[-len(of_query) :] if len(of_query) else first
    whole = (chances.tail == 0.0) | (chances.tail == 1.0)  # then the listed lengths sum to a whole number: no rounding
    exact = last & whole[of_query]
    end[exact] = np.rint(mass)[of_query[exact]] + offset[of_query[exact]]
    start = np.where(first, offset[of_query], np.append(0.0, end[:-1])[: len(end)])
    hit = np.zeros(len(length), dtype=np.bool_)
    hit[order] = np.floor(end) > np.floor(start)
    hit |= certain
    tail_hits = sizes - np.bincount(pairs.query, hit, pairs.n_queries).astype(np.int64)
    return hit, np.clip(tail_hits, 0, pairs.tail_size)
