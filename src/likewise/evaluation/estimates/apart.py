"""How far a model's first candidates are from those of the generators, whose ranks a design follows: see `shown.py`.

A candidate is apart if it stands in no generator's list of as many as a query has labels. Where the generators' vectors
are not all at hand, as in a benchmark bundle, the drawn pairs tell: each knows its best rank, and how many pairs it
stands for. That is less certain, but hangs on pairs that are drawn often, and so hardly on how the draw turned out.
"""

from collections.abc import Sequence

import numpy as np

from likewise.evaluation.estimates.blocks import RankedBlock
from likewise.evaluation.estimates.chances import Floats, Ints
from likewise.evaluation.estimates.draw import LabelledDraw


def n_apart(block: RankedBlock, drawn: LabelledDraw, rows: Ints, generators: Sequence[int] | None, k: int) -> Floats:
    """Of every encoder, how many of its first k candidates of a block of queries are apart.

    `generators` are places of encoders; without these and without ranks of the drawn pairs nothing is apart.
    """
    depth = len(drawn.query) / drawn.n_queries
    if generators:
        best = block.rank[list(generators)].min(axis=0)
        return np.asarray(((block.rank < k) & (best >= depth)[None]).sum(axis=(1, 2)), dtype=np.float64)
    if drawn.best_rank is None:
        return np.zeros(len(block.rank))
    mine = slice(*np.searchsorted(drawn.query, [rows[0], rows[-1] + 1]))
    near = np.where(drawn.best_rank[mine] < depth, drawn.weight[mine], 0.0)
    first = block.rank[:, drawn.query[mine] - rows[0], drawn.unit[mine]] < k
    return np.asarray(k * len(rows) - first @ near, dtype=np.float64)
