"""Are the generators different enough for their pool to rank models?

What a pool calls similar is what its generators found. One generator, or several of a kind, find what looks alike to
them: they stand first by their own pairs, and models like them follow. So it counts how many different items all
generators together propose for each one that the largest of them proposes alone: 1 where all propose the same, n where
n generators share nothing. Below `FEWEST_DIFFERENT` models are not ranked; docs/generators.md shows how often orders
are right above and below.
"""

import numpy as np
import polars as pl

from likewise.discovery.proposals import NO_GENERATORS
from likewise.evaluation.item_pairs import item_cells
from likewise.evaluation.leave_one_out import proposed_pairs
from likewise.evaluation.pairs import JudgedPairs, select_pairs

FEWEST_DIFFERENT = 2.0


def different_generators(pairs: JudgedPairs, proposals: pl.DataFrame) -> float | None:
    """The number of different generators that a pool is worth; None where nobody knows who proposed its pairs."""
    names = sorted(set(proposals["generator"]) - set(NO_GENERATORS))
    cells = [
        np.unique(item_cells(select_pairs(pairs, proposed_pairs(pairs, proposals.filter(pl.col("generator") == name)))))
        for name in names
    ]
    largest = max(map(len, cells), default=0)
    return len(np.unique(np.concatenate(cells))) / largest if largest else None


def can_rank(n_different: float | None) -> bool:
    """Whether a pool may rank models; yes where nothing is known of its generators."""
    return n_different is None or n_different >= FEWEST_DIFFERENT


def no_rank_note(n_different: float | None) -> str | None:
    """Why models are not ranked, and what to do; None where they are."""
    if n_different is None or can_rank(n_different):
        return None
    return (
        "too few different models proposed the labelled pairs to rank by them: all generators together propose "
        f"{n_different:.1f} times as many items as one alone, and below {FEWEST_DIFFERENT:.0f} the order is often "
        "their own taste; add generators of another kind, or draw pairs with `likewise discover --design sampled`"
    )
