"""Which materials look alike to people, from their answers to triplets: one definition, fixed beforehand.

Stochastic triplet embedding (van der Maaten and Weinberger 2012): every material is a point, and of two candidates the
nearer one is chosen with the chance sigmoid(d^2(reference, other) - d^2(reference, chosen)). Points are the maximum of
the likelihood of all votes with a Gaussian prior. The number of dimensions is the one that predicts votes held out
best; no design, model or finding curve has a say in it. Similar is the nearest tenth of all pairs.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.optimize import minimize

DIMENSIONS = (2, 3, 4, 6, 8)
FOLDS = 5
PRIOR = 0.5  # of a squared coordinate, in log likelihood
SIMILAR_SHARE = 0.1
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Triplets:
    """Rows of reference, first and second candidate, and the votes each of the two got."""

    reference: Ints
    first: Ints
    second: Ints
    votes_first: Floats
    votes_second: Floats

    def some(self, rows: NDArray[np.bool_]) -> "Triplets":
        return Triplets(*(column[rows] for column in vars(self).values()))


@dataclass(frozen=True)
class PeoplesSimilarity:
    """Materials by name, which are similar, and how well points of each dimension predict votes held out."""

    names: list[str]
    similar: NDArray[np.bool_]
    agreement: dict[int, float]
    n_dimensions: int


def read_triplets(file: Path) -> tuple[list[str], Triplets]:
    rows = pl.read_csv(file)
    names = sorted(set(rows["reference"]) | set(rows["chosen"]) | set(rows["other"]))
    place = {name: number for number, name in enumerate(names)}
    columns = (np.array([place[name] for name in rows[side]]) for side in ("reference", "chosen", "other"))
    votes = (rows[side].to_numpy().astype(np.float64) for side in ("votes_chosen", "votes_other"))
    return names, Triplets(*columns, *votes)


def peoples_similarity(file: Path) -> PeoplesSimilarity:
    """The one definition of similar materials."""
    names, triplets = read_triplets(file)
    fold = np.random.default_rng(0).permutation(len(triplets.reference)) % FOLDS
    agreement = {}
    for n_dimensions in DIMENSIONS:
        right = total = 0.0
        for number in range(FOLDS):
            points = embed(triplets.some(fold != number), len(names), n_dimensions)
            out = triplets.some(fold == number)
            nearer = margins(points, out) > 0.0
            right += float(np.where(nearer, out.votes_first, out.votes_second).sum())
            total += float((out.votes_first + out.votes_second).sum())
        agreement[n_dimensions] = right / total
    best = max(agreement, key=lambda each: agreement[each])
    points = embed(triplets, len(names), best)
    distance = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    pairs = distance[np.triu_indices(len(names), 1)]
    similar = distance <= np.quantile(pairs, SIMILAR_SHARE)
    np.fill_diagonal(similar, False)
    return PeoplesSimilarity(names, similar, agreement, best)


def embed(triplets: Triplets, n_points: int, n_dimensions: int, seed: int = 0) -> Floats:
    start = 0.3 * np.random.default_rng(seed).standard_normal(n_points * n_dimensions)

    def loss(flat: Floats) -> tuple[float, Floats]:
        points = flat.reshape(n_points, n_dimensions)
        margin = margins(points, triplets)
        both = triplets.votes_first + triplets.votes_second
        value = float((both * np.logaddexp(0.0, -margin) + triplets.votes_second * margin).sum())
        slope = (triplets.votes_second - both / (1.0 + np.exp(margin)))[:, None] * 2.0
        to_first = points[triplets.first] - points[triplets.reference]
        to_second = points[triplets.second] - points[triplets.reference]
        gradient = np.zeros_like(points)
        np.add.at(gradient, triplets.second, slope * to_second)
        np.add.at(gradient, triplets.first, -slope * to_first)
        np.add.at(gradient, triplets.reference, slope * (to_first - to_second))
        return value + PRIOR * float(flat @ flat), gradient.ravel() + 2.0 * PRIOR * flat

    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 300}).x).reshape(
        n_points, n_dimensions
    )


def margins(points: Floats, triplets: Triplets) -> Floats:
    """How much nearer the first candidate is than the second, in squared distance."""
    reference = points[triplets.reference]
    first, second = (points[side] - reference for side in (triplets.first, triplets.second))
    return np.asarray((second**2).sum(axis=1) - (first**2).sum(axis=1))
