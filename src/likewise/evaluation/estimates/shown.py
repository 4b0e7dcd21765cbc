"""Which whole-catalog estimates are shown by default: those that can be had without bias, with intervals that hold.

What is shown must not depend on how the draw turned out: little error is foreseen where no surprise has happened yet,
so estimates picked by their foreseen error are biased, and their intervals hold too seldom. The rule looks at the
design, and at what the labels of all pairs say together:

* a model's first candidates, as many as the longest list that is measured has, must be among the first of the design's
  generators: at most MOST_APART of them may stand in none of their lists of as many candidates as a query has labels.
  Farther pairs are drawn so seldom that one of them stands for very many, the more seldom where rounds look for likely
  pairs;
* nDCG@k and AP, ratios inside queries, need the number of similar pairs: a standard error of drawing of at most
  MOST_UNKNOWN of it is foreseen. Rounds that look for likely pairs leave too few labels to all others;
* Recall@k and ROC-AUC hang on similar items far down the lists, of which few labels tell: they are shown only where
  nearly every pair is labelled.

docs/sampling.md has the simulations.
"""

from dataclasses import dataclass

from likewise.discovery.designs.adaptive import Purpose
from likewise.evaluation.measures import parse_measure
from likewise.evaluation.measures.precision import PrecisionAtK
from likewise.evaluation.measures.recall import RecallAtK
from likewise.evaluation.measures.roc_auc import RocAuc

MOST_APART: dict[Purpose | None, float] = {None: 0.15, "comparing": 0.15, "finding": 0.03}
MOST_UNKNOWN = 0.1
MOST_UNCERTAIN_FAR = 0.001


@dataclass(frozen=True)
class EstimateFacts:
    """What decides whether an estimate is shown.

    `apart`: the share of the model's first candidates that no generator has among its first, as many as a query has
    labels. `count_error`: the foreseen standard error of the number of similar pairs, over that number.
    `foreseen_error`: that of the estimate itself.
    """

    apart: float
    count_error: float
    foreseen_error: float


def shown_by_default(measure: str, facts: EstimateFacts, purpose: Purpose | None) -> bool:
    """`purpose` is what the rounds of an adaptive design were drawn for."""
    parsed = parse_measure(measure)
    if isinstance(parsed, RecallAtK | RocAuc):
        return facts.foreseen_error <= MOST_UNCERTAIN_FAR
    if facts.apart > MOST_APART[purpose]:
        return False
    return isinstance(parsed, PrecisionAtK) or (purpose != "finding" and facts.count_error <= MOST_UNKNOWN)
