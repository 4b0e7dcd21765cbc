"""The adaptive design: after each round a small model predicts every pair that was not drawn, and the next round is
drawn by probabilities that follow what is still uncertain.

The model (`pair_classifier.py`) knows ranks, scores and what was labelled so far. A pair's weight in the next round is,
with p its predicted chance of being similar,

    finding:    p^3: likely pairs first, others while it may be wrong;
    comparing:  sqrt(p (1 - p)) x how far apart the encoders rank it: what the label is expected to tell about them;

plus a floor: a share of every round (SAMPLED_SHARES) is drawn by the weights of the sampled design, which fall with the
generators' ranks and are 0 nowhere. Where the model is wrong, no label then stands for many more pairs than in that
design. A round's probabilities are conditional on the rounds before it. Each round alone gives an unbiased estimate for
the pairs that it could draw, whatever the model is worth, and `evaluation.estimates` combines them.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from likewise.discovery.designs.drawing import (
    DrawnPairs,
    Floats,
    Ints,
    PairWeights,
    UnlistedPairs,
    draw_pairs,
    joint_probabilities,
)
from likewise.discovery.designs.frame import PairFrame, UnlistedInFrame
from likewise.discovery.designs.pair_classifier import PairClassifier
from likewise.discovery.designs.pair_features import EncoderView, LabelledPairs, PairFeatures
from likewise.discovery.designs.sampled import RankedPairs, band_weight, combine_lists, ranked_weights
from likewise.discovery.designs.units import CatalogUnits
from likewise.neighbours import NO_INDEX

Purpose = Literal["finding", "comparing"]
SAMPLED_SHARES: dict[Purpose, float] = {"finding": 0.05, "comparing": 0.5}
FINDING_POWER = 3
MAX_LISTED = 1_000_000  # pairs that are predicted one by one, of all queries
LEAST_DEPTH, MOST_DEPTH = 32, 256  # of the lists they come from
TAIL_SAMPLE = 4  # unlisted pairs of a query that are predicted, and stand for all of them


@dataclass(frozen=True)
class RoundsSoFar:
    """All pairs drawn before, and those of them that are labelled; sorted by query and unit."""

    drawn_query: Ints
    drawn_unit: Ints
    labelled: LabelledPairs


def list_depth(n_queries: int, n_generators: int, n_gallery: int) -> int:
    """How deep the generators' lists are, so that not too many pairs are listed."""
    affordable = MAX_LISTED // max(1, n_queries * n_generators)
    return min(n_gallery, max(LEAST_DEPTH, min(MOST_DEPTH, affordable)))


def draw_round(
    views: Sequence[EncoderView],
    units: CatalogUnits,
    lists: Sequence[Ints],
    so_far: RoundsSoFar,
    n_labels: int,
    purpose: Purpose,
    rng: np.random.Generator,
    frame: PairFrame | None = None,
) -> DrawnPairs:
    """Draw the next round; `lists` are every encoder's units for each query, best first, -1 where a list ends.

    `frame`: the pairs that this round may draw, if not all that are left.
    """
    n_units = units.n_units
    ranked = combine_lists(lists, n_units)
    drawn = so_far.drawn_query * n_units + so_far.drawn_unit
    fresh = ~np.isin(ranked.query * n_units + ranked.candidate, drawn)
    if frame is not None:
        fresh &= frame.holds(ranked.query, ranked.candidate)
    query, candidate = ranked.query[fresh], ranked.candidate[fresh]
    taken = np.unique(np.concatenate([ranked.query * n_units + ranked.candidate, drawn]))
    places = taken // n_units, taken % n_units, units.query_items, units.unit_items
    unlisted = UnlistedPairs(*places) if frame is None else UnlistedInFrame(*places, frame)
    tail_size = unlisted.sizes()
    model = PairClassifier.fit(PairFeatures.of(views, units, lists, so_far.labelled))
    chance = model.chance(query, candidate)
    tail_chance = _tail_chances(model, unlisted, tail_size, rng)
    weight, tail = _weights(purpose, chance, tail_chance, lists, ranked, fresh, n_units)
    base, base_tail = ranked_weights(ranked, lists, tail_size, n_units)
    total, base_total = weight.sum() + tail @ tail_size, base[fresh].sum() + base_tail @ tail_size
    share = SAMPLED_SHARES[purpose]
    factor = share / (1.0 - share) * max(float(total), 1e-9) / max(float(base_total), 1e-9)
    pairs = PairWeights(query, candidate, weight + factor * base[fresh], tail_size, tail + factor * base_tail)
    n_pairs = len(weight) + int(tail_size.sum())
    return draw_pairs(pairs, joint_probabilities(pairs, min(n_labels, n_pairs)), unlisted, rng)


def _weights(
    purpose: Purpose,
    chance: Floats,
    tail_chance: Floats,
    lists: Sequence[Ints],
    ranked: RankedPairs,
    fresh: np.ndarray,
    n_units: int,
) -> tuple[Floats, Floats]:
    """Of the listed pairs that are left, and of a pair of each tail."""
    if purpose == "finding":
        return chance**FINDING_POWER, tail_chance**FINDING_POWER
    disagreement, tail_disagreement = _disagreement(lists, ranked, n_units)
    spread = np.sqrt(chance * (1.0 - chance)) * disagreement[fresh]
    return spread, np.sqrt(tail_chance * (1.0 - tail_chance)) * tail_disagreement


def _disagreement(lists: Sequence[Ints], ranked: RankedPairs, n_units: int) -> tuple[Floats, float]:
    """How far encoders are apart about each listed pair: the spread of 1 / (rank + 3), and what a tail pair has."""
    depth = max(one.shape[1] for one in lists)
    below = 1.0 / (depth + 3.0)
    total, squares = np.zeros(len(ranked.query)), np.zeros(len(ranked.query))
    cells = ranked.query * n_units + ranked.candidate
    for one in lists:
        query, rank = np.nonzero(one != NO_INDEX)
        gain = np.full(len(cells), below)
        gain[np.searchsorted(cells, query * n_units + one[query, rank])] = band_weight(np.arange(one.shape[1]))[rank]
        total += gain
        squares += gain**2
    mean = total / len(lists)
    return np.sqrt(np.maximum(squares / len(lists) - mean**2, 0.0)) + 0.5 * mean, below


def _tail_chances(model: PairClassifier, unlisted: UnlistedPairs, tail_size: Ints, rng: np.random.Generator) -> Floats:
    """What a pair of each query's tail is worth: the mean of a few of them, shrunk to that of all queries."""
    chance = np.zeros(len(tail_size))
    rows = np.flatnonzero(tail_size)
    if not len(rows):
        return chance
    picked = [unlisted.pick(int(row), min(TAIL_SAMPLE, int(tail_size[row])), rng) for row in rows]
    query = np.repeat(rows, [len(one) for one in picked])
    found = model.chance(query, np.concatenate(picked))
    mean = np.bincount(query, found, len(tail_size))[rows] / np.bincount(query, minlength=len(tail_size))[rows]
    chance[rows] = (mean + mean.mean()) / 2.0
    return chance
