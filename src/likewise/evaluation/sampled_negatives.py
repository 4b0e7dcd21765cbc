"""Sampled negatives (VSD, sec. 6.4): candidates from further down the generators' lists, taken to be dissimilar.

For every query, as many as it has positives (times `per_positive`) are drawn from a band of the generators' ranks, by
default 100-499 (zero-based), never a labelled pair. They replace the labelled negatives; the positives stay.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.pairs import JudgedPairs
from likewise.neighbours import NO_INDEX, pair_scores
from likewise.neighbours.scores import Floats, Rows, Scores

FNV_START, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


@dataclass(frozen=True)
class NegativeSampling:
    """Ranks of the generators' lists, zero-based, both included, and how many negatives for each positive."""

    first_rank: int = 100
    last_rank: int = 499
    per_positive: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.first_rank <= self.last_rank:
            raise LikewiseError(
                f"negatives cannot be drawn from ranks {self.first_rank} to {self.last_rank}: "
                "the band goes up, from 0 or more."
            )
        if not 0 < self.per_positive < float("inf"):
            raise LikewiseError(f"there must be more than 0 negatives per positive, not {self.per_positive:g}.")

    @property
    def band(self) -> tuple[int, int]:
        """The first rank, and the first one behind the last."""
        return self.first_rank, self.last_rank + 1

    def __str__(self) -> str:
        n = "one" if self.per_positive == 1 else f"{self.per_positive:g}"
        return (
            f"ranks {self.first_rank} to {self.last_rank} (from 0) of the generators' lists, {n} per similar candidate"
        )

    def wanted(self, n_positive: Rows) -> Rows:
        """How many a query needs; at least one where it has a positive."""
        return np.where(n_positive > 0, np.maximum(1, np.rint(self.per_positive * n_positive)), 0).astype(np.int64)


DEFAULT_SAMPLING = NegativeSampling()


def sample_negatives(
    pairs: JudgedPairs,
    bands: Iterable[Rows],
    seed: int,
    sampling: NegativeSampling = DEFAULT_SAMPLING,
    labelled: JudgedPairs | None = None,
) -> JudgedPairs | None:
    """The positives of `pairs` with sampled negatives; None when no list reaches to the band (a small gallery).

    `bands` holds, for each generator, the gallery rows of the band for every query (-1 where there is none).
    `labelled` are all labelled pairs, those that judge no model among them: none of them is drawn.
    """
    known = labelled or pairs
    union = np.sort(np.concatenate(list(bands), axis=1), axis=1)
    eligible = union != NO_INDEX
    if not eligible.any():
        return None
    eligible[:, 1:] &= union[:, 1:] != union[:, :-1]  # proposed by two generators
    width = len(pairs.gallery)
    cells = np.arange(len(pairs.queries))[:, None] * width + union
    _exclude_known(eligible.reshape(-1), cells.reshape(-1), known.query * width + known.candidate)
    random_keys = _mix(_hashes(pairs.queries, seed)[:, None] ^ _hashes(pairs.gallery, seed)[union])
    random_keys[~eligible] = np.iinfo(np.uint64).max
    wanted = np.minimum(sampling.wanted(pairs.n_positive), eligible.sum(axis=1))
    drawn = _smallest_per_row(random_keys, int(wanted.max()))
    taken = np.arange(drawn.shape[1])[None, :] < wanted[:, None]
    query, place = np.nonzero(taken)
    candidate = union[query, drawn[query, place]]
    positives = pairs.label == 1
    return replace(
        pairs,
        query=np.concatenate([pairs.query[positives], query]),
        candidate=np.concatenate([pairs.candidate[positives], candidate]),
        label=np.concatenate([np.ones(int(positives.sum()), np.int8), np.zeros(len(query), np.int8)]),
    )


def sampled_scores(
    scores: Scores, pairs: JudgedPairs, sampled: JudgedPairs, queries: Floats, gallery: Floats
) -> Scores:
    """Scores of the `sampled` pairs, where those of `pairs` are known: the positives come first, and have theirs."""
    known = scores[pairs.label == 1]
    drawn = slice(len(known), None)
    return np.concatenate([known, pair_scores(queries, gallery, sampled.query[drawn], sampled.candidate[drawn])])


def _exclude_known(eligible: NDArray[np.bool_], cells: Rows, known: Rows) -> None:
    """Mark the known cells (numbers of query and candidate) as not eligible; `cells` is in ascending order."""
    place = np.minimum(np.searchsorted(cells, known), len(cells) - 1)
    eligible[place[cells[place] == known]] = False


def _smallest_per_row(random_keys: NDArray[np.uint64], n: int) -> Rows:
    """Places of the n smallest lots of each row, smallest first."""
    if n < random_keys.shape[1]:
        nearest = np.sort(np.argpartition(random_keys, n, axis=1)[:, :n], axis=1)
    else:
        nearest = np.broadcast_to(np.arange(random_keys.shape[1]), random_keys.shape)
    order = np.argsort(np.take_along_axis(random_keys, nearest, 1), axis=1, kind="stable")
    return np.take_along_axis(nearest, order, 1)


def _hashes(keys: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """A number per key: a draw depends on the seed and the two images alone, never on the other queries.

    FNV-1a over the bytes of all keys at once (column by column; a shorter key stops where it ends), then mixed.
    """
    if not keys:
        return np.empty(0, dtype=np.uint64)
    letters = np.frombuffer("\0".join([*keys, ""]).encode(), dtype=np.uint8)
    ends = np.flatnonzero(letters == 0)  # no key holds this letter
    starts = np.concatenate([[0], ends[:-1] + 1])
    length = ends - starts
    order = np.argsort(-length, kind="stable")
    starts, longest_first = starts[order], -length[order]
    numbers = np.full(len(keys), _mix(np.array([seed], dtype=np.int64).view(np.uint64) ^ FNV_START)[0])
    for place in range(int(length.max())):
        still = int(np.searchsorted(longest_first, -place))  # keys longer than `place`
        numbers[:still] = (numbers[:still] ^ letters[starts[:still] + place]) * FNV_PRIME
    hashed = np.empty_like(numbers)
    hashed[order] = _mix(numbers)
    return hashed


def _mix(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: spreads sums of hashes evenly again."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))
