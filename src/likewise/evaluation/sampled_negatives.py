"""Sampled negatives (VSD, sec. 6.4): candidates from further down the generators' lists, taken to be dissimilar.

For every query, as many as it has positives (times `per_positive`), or a number of its own (`per_query`), are drawn
from a band of the generators' ranks, by default 100-499 (zero-based), never a labelled pair. They replace the
labelled negatives; the positives stay. The paper does not say how many it drew; its PR-AUC does: about four per
query, in Table 5 and in Table 6 alike (docs/vsd_negatives.py).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.key_hashes import key_hashes, mix_hash_bits, smallest_per_row
from likewise.evaluation.pairs import JudgedPairs, against_negatives
from likewise.neighbours import NO_INDEX
from likewise.neighbours.scores import Rows


@dataclass(frozen=True)
class NegativeSampling:
    """Ranks of the generators' lists, zero-based, both included, and how many negatives for each positive, or query."""

    first_rank: int = 100
    last_rank: int = 499
    per_positive: float = 1.0
    per_query: int | None = None  # so many for every query with a positive, whatever `per_positive` says

    def __post_init__(self) -> None:
        if not 0 <= self.first_rank <= self.last_rank:
            raise LikewiseError(
                f"negatives cannot be drawn from ranks {self.first_rank} to {self.last_rank}: "
                "the band goes up, from 0 or more."
            )
        if not 0 < self.per_positive < float("inf"):
            raise LikewiseError(f"there must be more than 0 negatives per positive, not {self.per_positive:g}.")
        if self.per_query is not None and self.per_query < 1:
            raise LikewiseError(f"there must be at least 1 negative per query, not {self.per_query}.")

    @property
    def band(self) -> tuple[int, int]:
        """The first rank, and the first one behind the last."""
        return self.first_rank, self.last_rank + 1

    def __str__(self) -> str:
        band = f"ranks {self.first_rank} to {self.last_rank} (from 0) of the generators' lists"
        if self.per_query is not None:
            return f"{band}, {self.per_query} per query"
        n = "one" if self.per_positive == 1 else f"{self.per_positive:g}"
        return f"{band}, {n} per similar candidate"

    def wanted(self, n_positive: Rows) -> Rows:
        """How many a query needs; at least one where it has a positive."""
        by_positives = np.maximum(1, np.rint(self.per_positive * n_positive))
        each = by_positives if self.per_query is None else self.per_query
        return np.where(n_positive > 0, each, 0).astype(np.int64)


DEFAULT_SAMPLING = NegativeSampling()
VSD_SAMPLING = NegativeSampling(per_query=4)
"""As the VSD paper's tables 5 and 6 must have drawn theirs."""


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
    random_keys = mix_hash_bits(key_hashes(pairs.queries, seed)[:, None] ^ key_hashes(pairs.gallery, seed)[union])
    random_keys[~eligible] = np.iinfo(np.uint64).max
    wanted = np.minimum(sampling.wanted(pairs.n_positive), eligible.sum(axis=1))
    drawn = smallest_per_row(random_keys, int(wanted.max()))
    taken = np.arange(drawn.shape[1])[None, :] < wanted[:, None]
    query, place = np.nonzero(taken)
    candidate = union[query, drawn[query, place]]
    return against_negatives(pairs, query, candidate)


def _exclude_known(eligible: NDArray[np.bool_], cells: Rows, known: Rows) -> None:
    """Mark the known cells (numbers of query and candidate) as not eligible; `cells` is in ascending order."""
    place = np.minimum(np.searchsorted(cells, known), len(cells) - 1)
    eligible[place[cells[place] == known]] = False
