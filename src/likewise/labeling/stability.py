"""Would labelling more change the order of the models? A bootstrap over the queries labelled so far.

If drawing the labelled queries again (with replacement) keeps the same model first nearly always, other queries of the
same kind, and more labels of them, will hardly put another one there.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 1000
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


def order_stability(
    models: list[str], per_query: NDArray[np.float64], n_resamples: int = RESAMPLES, seed: int = 0
) -> Stability:
    """From one value per model (row) and query (column); NaN where a query has only one kind of label."""
    if len(models) < 2:
        return Stability("There is only one model: nothing to put in order.")
    defined = ~np.isnan(per_query).any(axis=0)
    values = per_query[:, defined]
    n_queries = int(defined.sum())
    if n_queries < MIN_QUERIES:
        return Stability(
            f"Too early to say: {n_queries} queries have both similar and not similar pairs, "
            f"{MIN_QUERIES} are the least to go by.",
            n_queries=n_queries,
        )
    means = values.mean(axis=1)
    order = np.argsort(-means, kind="stable")
    random = np.random.default_rng(seed)
    drawn = random.multinomial(n_queries, np.full(n_queries, 1.0 / n_queries), size=n_resamples) @ values.T
    orders = np.argsort(-drawn, axis=1, kind="stable")
    winner_share = float((orders[:, 0] == order[0]).mean())
    order_share = float((orders == order).all(axis=1).mean())
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
