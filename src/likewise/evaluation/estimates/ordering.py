"""The order of models: estimates whose corrections are shrunk as far as labels cannot tell them from chance.

An unbiased value is predicted + correction. The correction makes the number right, and is most of its noise. For an
order only differences between models count, and about these the prediction, which knows all labels and every encoder
(`listed_pairs.py`), is wrong by less than a correction from few labels. So the corrections c_m of the models are shrunk
by one factor (empirical Bayes, as James and Stein):

    ordered by   predicted_m + tau / (tau + v) c_m,   tau = max(0, variance of c over models - v),

v being the mean variance from drawing of the c_m about their mean: the same labels correct all models, so what they
share does not count. With many labels, or where the predictions favour some model, tau is large and the order is that
of the unbiased values.
"""

from collections.abc import Sequence

import numpy as np

from likewise.evaluation.estimates.chances import Floats
from likewise.evaluation.estimates.linearised import CatalogEstimate


def order_values(estimates: Sequence[CatalogEstimate], foretold: Sequence[float] | None = None) -> Floats:
    """What models are ordered by, of estimates of one measure from the same labels.

    `foretold` is what closer chances predict, where there are any.
    """
    value = np.array([one.value for one in estimates])
    predicted = np.array([one.predicted for one in estimates] if foretold is None else foretold)
    if len(estimates) < 3:
        return np.asarray(value)
    correction = value - predicted
    terms = estimates[0].corrections
    slope = np.stack([one.slope for one in estimates])
    variance = (terms.seen_variance + terms.predicted_variance) / 2.0
    drawing = float(((slope - slope.mean(axis=0)) ** 2 @ variance).sum()) / (len(estimates) - 1)
    between = max(0.0, float(correction.var(ddof=1)) - drawing)
    share = between / (between + drawing) if between + drawing > 0.0 else 1.0
    return np.asarray(predicted + share * correction)


def rank_best_first(values: Floats) -> list[int]:
    """The place of each, from 1; equal ones in their order."""
    places = np.empty(len(values), dtype=np.int64)
    places[np.argsort(-values, kind="stable")] = np.arange(1, len(values) + 1)
    return [int(place) for place in places]
