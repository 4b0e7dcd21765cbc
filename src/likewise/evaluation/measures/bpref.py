"""bpref (Buckley & Voorhees 2004): how judged pairs are ordered, whatever else stands between them.

    bpref = 1/R sum over positives of 1 - min(negatives above it, R) / min(R, N)

with R positives and N negatives of a query, mean over queries that have a positive; a query without negatives scores 1,
as in trec_eval. Equal scores are ordered by candidate, as everywhere in lists.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.measures.base import PairMeasure
from likewise.evaluation.measures.ranked import POSITIVE, PairScores
from likewise.evaluation.query_sums import QuerySums


@dataclass(frozen=True, repr=False)
class BinaryPreference(PairMeasure):
    NAME: ClassVar[str] = "bpref"

    def of_pairs(self, pairs: PairScores) -> QuerySums:
        order = pairs.best_first
        query, positive = pairs.query[order], pairs.label[order] == POSITIVE
        n_positive = pairs.n_positive.astype(np.float64)
        n_negative = pairs.n_judged - n_positive
        before_query = np.concatenate([[0.0], np.cumsum(n_negative)])[query]
        above = np.cumsum(~positive) - before_query
        with np.errstate(invalid="ignore", divide="ignore"):
            lost = np.minimum(above, n_positive[query]) / np.minimum(n_positive, n_negative)[query]
            gain = np.where(above > 0, 1.0 - lost, 1.0)
            value = np.bincount(query[positive], gain[positive], pairs.n_queries) / n_positive
        return QuerySums.mean_of(value)


bpref = BinaryPreference()
