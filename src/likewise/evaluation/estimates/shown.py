"""Which whole-catalog estimates are shown by default: those that can be had without bias, with intervals that hold.

P@k is linear in the labels and unbiased under every design. The other measures are ratios inside queries. Labels drawn
for finding leave so few to the pairs that nobody expects to be similar that one of these can turn such a ratio: values
are then off by several points (docs/sampling.md). Under any design a value is left out where the predicted chances
foresee a large standard error from drawing: above MOST_UNCERTAIN; and above MOST_UNCERTAIN_FAR where a measure hangs on
similar items far down the lists, of which few labels tell. Between the two, simulated intervals of Recall@k and ROC-AUC
hold too seldom on one catalog and too often on another; and where little error is foreseen, they hold least, because it
is foreseen where no surprise has happened yet. So these are shown only where nearly every pair is labelled.
"""

from likewise.discovery.designs.adaptive import Purpose
from likewise.evaluation.estimates.linearised import CatalogEstimate
from likewise.evaluation.measures import parse_measure
from likewise.evaluation.measures.precision import PrecisionAtK
from likewise.evaluation.measures.recall import RecallAtK
from likewise.evaluation.measures.roc_auc import RocAuc

MOST_UNCERTAIN = 0.075
MOST_UNCERTAIN_FAR = 0.001


def shown_by_default(measure: str, estimate: CatalogEstimate, purpose: Purpose | None) -> bool:
    """`purpose` is what the rounds of an adaptive design were drawn for."""
    parsed = parse_measure(measure)
    limit = MOST_UNCERTAIN_FAR if isinstance(parsed, RecallAtK | RocAuc) else MOST_UNCERTAIN
    return estimate.foreseen_error <= limit and (isinstance(parsed, PrecisionAtK) or purpose != "finding")
