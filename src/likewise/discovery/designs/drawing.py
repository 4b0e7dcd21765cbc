"""A fixed number of pairs, per query or in all, drawn with known inclusion probabilities that follow given weights.

Scheme: systematic sampling with unequal probabilities (Madow 1949), in every query by a comb of its own. Inclusion
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
ROUNDING = 1e-7  # of a sum of probabilities that is a whole number


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
    available = np.bincount(pairs.query, minlength=pairs.n_queries) + pairs.tail_size
    if (sizes > available).any():
        row = int(np.argmax(sizes > available))
        raise LikewiseError(f"query {row} has {available[row]} pairs, but {sizes[row]} are to be drawn.")
    return _fill(pairs, np.arange(pairs.n_queries), sizes)


def joint_probabilities(pairs: PairWeights, n_pairs: int) -> Probabilities:
    """The same with one c for all queries: a query gets as many pairs as its weights ask for."""
    available = len(pairs.query) + int(pairs.tail_size.sum())
    if n_pairs > available:
        raise LikewiseError(f"there are {available} pairs left, but {n_pairs} are to be drawn.")
    return _fill(pairs, np.zeros(pairs.n_queries, dtype=np.int64), np.array([n_pairs]))


def _fill(pairs: PairWeights, group_of_query: Ints, sizes: Ints) -> Probabilities:
    """Probabilities that sum to the size of each group of queries; a tail counts as often as it has pairs."""
    tail_weight = np.where(pairs.tail_size > 0, pairs.tail_weight, 1.0)
    weight, count = np.append(pairs.weight, tail_weight), np.append(np.ones(len(pairs.query)), pairs.tail_size)
    if not (weight > 0).all():
        raise LikewiseError(
            "a design needs a floor: every pair must have a chance of being drawn, but some have weight 0 or less."
        )
    group, n_groups = group_of_query[np.append(pairs.query, np.arange(pairs.n_queries))], len(sizes)
    certain = np.isinf(weight)
    weight = np.where(certain, 0.0, weight)
    factor = np.zeros(n_groups)
    for _ in range(WATER_FILLING_STEPS):
        wanted = sizes - np.bincount(group, np.where(certain, count, 0.0), n_groups)
        mass = np.bincount(group, np.where(certain, 0.0, weight * count), n_groups)
        factor = np.divide(wanted, mass, out=np.zeros(n_groups), where=mass > 0)
        above = ~certain & (count > 0) & (factor[group] * weight >= CERTAIN)
        if not above.any():
            break
        certain |= above
    chance = np.where(certain, 1.0, factor[group] * weight)
    listed, tail = np.split(chance, [len(pairs.query)])
    return Probabilities(listed, np.where(pairs.tail_size > 0, tail, 0.0))


def draw_pairs(
    pairs: PairWeights, chances: Probabilities, unlisted: "UnlistedPairs", rng: np.random.Generator
) -> DrawnPairs:
    """Draw as many pairs as the probabilities sum to, in all and (to the next whole number) of each query.

    `unlisted` picks pairs of a tail.
    """
    hit, tail_hits = _comb(pairs, chances, rng)
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


def _comb(pairs: PairWeights, chances: Probabilities, rng: np.random.Generator) -> tuple[NDArray[np.bool_], Ints]:
    """Which listed pairs are hit, and how many pairs of each tail."""
    certain = chances.listed >= 1.0
    length = np.where(certain, 0.0, chances.listed)
    order = np.lexsort((rng.random(len(length)), -length, pairs.query))
    mass = np.bincount(pairs.query, length, pairs.n_queries)
    sizes, offset = _teeth(mass + pairs.tail_size * chances.tail, rng)
    of_query = pairs.query[order]
    end = np.cumsum(length[order]) - (np.cumsum(mass) - mass)[of_query] + offset[of_query]
    first = np.append(True, of_query[1:] != of_query[:-1])[: len(of_query)]
    last = np.append(of_query[1:] != of_query[:-1], True)[-len(of_query) :] if len(of_query) else first
    whole = (chances.tail == 0.0) | (chances.tail == 1.0)  # then the number of hits is known: no rounding
    exact = last & whole[of_query]
    hits = (sizes - np.where(chances.tail == 1.0, pairs.tail_size, 0)).astype(np.float64)
    end[exact] = np.clip(end[exact], hits[of_query[exact]], hits[of_query[exact]] + CERTAIN)
    start = np.where(first, offset[of_query], np.append(0.0, end[:-1])[: len(end)])
    hit = np.zeros(len(length), dtype=np.bool_)
    hit[order] = np.floor(end) > np.floor(start)
    tail_hits = sizes - np.bincount(pairs.query, hit, pairs.n_queries).astype(np.int64)
    return hit | certain, np.clip(tail_hits, 0, pairs.tail_size)


def _teeth(mass: Floats, rng: np.random.Generator) -> tuple[Ints, Floats]:
    """How many teeth each query's comb has, and its offset: uniform for every query, and such that the sum is fixed.

    A query whose probabilities sum to 2.3 gets 3 pairs in three of ten draws. Which queries are rounded up is a
    systematic draw of its own, and the offset is then one of those that give this number.
    """
    below = np.floor(mass + ROUNDING)
    part = np.clip(mass - below, 0.0, 1.0)
    part[part < ROUNDING] = 0.0
    order = rng.permutation(len(mass))
    end = np.cumsum(part[order])
    end[-1:] = np.rint(end[-1:])
    comb = np.floor(np.append(0.0, end) + rng.random())
    up = np.zeros(len(mass), dtype=np.bool_)
    up[order] = np.diff(comb) > 0
    share = rng.random(len(mass))
    offset = np.where(up, 1.0 - part + part * share, (1.0 - part) * share)
    return (below + up).astype(np.int64), offset
