"""The measures there are, by name: the built-in ones and those a user registered."""

import sys
from collections.abc import Callable
from typing import overload

from likewise.errors import LikewiseError
from likewise.evaluation.measures.average_precision import AP
from likewise.evaluation.measures.base import Measure
from likewise.evaluation.measures.bpref import bpref
from likewise.evaluation.measures.judged import Judged
from likewise.evaluation.measures.ndcg import nDCG
from likewise.evaluation.measures.own import OwnMeasure, QueryFunction
from likewise.evaluation.measures.precision import P
from likewise.evaluation.measures.r_precision import MAP_at_R, R_Precision
from likewise.evaluation.measures.recall import Recall, Recall_cap, Success
from likewise.evaluation.measures.reciprocal_rank import MRR, VSD_MRR
from likewise.evaluation.measures.roc_auc import ROC_AUC

KNOWN: dict[str, Measure] = {
    str(one): one
    for one in (
        *(P, Recall, Recall_cap, Success, MRR, VSD_MRR, nDCG, Judged),
        *(ROC_AUC, AP, bpref, R_Precision, MAP_at_R),
    )
}
OWN: dict[str, OwnMeasure] = {}


def known_measures() -> dict[str, str]:
    """Every measure by its name, with what it is in a sentence."""
    described = {name: _described(one) for name, one in KNOWN.items()}
    return described | {name: (one.function.__doc__ or "a measure of yours").strip() for name, one in OWN.items()}


def _described(measure: Measure) -> str:
    """The first sentence of its family's module, which has the formula."""
    return (sys.modules[type(measure).__module__].__doc__ or "").strip().partition("\n")[0]


@overload
def register_measure(function: QueryFunction, *, name: str | None = None) -> OwnMeasure: ...
@overload
def register_measure(function: None = None, *, name: str) -> Callable[[QueryFunction], OwnMeasure]: ...
def register_measure(
    function: QueryFunction | None = None, *, name: str | None = None
) -> OwnMeasure | Callable[[QueryFunction], OwnMeasure]:
    """Make a function of (labels, scores) of one query a measure, under its own name or another; also a decorator."""
    if function is None:
        return lambda decorated: register_measure(decorated, name=name)
    chosen = name or function.__name__
    if chosen in KNOWN or not chosen or set(chosen) & set(" ,()@\t\n"):
        why = "is taken" if chosen in KNOWN else "has spaces, commas, brackets or an @"
        raise LikewiseError(f"the name {chosen!r} of a measure {why}: choose another, `register_measure(f, name=...)`.")
    OWN[chosen] = OwnMeasure(chosen, function)
    return OWN[chosen]
