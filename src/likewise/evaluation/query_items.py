"""Queries that show one item are one observation: intervals and tests leave them out together.

`discover` draws one image of an item, but labels from elsewhere may ask about several. A model that knows an item knows
it from every side, so these queries rise and fall together; counted one by one they would call noise significant.
"""

import numpy as np

from likewise.evaluation.auc import Ints
from likewise.evaluation.measures.ranked import MicroAverage
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import Estimate


def shared_items(query_items: Ints | None) -> Ints | None:
    """Of each query the number of its item, from 0; None where no two queries are known to show one item."""
    if query_items is None:
        return None
    items, number = np.unique(query_items, return_inverse=True)
    return None if len(items) == len(query_items) else np.asarray(number, dtype=np.int64)


def over_items(estimate: Estimate, items: Ints | None) -> Estimate:
    """The same value, over items instead of queries; `items` are those of `shared_items`."""
    if items is None or not isinstance(estimate, QuerySums | MicroAverage):
        return estimate
    return estimate.grouped(items)
