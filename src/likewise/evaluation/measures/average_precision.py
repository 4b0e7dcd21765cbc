"""AP, average precision (PR-AUC), over judged pairs.

    AP = sum over distinct scores, from high to low, of (recall gained there) x (precision there)

Candidates of equal score are one step, as in scikit-learn; `average` and `negatives` as in ROC_AUC. Unlabelled
candidates do not enter; a query with a single class is undefined. (Buckley & Voorhees 2000; VSD calls it PR-AUC.)
"""

from dataclasses import dataclass
from typing import ClassVar

from likewise.evaluation.auc import average_precision
from likewise.evaluation.measures.base import AreaMeasure
from likewise.evaluation.measures.ranked import PairScores
from likewise.evaluation.query_sums import Floats


@dataclass(frozen=True, repr=False)
class AveragePrecision(AreaMeasure):
    NAME: ClassVar[str] = "AP"

    def per_query(self, pairs: PairScores) -> Floats:
        return average_precision(pairs.by_query)


AP = AveragePrecision()
