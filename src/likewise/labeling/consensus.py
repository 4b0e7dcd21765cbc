"""Several experts' votes become one label per pair.

`majority` is the rule of the EDS paper (sec. 3: every expert sees every pair; a tie is negative); `exclude` leaves
tied pairs unlabelled; `dawid-skene` weighs experts by how reliable they prove to be (`dawid_skene.py`).
"cannot tell" is an abstention under every rule, and a pair nobody answered has no label.

Where experts gave grades (exact 3, similar 2, substitute 1, different 0), the label has one too: under `majority` and
`exclude` the median, of two middle grades the lower one, which is at least 2 exactly where the majority says similar
or more (a tie is negative); under `mean` the mean, and the label is similar from 2 up. `mean` over yes and no gives the
share of votes for similar as the grade, and majority's label. `dawid-skene` knows yes and no only.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.labeling.dawid_skene import dawid_skene
from likewise.labeling.grades import (
    GRADE,
    SIMILAR_GRADES,
    SIMILAR_SHARES,
    GradeThreshold,
    has_graded_answers,
    with_grades,
)
from likewise.labeling.votes import CANNOT_TELL, NEGATIVE_ANSWERS, PAIR, POSITIVE_ANSWERS, tidy_votes

Rule = Literal["majority", "exclude", "dawid-skene", "mean"]
TIES = {  # what becomes of as many votes for as against, as people are told everywhere
    "majority": "counted as not similar",
    "exclude": "left without a label",
    "mean": "counted as not similar",
    "dawid-skene": "decided by the more reliable experts",
}
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
    """`labels`: query, candidate, label (0 or 1), similar, not_similar, cannot_tell (counts), probability; `grade`
    after the label where there are grades, and `threshold` says which of them are similar."""

    labels: pl.DataFrame
    summary: ConsensusSummary
    threshold: GradeThreshold | None = None


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
    graded = has_graded_answers(votes)
    if rule == "dawid-skene":
        if graded:
            raise LikewiseError(
                "dawid-skene weighs yes and no, and these votes are graded: use the rule majority, exclude or mean."
            )
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
    threshold = None
    if graded:
        labels, threshold = _add_grades(labels, votes, mean=rule == "mean"), SIMILAR_GRADES
    elif rule == "mean":
        labels, threshold = labels.insert_column(3, labels["probability"].alias(GRADE)), SIMILAR_SHARES
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
    return Consensus(labels, summary, threshold)


def _add_grades(labels: pl.DataFrame, votes: pl.DataFrame, *, mean: bool) -> pl.DataFrame:
    """Labels with the median of their grades, the lower one of two; or with the mean, which then decides the label."""
    grade = pl.col(GRADE).mean() if mean else pl.col(GRADE).quantile(0.5, "lower")
    grades = with_grades(votes).group_by(PAIR).agg(grade.cast(pl.Float64))
    labels = labels.join(grades, on=PAIR, how="left", validate="1:1", maintain_order="left")
    if mean:
        labels = labels.with_columns(label=(pl.col(GRADE) >= SIMILAR_GRADES.similar_from).cast(pl.Int8))
    return labels.select(*PAIR, "label", GRADE, *labels.columns[3:-1])


def count_answers(votes: pl.DataFrame) -> pl.DataFrame:
    """One row per pair with how many experts found it similar (or exact), not so, or could not tell; sorted by pair."""
    counts = {"similar": POSITIVE_ANSWERS, "not_similar": NEGATIVE_ANSWERS, "cannot_tell": (CANNOT_TELL,)}
    return (
        votes.group_by(PAIR)
        .agg(pl.col("answer").is_in(answers).sum().cast(pl.Int64).alias(name) for name, answers in counts.items())
        .sort(PAIR)
    )
