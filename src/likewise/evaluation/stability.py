"""Would labelling more change the order of the models? A bootstrap over the queries labelled so far.

If drawing the queries again (with replacement) keeps the same model first nearly always, other queries of the same
kind, and more labels of them, will hardly put another one there.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from likewise.evaluation.bootstrap import RESAMPLES, query_weights
from likewise.evaluation.query_sums import QuerySums

STABLE_SHARE = 0.95
MIN_QUERIES = 5


@dataclass(frozen=True)
class Stability:
    """How often the leading model stays first (and the whole order the same) when the queries are drawn again."""

    sentence: str
    winner: str | None = None
    winner_share: float | None = None
    order_share: float | None = None
    n_queries: int = 0


def order_stability(values: Mapping[str, QuerySums], n_resamples: int = RESAMPLES, seed: int = 0) -> Stability:
    """From every model's value, query by query, of the measure that ranks them."""
    if len(values) < 2:
        return Stability("There is only one model: nothing to put in order.")
    models = sorted(values)
    n_queries = min(one.n_defined for one in values.values())
    if n_queries < MIN_QUERIES:
        return Stability(
            f"Too early to say: {n_queries} queries have labels that can tell models apart, "
            f"{MIN_QUERIES} are the least to go by.",
            n_queries=n_queries,
        )
    order = np.argsort([-values[model].value() for model in models], kind="stable")
    weights = query_weights(len(values[models[0]].denominator), n_resamples, seed)
    orders = np.argsort([-values[model].resampled(weights) for model in models], axis=0, kind="stable")
    winner_share = float((orders[0] == order[0]).mean())
    order_share = float((orders == order[:, None]).all(axis=0).mean())
    winner, second = models[int(order[0])], models[int(order[1])]
    if winner_share >= STABLE_SHARE and order_share >= STABLE_SHARE:
        verdict = "Hardly: the whole order stays the same"
    elif winner_share >= STABLE_SHARE:
        verdict = f"Not at the top: {winner} stays first, but models further down may change places"
    else:
        verdict = f"It may: {winner} leads, {second} is close"
    sentence = (
        f"{verdict} ({winner} is first in {100 * winner_share:.0f} % and the order the same in "
        f"{100 * order_share:.0f} % of resamples of the {n_queries} queries labelled so far)."
    )
    return Stability(sentence, winner, winner_share, order_share, n_queries)
