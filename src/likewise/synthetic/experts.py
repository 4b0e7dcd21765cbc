"""Simulated experts, for demos and tests: they answer about the built-in wardrobe, where the truth is known.

The truth of a pair is the wardrobe's similarity with its base weights, at least SIMILAR_AT. An expert e sees
    s_e + noise_e * z >= SIMILAR_AT + shift_e,   s_e: the similarity with the expert's own weights, z ~ N(0, 1),
may say "cannot tell" where the two sides are close, and now and then presses a wrong key. Every answer depends on the
pair, the expert and the seed alone: asking for other pairs, or in another order, changes none.

The numbers below are chosen so that three experts on a pool of the built-in encoders (600 items, k = 6, ten seeds) have
Fleiss' kappa 0.67–0.80, and their majority is the truth for 93–96 % of the pairs. Pools of stronger encoders hold more
close pairs, so people agree less there.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.labeling.votes import CANNOT_TELL, NOT_SIMILAR, PAIR, SIMILAR, VOTE_SCHEMA, hash_bytes, tidy_votes
from likewise.synthetic.similarity import BASE_WEIGHTS, SIMILAR_AT, similarity
from likewise.synthetic.vocabulary import ATTRIBUTE_NAMES

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

WEIGHT_CONCENTRATION = 80.0  # of the Dirichlet around the base weights: larger, more alike
CLOSE = 0.04  # distance from the threshold within which an expert may be unable to tell
FIRST_DAY = datetime(2026, 1, 5, 8, tzinfo=UTC)
WORKING_SECONDS_PER_DAY = 4 * 3600


@dataclass(frozen=True)
class SimulatedExpert:
    """How one made-up person sees: what counts for them, how steadily, how strictly."""

    name: str
    weights: dict[str, float]
    noise: float  # standard deviation of the perceived similarity from vote to vote
    shift: float  # of the threshold: above 0 strict, below 0 lenient
    lapse_rate: float  # share of votes that are a coin toss
    unsure_rate: float  # share of close pairs answered "cannot tell"
    seconds_per_pair: float  # median


def sample_experts(n: int, seed: int = 0) -> list[SimulatedExpert]:
    """n different experts; the first of many are the same as the first of few."""
    if n < 1:
        raise LikewiseError(f"cannot simulate {n} experts: ask for one or more.")
    averaged = {name: weight for name, weight in BASE_WEIGHTS.items() if name != "category"}
    base = np.array(list(averaged.values()))
    experts = []
    for number in range(1, n + 1):
        random = np.random.default_rng([seed, number])
        weights = random.gamma(WEIGHT_CONCENTRATION * base / base.sum())
        weights *= base.sum() / weights.sum()
        kinship = BASE_WEIGHTS["category"] * random.lognormal(0.0, 0.15)  # an exponent, not a part of the mean
        experts.append(
            SimulatedExpert(
                name=f"simulated-{number}",
                weights={"category": float(kinship)} | dict(zip(averaged, weights.tolist(), strict=True)),
                noise=float(random.uniform(0.05, 0.08)),
                shift=float(random.normal(0.0, 0.025)),
                lapse_rate=float(random.uniform(0.005, 0.02)),
                unsure_rate=float(random.uniform(0.05, 0.25)),
                seconds_per_pair=float(random.uniform(2.5, 6.0)),
            )
        )
    return experts


def simulate_votes(
    catalog: pl.DataFrame, pairs: pl.DataFrame, experts: Sequence[SimulatedExpert], seed: int = 0
) -> pl.DataFrame:
    """Every expert's answer to every pair, in the votes format.

    The times are made up too: each expert starts on the same day and works through the queries in a random order,
    four hours a day, so a vote's time (unlike its answer) depends on which other pairs were asked.
    """
    names = [expert.name for expert in experts]
    if not names or len(set(names)) < len(names):
        raise LikewiseError("simulated votes need experts of different names: take them from sample_experts.")
    pairs = pairs.select(PAIR).unique().sort(PAIR)
    items, rows, columns = _item_rows(catalog, pairs)
    tables = []
    for expert in experts:
        chance, normal = _chances(pairs, expert.name, seed)
        margin = similarity(items, rows, columns, expert.weights) - (SIMILAR_AT + expert.shift)
        margin = margin + expert.noise * normal[:, 0]
        answer = np.where(margin >= 0, SIMILAR, NOT_SIMILAR)
        unsure = (np.abs(margin) < CLOSE) & (chance[:, 0] < expert.unsure_rate)
        answer = np.where(unsure, CANNOT_TELL, answer)
        coin = np.where(chance[:, 1] < expert.lapse_rate / 2, SIMILAR, NOT_SIMILAR)
        answer = np.where(chance[:, 1] < expert.lapse_rate, coin, answer)
        seconds = expert.seconds_per_pair * np.exp(0.5 * normal[:, 1])
        tables.append(
            pairs.with_columns(
                expert=pl.lit(expert.name),
                answer=pl.Series(answer.tolist(), dtype=pl.String),
                time=pl.Series(_times(pairs, seconds, expert.name, seed), dtype=pl.String),
            )
        )
    return tidy_votes(pl.concat(tables).select(*VOTE_SCHEMA))


def _chances(pairs: pl.DataFrame, expert: str, seed: int) -> tuple[Floats, Floats]:
    """Two uniform and two normal numbers per pair that depend on nothing but the pair, the expert and the seed."""
    drawn = b"".join(hash_bytes(32, "vote", seed, expert, *pair) for pair in pairs.iter_rows())
    whole = np.frombuffer(drawn, dtype="<u8").reshape(pairs.height, 4)
    uniform = ((whole >> np.uint64(12)).astype(np.float64) + 0.5) / 2.0**52
    length, angle = np.sqrt(-2.0 * np.log(uniform[:, 2])), 2.0 * np.pi * uniform[:, 3]  # Box and Muller, 1958
    return uniform[:, :2], np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1)


def _times(pairs: pl.DataFrame, seconds: Floats, expert: str, seed: int) -> list[str]:
    """When each vote would have been cast, query after query in the expert's own order."""
    place = {query: hash_bytes(8, "order", seed, expert, query) for query in pairs["query"].unique()}
    order = sorted(range(pairs.height), key=[(place[query], query) for query in pairs["query"]].__getitem__)
    worked = np.empty(pairs.height)
    worked[order] = np.cumsum(seconds[order])
    days, rest = np.divmod(worked, WORKING_SECONDS_PER_DAY)
    moments = (
        FIRST_DAY + timedelta(days=day, milliseconds=round(1000 * late))
        for day, late in zip(days.tolist(), rest.tolist(), strict=True)
    )
    return [moment.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z" for moment in moments]


def _item_rows(catalog: pl.DataFrame, pairs: pl.DataFrame) -> tuple[pl.DataFrame, Ints, Ints]:
    """The catalog's items, one row each, and the row of every query's and candidate's item."""
    missing = [name for name in ("image", "item", "category", *ATTRIBUTE_NAMES) if name not in catalog.columns]
    if missing:
        raise LikewiseError(
            f"the catalog has no column {', '.join(missing)}: simulate works only where the truth is known, "
            "that is on the built-in wardrobe; other catalogs need people's votes."
        )
    items = catalog.unique("item", keep="first", maintain_order=True).sort("item")
    row_of_item = dict(zip(items["item"], range(items.height), strict=True))
    row_of_image = {image: row_of_item[item] for image, item in catalog.select("image", "item").iter_rows()}
    unknown = [image for pair in pairs.iter_rows() for image in pair if image not in row_of_image]
    if unknown:
        raise LikewiseError(f"{unknown[0]} is in the pairs but not in the catalog: take both from one workspace.")
    rows, columns = (np.array([row_of_image[image] for image in pairs[name]], dtype=np.int64) for name in PAIR)
    return items, rows, columns
