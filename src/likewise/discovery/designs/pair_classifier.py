"""The chance of a pair to be similar, from what `pair_features` say of it: ranks, scores and labels so far.

A logistic regression with squares, shrunk towards one on the encoders' joint ranks alone: the first labels are too few
for more, and by ranks alone a round finds about what an EDS pool finds. On the data of docs/sampling.md boosted trees
are no better.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from likewise.discovery.designs.drawing import Floats, Ints
from likewise.discovery.designs.pair_features import PairFeatures, Vectors
from likewise.discovery.positive_model import fit_logistic

RANK_RIDGE = 1.0  # of the regression on ranks
RIDGE = 30.0  # of the other features
LARGEST_FEATURE = 5.0  # standard deviations


@dataclass(frozen=True)
class PairClassifier:
    """A fitted regression, with the features it predicts from."""

    features: PairFeatures
    centre: Vectors
    scale: Vectors
    coefficients: Floats

    @staticmethod
    def fit(features: PairFeatures) -> "PairClassifier":
        some = features.labelled
        table = features.table(some.query, some.unit)
        centre, scale = table.mean(axis=0), table.std(axis=0)
        scale[scale < 1e-6] = 1.0
        every = PairClassifier(features, centre, scale, np.empty(0)).expand(table)
        ranks = np.append(0, 1 + features.joint_rank_columns)
        by_rank = np.zeros(every.shape[1])
        by_rank[ranks] = fit_logistic(every[:, ranks], some.label, RANK_RIDGE)[0]
        return PairClassifier(features, centre, scale, fit_logistic(every, some.label, RIDGE, by_rank)[0])

    def expand(self, table: Vectors) -> Floats:
        """Standardised features and their squares, behind a constant."""
        standard = np.clip((table - self.centre) / self.scale, -LARGEST_FEATURE, LARGEST_FEATURE).astype(np.float64)
        return np.concatenate([np.ones((len(table), 1)), standard, standard**2 / 2.0], axis=1)

    def chance(self, query: Ints, unit: Ints, at_once: int = 100_000) -> Floats:
        """Predicted for pairs sorted by query, some at a time."""
        parts = [
            expit(self.expand(self.features.table(query[some], unit[some])) @ self.coefficients)
            for some in (slice(start, start + at_once) for start in range(0, len(query), at_once))
        ]
        return np.concatenate(parts) if parts else np.empty(0)
