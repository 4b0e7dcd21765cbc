"""Do the experts agree, and who stands apart?

Fleiss' kappa (Psychological Bulletin 76, 1971) over pairs that every expert answered:
    kappa = (P - Pe) / (1 - Pe),  P = mean share of agreeing pairs of experts,  Pe = p_similar^2 + p_not^2.
Krippendorff's alpha (nominal) over pairs with two answers or more, n answers in all:
    alpha = 1 - (n - 1) * sum_u s_u * d_u / (m_u - 1) / (s * d),
    s_u, d_u, m_u: similar, not similar and all answers to pair u; s, d: their sums over those pairs.
"cannot tell" is a missing answer. What cannot be computed is None, with the reason.
"""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.labeling.consensus import count_answers
from likewise.labeling.votes import CANNOT_TELL, PAIR, SIMILAR, tidy_votes

Ints = NDArray[np.int64]

NO_SHARED_PAIR = "no pair has answers of two experts"
ONE_ANSWER = "every answer is the same, so agreement by chance is certain"


@dataclass(frozen=True)
class AgreementCoefficient:
    """A number and how many pairs it rests on, or None and why there is none."""

    value: float | None
    n_pairs: int
    reason: str | None = None


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
class InterAnnotatorAgreement:
    n_experts: int
    n_pairs: int
    n_votes: int
    fleiss_kappa: AgreementCoefficient
    krippendorff_alpha: AgreementCoefficient
    experts: list[ExpertAgreement]

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def agreement(votes: pl.DataFrame) -> InterAnnotatorAgreement:
    """How well the experts agree, overall and one by one (sorted by name)."""
    votes = tidy_votes(votes)
    pairs = count_answers(votes)
    similar = pairs["similar"].to_numpy()
    not_similar = pairs["not_similar"].to_numpy()
    experts = votes["expert"].unique().sort().to_list()
    return InterAnnotatorAgreement(
        n_experts=len(experts),
        n_pairs=pairs.height,
        n_votes=votes.height,
        fleiss_kappa=fleiss_kappa(similar, not_similar, len(experts)),
        krippendorff_alpha=krippendorff_alpha(similar, not_similar),
        experts=[_one_expert(votes, pairs, expert) for expert in experts],
    )


def fleiss_kappa(similar: Ints, not_similar: Ints, n_experts: int) -> AgreementCoefficient:
    """Kappa over the pairs that all experts answered, from the counts of the two answers."""
    if n_experts < 2:
        return AgreementCoefficient(None, 0, "agreement needs two experts")
    complete = similar + not_similar == n_experts
    n_pairs = int(complete.sum())
    if not n_pairs:
        return AgreementCoefficient(None, 0, "no pair was answered by every expert")
    s, d = similar[complete], not_similar[complete]
    p_similar = float(s.sum()) / (n_pairs * n_experts)
    by_chance = p_similar**2 + (1.0 - p_similar) ** 2
    if s.sum() in (0, n_pairs * n_experts):
        return AgreementCoefficient(None, n_pairs, ONE_ANSWER)
    observed = float(np.mean((s * (s - 1) + d * (d - 1)) / (n_experts * (n_experts - 1))))
    return AgreementCoefficient((observed - by_chance) / (1.0 - by_chance), n_pairs)


def krippendorff_alpha(similar: Ints, not_similar: Ints) -> AgreementCoefficient:
    """Nominal alpha over the pairs with two answers or more, from the counts of the two answers."""
    pairable = similar + not_similar >= 2
    n_pairs = int(pairable.sum())
    if not n_pairs:
        return AgreementCoefficient(None, 0, NO_SHARED_PAIR)
    s, d = similar[pairable], not_similar[pairable]
    if not s.sum() or not d.sum():
        return AgreementCoefficient(None, n_pairs, ONE_ANSWER)
    n_answers = float(s.sum() + d.sum())
    disagreement = float(np.sum(s * d / (s + d - 1)))
    return AgreementCoefficient(1.0 - (n_answers - 1.0) * disagreement / (float(s.sum()) * float(d.sum())), n_pairs)


def _one_expert(votes: pl.DataFrame, pairs: pl.DataFrame, expert: str) -> ExpertAgreement:
    own = votes.filter(pl.col("expert") == expert)
    given = own.filter(pl.col("answer") != CANNOT_TELL).select(*PAIR, own=pl.col("answer") == SIMILAR)
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
