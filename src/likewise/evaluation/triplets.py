"""Agreement with people on triplets: of two candidates, does the model pick the one people find more like the anchor?

For triplet t with scores s = cosine(anchor, candidate), the model's choice is a(t) = 1 if s(close) > s(far), 0 if it is
lower, 1/2 if they are equal. With v and w votes for close and far:

    majority = mean of a(t) over triplets with v > w (close and far are swapped where v < w; v = w is left out, counted)
    votes    = sum of v a(t) + w (1 - a(t)) / sum of v + w, over all triplets: the share of people the model sides with
    ceiling  = sum of max(v, w) / sum of v + w: no model can side with more people than that

The vector of an item that has several images is the mean of their unit vectors. Intervals are over anchors,
because the triplets of one anchor stand and fall together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Floats, Ints
from likewise.evaluation.query_sums import QuerySums
from likewise.evaluation.triplet_file import ROLES
from likewise.intervals import interval_of
from likewise.neighbours import as_unit, pair_scores
from likewise.neighbours.scores import Floats as Vectors

MAJORITY, VOTES, CEILING = "majority", "votes", "ceiling"
AGREEMENT_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_queries": pl.Int64,
        "n_queries_total": pl.Int64,
        "n_triplets": pl.Int64,
        "n_triplets_total": pl.Int64,
    }
)


@dataclass(frozen=True)
class MeanItemVectors:
    """One unit vector per item."""

    items: list[str]
    vectors: Vectors


@dataclass(frozen=True)
class TripletAgreement:
    """One encoder's choice for every triplet whose three items it knows, beside the votes."""

    anchors: list[str]  # all anchors of the triplets, the same for every encoder
    anchor: Ints  # per used triplet, its place in `anchors`
    choice: Floats  # 1 close, 0 far, 1/2 equal
    votes_close: Floats
    votes_far: Floats
    n_triplets_total: int

    @property
    def n_without_vectors(self) -> int:
        """Triplets left out because one of their items has no vector."""
        return self.n_triplets_total - len(self.choice)

    @property
    def n_vote_ties(self) -> int:
        """Triplets left out of the majority because people were divided evenly."""
        return int((self.votes_close == self.votes_far).sum())

    def n_triplets(self, measure: str) -> int:
        return len(self.choice) - (self.n_vote_ties if measure == MAJORITY else 0)

    def sums(self, measure: str) -> QuerySums:
        """Numerator and denominator of a measure, per anchor."""
        v, w, a = self.votes_close, self.votes_far, self.choice
        if measure == MAJORITY:
            numerator, denominator = np.where(v > w, a, 1.0 - a) * (v != w), (v != w).astype(np.float64)
        elif measure == VOTES:
            numerator, denominator = v * a + w * (1.0 - a), v + w
        else:
            numerator, denominator = np.maximum(v, w), v + w
        n_anchors = len(self.anchors)
        parts = (np.bincount(self.anchor, part, n_anchors).astype(np.float64) for part in (numerator, denominator))
        return QuerySums(*parts)

    def value(self, measure: str = MAJORITY) -> float:
        return self.sums(measure).value()


def mean_item_vectors(vectors: NDArray[np.floating[Any]], items: Sequence[str]) -> MeanItemVectors:
    """The mean over each item's images of their unit vectors, at unit length; `items` names the item of each row."""
    unit = as_unit(vectors)
    if len(unit) != len(items):
        raise LikewiseError(f"there are {len(unit)} vectors but {len(items)} item names.")
    names, which = np.unique(np.asarray(items, dtype=np.str_), return_inverse=True)
    total = np.zeros((len(names), unit.shape[1]))
    np.add.at(total, which, unit)
    return MeanItemVectors(names.tolist(), as_unit(total / np.bincount(which)[:, None]))


def triplet_agreement(triplets: pl.DataFrame, items: MeanItemVectors) -> TripletAgreement:
    """Compare one encoder with people; triplets (`read_triplets`) of items it has no vector for are left out."""
    row_of = {item: row for row, item in enumerate(items.items)}
    rows = {role: np.array([row_of.get(item, -1) for item in triplets[role]], np.int64) for role in ROLES}
    used = np.flatnonzero(np.min(list(rows.values()), axis=0) >= 0) if len(triplets) else np.empty(0, np.int64)
    if not len(used):
        known = ", ".join(items.items[:3])
        raise LikewiseError(
            f"none of the {len(triplets)} triplets is about items that have vectors ({known}, …): "
            "use the item names of the catalog."
        )
    anchor, close, far = (rows[role][used] for role in ROLES)
    gap = pair_scores(items.vectors, items.vectors, anchor, close) - pair_scores(
        items.vectors, items.vectors, anchor, far
    )
    anchors, place = np.unique(triplets["anchor"].to_numpy().astype(np.str_), return_inverse=True)
    return TripletAgreement(
        anchors=anchors.tolist(),
        anchor=place[used],
        choice=(np.sign(gap) + 1.0) / 2.0,
        votes_close=triplets["votes_close"].to_numpy().astype(np.float64)[used],
        votes_far=triplets["votes_far"].to_numpy().astype(np.float64)[used],
        n_triplets_total=len(triplets),
    )


def triplet_agreement_table(measured: Mapping[str, TripletAgreement]) -> pl.DataFrame:
    """One row per encoder and measure, with an interval over anchors."""
    if len({tuple(one.anchors) for one in measured.values()}) > 1:
        raise LikewiseError("encoders can only be compared on the same triplets.")
    rows = []
    for encoder, one in measured.items():
        for measure in (MAJORITY, VOTES, CEILING):
            sums = one.sums(measure)
            counted = sums.n_defined, len(one.anchors), one.n_triplets(measure), one.n_triplets_total
            rows.append((encoder, measure, sums.value(), *interval_of(sums), *counted))
    table = pl.DataFrame(rows, schema=AGREEMENT_SCHEMA, orient="row")
    return table.with_columns(pl.col("value", "low", "high").fill_nan(None))
