"""Judged@k: how far the other measures of lists can be trusted.

    Judged@k = candidates in the top k that carry a label / candidates in the top k

over all queries together, those without a positive among them.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from likewise.evaluation.measures.base import CutoffMeasure
from likewise.evaluation.measures.ranked import PADDING, UNJUDGED, RankedResults
from likewise.evaluation.query_sums import QuerySums


@dataclass(frozen=True, repr=False)
class JudgedAtK(CutoffMeasure):
    NAME: ClassVar[str] = "Judged"

    def estimate(self, results: RankedResults) -> QuerySums:
        listed = results.listed[:, : self.cutoff]
        present, judged = (listed != PADDING), (listed > UNJUDGED)
        return QuerySums(judged.sum(axis=1).astype(np.float64), present.sum(axis=1).astype(np.float64))


Judged = JudgedAtK()
