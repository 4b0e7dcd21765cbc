"""ROC_AUC: the chance that a positive scores above a negative, over judged pairs; a tie counts one half.

    average="macro"        one value per query that has both classes (Mann-Whitney), then the mean over those queries
    average="micro"        all judged pairs in one list
    negatives="annotated"  the labelled negatives of the pool
    negatives="gallery"    items drawn at random from the whole gallery; every item, positive or negative, scores as its
                           best image does (gallery_negatives.py)
    negatives="sampled"    candidates from ranks 100-499 of the generators' lists (sampled_negatives.py)

The labelled negatives are mistakes of the generators, so the first (VSD, sec. 6.3) punishes these models
and flatters others: compare it only among generators, or among new models. Models are ranked by the second, whose
negatives are nobody's choice. A query with a single class is undefined: left out and counted, never 0. (Hanley & McNeil
1982.)
"""

from dataclasses import dataclass
from typing import ClassVar

from likewise.evaluation.auc import roc_auc
from likewise.evaluation.measures.base import AreaMeasure
from likewise.evaluation.measures.ranked import PairScores
from likewise.evaluation.query_sums import Floats


@dataclass(frozen=True, repr=False)
class RocAuc(AreaMeasure):
    NAME: ClassVar[str] = "ROC_AUC"

    def per_query(self, pairs: PairScores) -> Floats:
        return roc_auc(pairs.by_query)


ROC_AUC = RocAuc()
