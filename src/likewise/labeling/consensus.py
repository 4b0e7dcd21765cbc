"""Several experts' votes become one label per pair.

`majority` is the rule of the EDS paper (sec. 3: every expert sees every pair; a tie is negative); `exclude` leaves
tied pairs unlabelled; `dawid-skene` weighs experts by how reliable they prove to be (`dawid_skene.py`).
"cannot tell" is an abstention under every rule, and a pair nobody answered has no label.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.labeling.dawid_skene import dawid_skene
from likewise.labeling.votes import CANNOT_TELL, NOT_SIMILAR, PAIR, SIMILAR, tidy_votes

Rule = Literal["majority", "exclude", "dawid-skene"]
PROBABILITY_DIGITS = 9  # a tie between equally good experts must be 0.5, not 0.5 plus a rounding error


@dataclass(frozen=True)
class ConsensusSummary:
    """What a set of labels rests on. `n_ties` counts pairs with as many votes for as against, whatever the rule."""

    rule: Rule
    n_pairs: int
    n_labelled: int
    n_similar: int
    n_ties: int
    n_unanswered: int
    iterations: int | None = None  # of Dawid–Skene
    converged: bool | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Consensus:
    """`labels`: query, candidate, label (0 or 1), similar, not_similar, cannot_tell (counts), probability."""

    labels: pl.DataFrame
    summary: ConsensusSummary


def consensus(votes: pl.DataFrame, rule: Rule = "majority") -> Consensus:
    """One label per answered pair, sorted by (query, candidate); the order of the votes does not matter."""
    if rule not in get_args(Rule):
        raise LikewiseError(f"there is no consensus rule {rule!r}: use {', '.join(get_args(Rule))}.")
    votes = tidy_votes(votes)
    pairs = count_answers(votes)
    answered = pairs.filter(pl.col("similar") + pl.col("not_similar") > 0)
    tied = pl.col("similar") == pl.col("not_similar")
    share = pl.col("similar") / (pl.col("similar") + pl.col("not_similar"))
    iterations, converged = None, None
    if rule == "dawid-skene":
        fitted = dawid_skene(votes)
        iterations, converged = fitted.iterations, fitted.converged
        posterior = fitted.pairs.with_columns(pl.col("probability").round(PROBABILITY_DIGITS))
        labels = answered.join(posterior, on=PAIR, how="left", validate="1:1", maintain_order="left")
        positive = pl.col("probability") > 0.5
    else:
        labels = answered.filter(~tied) if rule == "exclude" else answered
        labels = labels.with_columns(probability=share)
        positive = pl.col("similar") > pl.col("not_similar")
    labels = labels.select(
        *PAIR, positive.cast(pl.Int8).alias("label"), "similar", "not_similar", "cannot_tell", "probability"
    )
    summary = ConsensusSummary(
        rule=rule,
        n_pairs=pairs.height,
        n_labelled=labels.height,
        n_similar=int(np.count_nonzero(labels["label"].to_numpy())),
        n_ties=answered.filter(tied).height,
        n_unanswered=pairs.height - answered.height,
        iterations=iterations,
        converged=converged,
    )
    return Consensus(labels, summary)


def count_answers(votes: pl.DataFrame) -> pl.DataFrame:
    """One row per pair with how many experts gave each answer, sorted by pair."""
    counts = {"similar": SIMILAR, "not_similar": NOT_SIMILAR, "cannot_tell": CANNOT_TELL}
    return (
        votes.group_by(PAIR)
        .agg((pl.col("answer") == answer).sum().cast(pl.Int64).alias(name) for name, answer in counts.items())
        .sort(PAIR)
    )
