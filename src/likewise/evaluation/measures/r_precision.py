"""R_Precision and MAP@R (Musgrave et al., A Metric Learning Reality Check, 2020, sec. 3.1): the first R of a list.

    R_Precision = (1/R) sum of rel(i), i = 1..R
    MAP@R       = (1/R) sum of rel(i) P(i), i = 1..R,   P(i) = (1/i) sum of rel(j), j = 1..i

with R the positives of the query and rel(i) = 1 if the i-th of its judged candidates is a positive; mean over queries
that have one. Where classes judge every pair this is the measure of `likewise.evaluation.retrieval`. Equal scores are
ordered by candidate.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.auc import Ints
from likewise.evaluation.measures.base import PairMeasure
from likewise.evaluation.measures.ranked import POSITIVE, PairScores
from likewise.evaluation.query_sums import Floats, QuerySums, mean_of_ratio


@dataclass(frozen=True, repr=False)
class RPrecision(PairMeasure):
    NAME: ClassVar[str] = "R_Precision"

    def of_pairs(self, pairs: PairScores) -> QuerySums:
        query, _, hit = _first_r(pairs)
        return mean_of_ratio(np.bincount(query, hit, pairs.n_queries), pairs.n_positive)


@dataclass(frozen=True, repr=False)
class MapAtR(PairMeasure):
    NAME: ClassVar[str] = "MAP@R"

    def of_pairs(self, pairs: PairScores) -> QuerySums:
        query, place, hit = _first_r(pairs)
        found = np.bincount(query, hit, pairs.n_queries)
        so_far = np.cumsum(hit) - (np.cumsum(found) - found)[query]
        return mean_of_ratio(np.bincount(query, hit * so_far / (place + 1), pairs.n_queries), pairs.n_positive)


def _first_r(pairs: PairScores) -> tuple[Ints, Ints, Floats]:
    """Query, place (from 0) and hit (1.0 or 0.0) of the first R judged candidates of each query."""
    query = pairs.query[pairs.best_first]
    place = np.arange(len(query)) - (np.cumsum(pairs.n_judged) - pairs.n_judged)[query]
    kept = place < pairs.n_positive[query]
    hit = (pairs.label[pairs.best_first] == POSITIVE).astype(np.float64)
    return query[kept], place[kept], hit[kept]


R_Precision, MAP_at_R = RPrecision(), MapAtR()
