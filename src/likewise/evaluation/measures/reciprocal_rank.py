"""MRR@k and VSD_MRR@k: how early the positives stand.

    MRR@k     = 1 / rank of the first positive, 0 if none is in the top k     (Voorhees, TREC-8, 1999)
    VSD_MRR@k = sum of 1/rank over positives in the top k / H_k,  H_k = 1 + 1/2 + ... + 1/k     (VSD, sec. 6.3)

each the mean over queries that have a positive. The VSD paper writes MRR@k for the second; it counts every positive and
is not the reciprocal rank of other papers and libraries. Where a query has fewer than k positives it stays below 1.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.measures.base import CutoffMeasure
from likewise.evaluation.measures.ranked import RankedResults
from likewise.evaluation.query_sums import QuerySums, mean_of_ratio


@dataclass(frozen=True, repr=False)
class ReciprocalRank(CutoffMeasure):
    NAME: ClassVar[str] = "MRR"

    def estimate(self, results: RankedResults) -> QuerySums:
        hits = results.hits(self.cutoff)
        first = np.where(hits.any(axis=1), 1.0 / (1.0 + hits.argmax(axis=1)), 0.0)
        return mean_of_ratio(first, results.has_positive)


@dataclass(frozen=True, repr=False)
class VsdReciprocalRank(CutoffMeasure):
    NAME: ClassVar[str] = "VSD_MRR"

    def estimate(self, results: RankedResults) -> QuerySums:
        gains = np.asarray(1.0 / np.arange(1, self.cutoff + 1))
        hits = results.hits(self.cutoff)
        return QuerySums(hits @ gains[: hits.shape[1]], gains.sum() * results.has_positive)


MRR, VSD_MRR = ReciprocalRank(), VsdReciprocalRank()
