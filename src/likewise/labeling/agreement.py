"""Do the experts agree, and who stands apart?

Fleiss' kappa (Psychological Bulletin 76, 1971) over pairs that every expert answered:
    kappa = (P - Pe) / (1 - Pe),  P = mean share of agreeing pairs of experts,  Pe = p_similar^2 + p_not^2.
Krippendorff's alpha (nominal) over pairs with two answers or more, n answers in all:
    alpha = 1 - (n - 1) * sum_u s_u * d_u / (m_u - 1) / (s * d),
    s_u, d_u, m_u: similar, not similar and all answers to pair u; s, d: their sums over those pairs.
Grades count as similar or not here; `graded_agreement.py` weighs how far they lie apart.
"cannot tell" is a missing answer. What cannot be computed is None, with the reason.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl

from likewise.labeling.agreement_coefficient import (
    NO_SHARED_PAIR,
    ONE_ANSWER,
    AgreementCoefficient,
    Floats,
    coefficient_of,
)
from likewise.labeling.consensus import count_answers
from likewise.labeling.graded_agreement import GradedAgreement, graded_agreement
from likewise.labeling.grades import has_graded_answers
from likewise.labeling.votes import CANNOT_TELL, PAIR, POSITIVE_ANSWERS, tidy_votes


@dataclass(frozen=True)
class ExpertAgreement:
    """One expert beside the others."""

    expert: str
    n_votes: int  # abstentions among them
    n_abstentions: int
    positive_share: float | None  # of the answers given
    agreement: AgreementCoefficient  # with the majority of the others' answers
    n_ties: int  # pairs left out of it because the others were split evenly


@dataclass(frozen=True)
class RandomPairsAgreement:
    """Agreement on pairs that were only drawn at random: nearly all are plainly not similar."""

    n_pairs: int
    fleiss_kappa: AgreementCoefficient
    krippendorff_alpha: AgreementCoefficient


@dataclass(frozen=True)
class InterAnnotatorAgreement:
    """How far experts agree. The coefficients and `experts` are of the pool's pairs; random ones are apart."""

    n_experts: int
    n_pairs: int  # all pairs with votes
    n_votes: int
    fleiss_kappa: AgreementCoefficient
    krippendorff_alpha: AgreementCoefficient
    experts: list[ExpertAgreement]
    random: RandomPairsAgreement | None = None  # None where no random pair has a vote
    graded: GradedAgreement | None = None  # of the pool's pairs; None where answers are yes and no

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def agreement(votes: pl.DataFrame, random: pl.DataFrame | None = None) -> InterAnnotatorAgreement:
    """How well the experts agree, overall and one by one (sorted by name).

    `random` are the pairs (query, candidate) that were only drawn at random. Easy pairs move both coefficients, so they
    are not mixed with those of the pool.
    """
    votes = tidy_votes(votes)
    experts = votes["expert"].unique().sort().to_list()
    random_votes = votes.clear() if random is None else votes.join(random, on=PAIR, how="semi")
    pooled = votes if random is None else votes.join(random, on=PAIR, how="anti")
    pairs, drawn = count_answers(pooled), count_answers(random_votes)
    return InterAnnotatorAgreement(
        n_experts=len(experts),
        n_pairs=pairs.height + drawn.height,
        n_votes=votes.height,
        fleiss_kappa=fleiss_kappa(pairs, len(experts)),
        krippendorff_alpha=krippendorff_alpha(pairs),
        experts=[_one_expert(pooled, pairs, expert) for expert in experts],
        random=_of_random_pairs(drawn, len(experts)) if drawn.height else None,
        graded=graded_agreement(pooled) if has_graded_answers(votes) else None,
    )


def _of_random_pairs(pairs: pl.DataFrame, n_experts: int) -> RandomPairsAgreement:
    return RandomPairsAgreement(
        pairs.height,
        fleiss_kappa(pairs, n_experts),
        krippendorff_alpha(pairs),
    )


def fleiss_kappa(pairs: pl.DataFrame, n_experts: int) -> AgreementCoefficient:
    """Kappa over the pairs (query, similar, not_similar: counts of answers) that all experts answered."""
    if n_experts < 2:
        return AgreementCoefficient(None, 0, "agreement needs two experts")
    complete = pairs.filter(pl.col("similar") + pl.col("not_similar") == n_experts)
    if complete.is_empty():
        return AgreementCoefficient(None, 0, "no pair was answered by every expert")
    s, d = (complete[name].to_numpy().astype(np.float64) for name in ("similar", "not_similar"))
    agreeing = (s * (s - 1) + d * (d - 1)) / (n_experts * (n_experts - 1))

    def kappa(n_pairs: Floats, n_similar: Floats, observed: Floats) -> Floats:
        p_similar = n_similar / (n_pairs * n_experts)
        by_chance = p_similar**2 + (1.0 - p_similar) ** 2
        return np.asarray((observed / n_pairs - by_chance) / (1.0 - by_chance))

    return _coefficient(complete, np.column_stack([np.ones(len(s)), s, agreeing]), kappa)


def krippendorff_alpha(pairs: pl.DataFrame) -> AgreementCoefficient:
    """Nominal alpha over the pairs (query, similar, not_similar: counts of answers) with two answers or more."""
    pairable = pairs.filter(pl.col("similar") + pl.col("not_similar") >= 2)
    if pairable.is_empty():
        return AgreementCoefficient(None, 0, NO_SHARED_PAIR)
    s, d = (pairable[name].to_numpy().astype(np.float64) for name in ("similar", "not_similar"))

    def alpha(n_similar: Floats, n_not: Floats, disagreement: Floats) -> Floats:
        return np.asarray(1.0 - (n_similar + n_not - 1.0) * disagreement / (n_similar * n_not))

    return _coefficient(pairable, np.column_stack([s, d, s * d / (s + d - 1)]), alpha)


def _coefficient(pairs: pl.DataFrame, sums: Floats, formula: Callable[..., Floats]) -> AgreementCoefficient:
    """A formula of sums over pairs, undefined where all answers are the same."""
    if not pairs["similar"].sum() or not pairs["not_similar"].sum():
        return AgreementCoefficient(None, len(pairs), ONE_ANSWER)
    return coefficient_of(pairs["query"].to_numpy(), sums, formula)


def _one_expert(votes: pl.DataFrame, pairs: pl.DataFrame, expert: str) -> ExpertAgreement:
    own = votes.filter(pl.col("expert") == expert)
    given = own.filter(pl.col("answer") != CANNOT_TELL).select(*PAIR, own=pl.col("answer").is_in(POSITIVE_ANSWERS))
    others = given.join(pairs, on=PAIR).with_columns(
        lead=(pl.col("similar") - pl.col("own")) - (pl.col("not_similar") - ~pl.col("own")),
        n_others=pl.col("similar") + pl.col("not_similar") - 1,
    )
    others = others.filter(pl.col("n_others") > 0)
    decided = others.filter(pl.col("lead") != 0)
    if decided.height:
        same = int(((decided["lead"] > 0) == decided["own"]).sum())
        measure = AgreementCoefficient(same / decided.height, decided.height)
    elif others.height:
        measure = AgreementCoefficient(None, 0, "the other experts are split evenly on every pair")
    else:
        measure = AgreementCoefficient(None, 0, "nobody else answered these pairs")
    return ExpertAgreement(
        expert=expert,
        n_votes=own.height,
        n_abstentions=own.height - given.height,
        positive_share=int(given["own"].sum()) / given.height if given.height else None,
        agreement=measure,
        n_ties=others.height - decided.height,
    )
