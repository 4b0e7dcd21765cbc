"""A pool of drawn pairs: one row per pair with its inclusion probability, from the generators' lists."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.discovery.designs.adaptive import Purpose
from likewise.discovery.designs.drawing import DrawnPairs, Ints, draw_pairs, inclusion_probabilities, split_evenly
from likewise.discovery.designs.sampled import first_round_pair_weights, sampled_weights
from likewise.discovery.designs.units import CatalogUnits, catalog_units
from likewise.discovery.pool import DRAWN, FIRST_ROUND, POOL_SCHEMA, QueryGallery
from likewise.neighbours import NO_INDEX


def sampled_pool(
    query_gallery: QueryGallery,
    lists: Sequence[Ints],
    n_labels: int,
    seed: int,
    *,
    one_per_item: bool = True,
    purpose: Purpose | None = None,
) -> pl.DataFrame:
    """Draw `n_labels` pairs; `lists` hold each generator's gallery rows for every query, best first, -1 at the end.

    `purpose` is what rounds are drawn for, where this is the first of several.
    """
    units = catalog_units(query_gallery, one_per_item)
    rng = np.random.default_rng(seed)
    drawn = draw_first_round(lists_of_units(lists, units), units, n_labels, rng, purpose)
    return drawn_rows(drawn, query_gallery, lists, units, FIRST_ROUND, rng)


def draw_first_round(
    lists: Sequence[Ints], units: CatalogUnits, n_labels: int, rng: np.random.Generator, purpose: Purpose | None = None
) -> DrawnPairs:
    """The same number of pairs for each query; `lists` are of units."""
    sizes = split_evenly(n_labels, units.n_admissible, rng)
    places = units.query_items, units.unit_items
    weights, unlisted = (
        first_round_pair_weights(lists, *places) if purpose == "finding" else sampled_weights(lists, *places, sizes)
    )
    return draw_pairs(weights, inclusion_probabilities(weights, sizes), unlisted, rng)


def lists_of_units(lists: Sequence[Ints], units: CatalogUnits) -> list[Ints]:
    """Lists of gallery rows as lists of units."""
    return [np.where(one == NO_INDEX, NO_INDEX, units.unit_of_image[one]) for one in lists]


def drawn_rows(
    drawn: DrawnPairs,
    query_gallery: QueryGallery,
    lists: Sequence[Ints],
    units: CatalogUnits,
    number: int,
    rng: np.random.Generator,
) -> pl.DataFrame:
    """Pairs drawn in a round as rows of the pool."""
    image, rank = _shown_images(drawn, lists, lists_of_units(lists, units), units, rng)
    return pl.DataFrame(
        {
            "query": np.array(query_gallery.queries, dtype=object)[drawn.query],
            "candidate": np.array(query_gallery.gallery, dtype=object)[image],
            "generator": [DRAWN] * len(drawn),
            "rank": [None if place == NO_INDEX else int(place) for place in rank],
            "score": [None] * len(drawn),
            "probability": drawn.probability,
            "round": [number] * len(drawn),
        },
        schema=POOL_SCHEMA,
    )


def _shown_images(
    drawn: DrawnPairs, lists: Sequence[Ints], unit_lists: Sequence[Ints], units: CatalogUnits, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Which image of each drawn unit experts see, and its best rank: the image of the generator that ranks it best.

    A unit that nobody lists is shown by any of its images, by lot; its rank is -1.
    """
    cell = drawn.query * units.n_units + drawn.candidate
    image, best = np.full(len(drawn), NO_INDEX), np.full(len(drawn), np.iinfo(np.int64).max)
    for images, listed in zip(lists, unit_lists, strict=True):
        query, rank = np.nonzero(listed != NO_INDEX)
        place = np.searchsorted(cell, query * units.n_units + listed[query, rank])
        hit = cell[np.minimum(place, len(cell) - 1)] == query * units.n_units + listed[query, rank]
        query, rank, place = query[hit], rank[hit], place[hit]
        better = rank < best[place]
        image[place[better]], best[place[better]] = images[query, rank][better], rank[better]
    order = np.argsort(units.unit_of_image, kind="stable")
    start = np.searchsorted(units.unit_of_image[order], np.arange(units.n_units + 1))
    unseen = np.flatnonzero(image == NO_INDEX)
    first, n_images = start[drawn.candidate[unseen]], np.diff(start)[drawn.candidate[unseen]]
    image[unseen] = order[first + (rng.random(len(unseen)) * n_images).astype(np.int64)]
    return image, np.where(best == np.iinfo(np.int64).max, NO_INDEX, best)
