"""P@k, precision: the share of positives among the first k candidates.

    P@k = positives in the top k / k, mean over queries that have a positive

An unlabelled candidate counts as a miss, so P@k favours generators: read Judged@k beside it. This is what
VSD (sec. 6.3) calls HR@k. Cited in every text book; van Rijsbergen, Information Retrieval, 1979, ch. 7.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.measures.base import CutoffMeasure
from likewise.evaluation.measures.ranked import RankedResults
from likewise.evaluation.query_sums import QuerySums


@dataclass(frozen=True, repr=False)
class PrecisionAtK(CutoffMeasure):
    NAME: ClassVar[str] = "P"

    def estimate(self, results: RankedResults) -> QuerySums:
        k = self.cutoff
        return QuerySums(results.hits(k).sum(axis=1), k * results.has_positive.astype(np.float64))


P = PrecisionAtK()
