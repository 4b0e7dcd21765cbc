"""Which whole-catalog estimates are shown by default: those that can be had without bias from these labels.

P@k is linear in the labels and unbiased under every design. The other measures are ratios inside queries. Labels drawn
for finding leave so few to the pairs that nobody expects to be similar that one of these can turn such a ratio: values
are then off by several points (docs/sampling.md). And under any design a value is left out where the predicted
chances foresee a standard error from drawing above MOST_UNCERTAIN.
"""

from likewise.discovery.designs.adaptive import Purpose
from likewise.evaluation.estimates.linearised import CatalogEstimate
from likewise.evaluation.measures import parse_measure
from likewise.evaluation.measures.precision import PrecisionAtK


def shown_by_default(measure: str, estimate: CatalogEstimate, purpose: Purpose | None) -> bool:
    """`purpose` is what the rounds of an adaptive design were drawn for."""
    is_linear = isinstance(parse_measure(measure), PrecisionAtK)
    return not estimate.too_uncertain and (is_linear or purpose != "finding")
