"""Campaigns: pairs drawn by a design from a bench, labelled by its truth."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from sampling_bench import Bench, Floats, Ints

from likewise.discovery.designs.adaptive import MOST_DEPTH, Purpose, RoundsSoFar, draw_round
from likewise.discovery.designs.drawing import DrawnPairs
from likewise.discovery.designs.drawn_pool import draw_first_round
from likewise.discovery.designs.pair_features import LabelledPairs
from likewise.discovery.designs.sampled import LIST_DEPTH
from likewise.evaluation.estimates.draw import LabelledDraw, round_counts

DrawnDesign = Literal["sampled", "finding", "comparing"]
ROUNDS = 5


@dataclass(frozen=True)
class RoundOfPairs:
    """Pairs of a round with their inclusion probabilities."""

    query: Ints
    unit: Ints
    probability: Floats


def draw_campaign(
    bench: Bench, queries: Ints, n_labels: int, design: DrawnDesign, rng: np.random.Generator
) -> LabelledDraw:
    """All labels of a campaign by the sampled design, or by the adaptive one for a purpose."""
    return labelled(bench, queries, draw_campaign_rounds(bench, queries, n_labels, design, rng), design)


def draw_campaign_rounds(
    bench: Bench, queries: Ints, n_labels: int, design: DrawnDesign, rng: np.random.Generator
) -> list[RoundOfPairs]:
    share, rest = divmod(n_labels, ROUNDS)
    sizes = [share + (number < rest) for number in range(ROUNDS)]
    drawn = (
        [draw_first(bench, queries, n_labels, rng, None)]
        if design == "sampled"
        else draw_rounds(bench, queries, sizes, design, rng)
    )
    return [RoundOfPairs(one.query, one.candidate, one.probability) for one in drawn]


def draw_first(
    bench: Bench, queries: Ints, n_labels: int, rng: np.random.Generator, purpose: Purpose | None
) -> DrawnPairs:
    return draw_first_round(bench.lists(queries, LIST_DEPTH), bench.units(queries), n_labels, rng, purpose)


def draw_rounds(
    bench: Bench, queries: Ints, sizes: list[int], purpose: Purpose, rng: np.random.Generator
) -> list[DrawnPairs]:
    """The first round by ranks alone, the others in the light of the labels before."""
    rounds = [draw_first(bench, queries, sizes[0], rng, purpose)]
    views, units, lists = bench.views(queries), bench.units(queries), bench.lists(queries, MOST_DEPTH)
    for size in sizes[1:]:
        rounds.append(draw_round(views, units, lists, so_far(bench, queries, rounds), size, purpose, rng))
    return rounds


def so_far(bench: Bench, queries: Ints, rounds: list[DrawnPairs]) -> RoundsSoFar:
    query, unit = (np.concatenate(side) for side in zip(*((one.query, one.candidate) for one in rounds), strict=True))
    order = np.lexsort((unit, query))
    query, unit = query[order], unit[order]
    return RoundsSoFar(query, unit, LabelledPairs(query, unit, labels_of(bench, queries, query, unit)))


def labelled(bench: Bench, queries: Ints, rounds: list[RoundOfPairs], design: DrawnDesign) -> LabelledDraw:
    """As `labelled_draw` makes it of a workspace."""
    query, unit = (np.concatenate(side) for side in zip(*((one.query, one.unit) for one in rounds), strict=True))
    probability = np.concatenate([one.probability for one in rounds])
    number = np.repeat(np.arange(len(rounds)), [len(one.query) for one in rounds])
    order = np.lexsort((unit, query))
    query, unit = query[order], unit[order]
    kept, place = np.unique(query, return_inverse=True)
    return LabelledDraw.of_rounds(
        kept,
        place.astype(np.int64),
        unit,
        probability[order],
        labels_of(bench, queries, query, unit),
        number[order],
        round_counts([len(one.query) for one in rounds], None if design == "sampled" else design),
    )


def labels_of(bench: Bench, queries: Ints, query: Ints, unit: Ints) -> Floats:
    return bench.similar[queries[query], unit].astype(np.float64)
