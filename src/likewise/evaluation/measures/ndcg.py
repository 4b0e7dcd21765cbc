"""nDCG@k, normalised discounted cumulative gain (Järvelin & Kekäläinen 2002).

    DCG@k  = sum of gain / log2(rank + 1) over the top k
    nDCG@k = DCG@k / the largest DCG@k that the query's labels could reach, mean over queries that have a gain

The gain of a candidate is its grade where labels are graded (as trec_eval has it), otherwise 1 for a positive. An
unlabelled candidate gains nothing.
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
        if results.grades is not None:
            listed, best = results.grades.listed[:, :k], results.grades.best[:, :k]
            return mean_of_ratio(listed @ discount[: listed.shape[1]], best @ discount[: best.shape[1]])
        hits = results.hits(k)
        best = np.concatenate([[0.0], np.cumsum(discount)])[np.minimum(results.n_positive, k)]
        return mean_of_ratio(hits @ discount[: hits.shape[1]], best)


nDCG = NormalisedGain()  # noqa: N816
