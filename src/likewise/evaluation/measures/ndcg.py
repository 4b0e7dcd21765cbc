"""nDCG@k, normalised discounted cumulative gain (Järvelin & Kekäläinen 2002), with labels 0 and 1.

    DCG@k  = sum of 1 / log2(rank + 1) over positives in the top k
    nDCG@k = DCG@k / the largest DCG@k that the query's positives could reach, mean over queries that have a positive

An unlabelled candidate counts as a miss.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.measures.base import CutoffMeasure
from likewise.evaluation.measures.ranked import RankedResults
from likewise.evaluation.query_sums import QuerySums, mean_of_ratio


@dataclass(frozen=True, repr=False)
class NormalisedGain(CutoffMeasure):
    NAME: ClassVar[str] = "nDCG"

    def estimate(self, results: RankedResults) -> QuerySums:
        k = self.cutoff
        discount = 1.0 / np.log2(np.arange(2, k + 2))
        hits = results.hits(k)
        best = np.concatenate([[0.0], np.cumsum(discount)])[np.minimum(results.n_positive, k)]
        return mean_of_ratio(hits @ discount[: hits.shape[1]], best)


nDCG = NormalisedGain()  # noqa: N816
