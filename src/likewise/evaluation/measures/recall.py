"""Recall@k, Recall_cap@k and Success@k: how much of what there is to find is among the first k candidates.

    Recall@k     = positives in the top k / R
    Recall_cap@k = positives in the top k / min(k, R)      (capped recall; Thakur et al., BEIR, 2021)
    Success@k    = 1 if any of the top k is a positive     (metric-learning papers call this Recall@k, others CMC@k)

with R the positives of the query; each the mean over queries with R > 0. VSD's HR@k of identification (Table 4) is read
as Recall_cap@k: its normaliser is not published, and k alone is ruled out by the numbers.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.measures.base import CutoffMeasure
from likewise.evaluation.measures.ranked import RankedResults
from likewise.evaluation.query_sums import QuerySums, mean_of_ratio


@dataclass(frozen=True, repr=False)
class RecallAtK(CutoffMeasure):
    NAME: ClassVar[str] = "Recall"

    def estimate(self, results: RankedResults) -> QuerySums:
        return mean_of_ratio(results.hits(self.cutoff).sum(axis=1), results.n_positive)


@dataclass(frozen=True, repr=False)
class CappedRecallAtK(CutoffMeasure):
    NAME: ClassVar[str] = "Recall_cap"

    def estimate(self, results: RankedResults) -> QuerySums:
        k = self.cutoff
        return mean_of_ratio(results.hits(k).sum(axis=1), np.minimum(k, results.n_positive))


@dataclass(frozen=True, repr=False)
class SuccessAtK(CutoffMeasure):
    NAME: ClassVar[str] = "Success"

    def estimate(self, results: RankedResults) -> QuerySums:
        return mean_of_ratio(results.hits(self.cutoff).max(axis=1, initial=0.0), results.has_positive)


Recall, Recall_cap, Success = RecallAtK(), CappedRecallAtK(), SuccessAtK()
