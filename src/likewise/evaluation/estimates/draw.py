"""Which labels of a workspace belong to its design, and how many pairs each of them stands for.

Rounds. What a round draws depends on the labels of the rounds before, but given those its inclusion probabilities are
known: with the pairs drawn before taken as known, round t gives an estimate e_t that is unbiased whatever came before,
so the estimates of the rounds differ from the truth by steps of a martingale, and any mean of them with weights w_t
fixed in advance is unbiased too. (Weights that follow what a round turned out to be are not: later rounds are what
earlier labels made them.) Rounds count by their labels; but a later round that looks for likely pairs only by
ROUND_WORTH of them: each of its few labels of other pairs stands for the more, and its estimate is the less certain. In
such a mean a pair of round r with probability p has the weight

    w_r / p + sum of w_t over later rounds t,

because rounds before could not tell it from the others and later ones know it; with one round it is 1 / p. The
variance is the sum over rounds of w_t^2 times that of e_t, steps of a martingale being uncorrelated.

A catalog that lives. A round after an update draws among the pairs that the update brought into play, which no round
before could have drawn: each such round is the only one of its pairs, so they have the weight 1 / p. Pairs whose images
are gone are left out, which is no selection by labels. So the pairs of today are parts, each with its own draws, and
the estimate of their sum is the sum of unbiased estimates.

A drawn pair without a label (not asked yet, or nobody could tell) is taken as left out by chance: experts meet pairs in
random order, so labelled ones stand for all pairs of their query in a round that gives every query its share, and for
all pairs of their round in a later one, where a query may have had one pair or none. A round counts by what is labelled
of it, so that one which has just begun does not weigh like the others. Pairs that were picked by hand and taken into a
round with certainty stand for themselves.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from likewise.discovery.designs.adaptive import Purpose
from likewise.discovery.designs.units import CatalogUnits
from likewise.discovery.pool import FIRST_ROUND, PICKED
from likewise.errors import LikewiseError
from likewise.evaluation.estimates.chances import Floats, Ints

ROUND_WORTH: dict[Purpose, float] = {"finding": 0.15, "comparing": 1.0}
"""What a label of a later round counts beside one of the first; chosen on a catalog of its own (docs/sampling.md)."""


@dataclass(frozen=True)
class LabelledDraw:
    """Pairs of a design that are labelled: rows of queries, units, labels, and what each stands for.

    `weight` takes the place of 1 / probability, `spread` that of (1 - probability) / probability^2 in variances. Sorted
    by query and unit, each pair once. `queries` are the rows of the catalog's queries that have a label at all,
    and `query` counts among them. `best_rank` is the generators' best of each pair, infinite where none lists it, if
    that is known.
    """

    queries: Ints
    query: Ints
    unit: Ints
    weight: Floats
    spread: Floats
    label: Floats
    best_rank: Floats | None = None

    @staticmethod
    def of_rounds(
        queries: Ints,
        query: Ints,
        unit: Ints,
        probability: Floats,
        label: Floats,
        number: Ints | None = None,
        round_sizes: Sequence[float] = (1.0,),
        alone: Collection[int] = (),
    ) -> "LabelledDraw":
        """From inclusion probabilities, the number of each pair's round (from 0) and what each round counts.

        The rounds `alone` drew among pairs of their own; the others drew one after the other from the same pairs.
        """
        number = np.zeros(len(query), dtype=np.int64) if number is None else number
        by_itself = np.isin(np.arange(len(round_sizes)), list(alone))
        sizes = np.where(by_itself, 0.0, np.asarray(round_sizes, dtype=np.float64))
        repeated = sizes / (float(sizes.sum()) or 1.0)
        share = np.where(by_itself, 1.0, repeated)
        later = np.where(by_itself, 0.0, 1.0 - np.cumsum(repeated))
        weight = share[number] / probability + later[number]
        spread = share[number] ** 2 * (1.0 - probability) / probability**2
        return LabelledDraw(queries, query, unit, weight, spread, label)

    @property
    def n_queries(self) -> int:
        return len(self.queries)


def labelled_draw(
    pool: pl.DataFrame,
    labels: pl.DataFrame,
    queries: list[str],
    gallery: list[str],
    units: CatalogUnits,
    *,
    update_rounds: Collection[int] = (),
    purpose: Purpose | None = None,
) -> LabelledDraw:
    """The labelled pairs of a drawn pool; labels of other pairs are left aside.

    `update_rounds` drew among the pairs that an update of the catalog brought; all others from the first ones.
    `purpose` is what rounds after the first were drawn for, where there are any.
    """
    wrong = pool.filter(~pl.col("probability").fill_null(0.0).is_between(0.0, 1.0, closed="right"))
    if len(wrong):
        query, candidate, probability = wrong.select("query", "candidate", "probability").row(0)
        raise LikewiseError(
            f"inclusion probabilities are above 0 and at most 1, but {len(wrong)} of the pool's are not (first: "
            f"{query} and {candidate}, {probability}): draw the pairs again with `likewise discover --replace`."
        )
    first = pl.col("round").is_in([FIRST_ROUND, *update_rounds])
    alike = ["round", "picked", pl.when(first).then("row")]
    rows = (
        pool.select("query", "candidate", "probability", "round", "rank", picked=pl.col("generator") == PICKED)
        .join(pl.DataFrame({"query": queries, "row": np.arange(len(queries))}), on="query")
        .join(pl.DataFrame({"candidate": gallery, "unit": units.unit_of_image}), on="candidate")
        .join(labels.select("query", "candidate", "label"), on=["query", "candidate"], how="left")
        .with_columns(share=pl.col("label").count().over(alike) / pl.len().over(alike))
        .filter(pl.col("label").is_not_null())
        .sort("row", "unit")
    )
    kept, place = np.unique(rows["row"].to_numpy(), return_inverse=True)
    counted = (~pl.col("picked")).sum()  # how many were picked must not decide what a round counts
    sizes = rows.group_by("round").agg(len=counted).sort("round")
    drawn = LabelledDraw.of_rounds(
        kept.astype(np.int64),
        place.astype(np.int64),
        rows["unit"].to_numpy().astype(np.int64),
        (rows["probability"] * rows["share"]).to_numpy(),
        rows["label"].to_numpy().astype(np.float64),
        sizes["round"].search_sorted(rows["round"]).to_numpy().astype(np.int64),
        round_counts(sizes["len"].to_list(), purpose),
        np.flatnonzero(sizes["round"].is_in(list(update_rounds)).to_numpy()).tolist(),
    )
    if pool["rank"].is_null().all():  # of files that do not say
        return drawn
    return replace(drawn, best_rank=rows["rank"].cast(pl.Float64).fill_null(np.inf).to_numpy())


def round_counts(sizes: Sequence[float], purpose: Purpose | None) -> list[float]:
    """What each round counts in a mean of rounds."""
    share = 1.0 if purpose is None else ROUND_WORTH[purpose]
    return [size * (share if number else 1.0) for number, size in enumerate(sizes)]


def as_one_round(pool: pl.DataFrame, update_rounds: Collection[int]) -> pl.DataFrame:
    """A pool that grew with its catalog as a single draw from today's pairs: what files without versions can say.

    A pair's probability is 1 / weight; where rounds followed each other, variances come out somewhat too large.
    """
    if not update_rounds:
        return pool
    sizes = pool.group_by("round").len().sort("round")
    number = sizes["round"].search_sorted(pool["round"]).to_numpy().astype(np.int64)
    alone = np.flatnonzero(sizes["round"].is_in(list(update_rounds)).to_numpy()).tolist()
    nothing = np.zeros(len(pool), dtype=np.int64)
    chance = pool["probability"].to_numpy()
    drawn = LabelledDraw.of_rounds(nothing, nothing, nothing, chance, chance, number, sizes["len"].to_list(), alone)
    return pool.with_columns(probability=pl.Series(1.0 / drawn.weight), round=pl.lit(1, pl.Int32))
