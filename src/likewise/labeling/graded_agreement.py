"""Do experts who give grades agree? Being one grade apart is a smaller disagreement than being three apart.

Krippendorff's alpha for ordinal data (Content Analysis, 4th ed., ch. 12), over pairs with two grades or more:
    alpha = 1 - (n - 1) sum_cg o_cg d_cg / sum_cg n_c n_g d_cg,  d_cg = (n_c / 2 + n_between + n_g / 2)^2,
    o_cg: coincidences of the grades c and g; n_c: how often c was given; n: all grades given.
Cohen's kappa with quadratic weights (Psychological Bulletin 70, 1968) of two experts on the pairs both graded:
    kappa = 1 - sum_cg (c - g)^2 p_cg / sum_cg (c - g)^2 p_c p_g;  of several experts, the mean over twos (Light 1971).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from likewise.labeling.agreement_coefficient import (
    NO_SHARED_PAIR,
    ONE_ANSWER,
    AgreementCoefficient,
    Floats,
    coefficient_of,
)
from likewise.labeling.grades import GRADE, HIGHEST_GRADE, with_grades
from likewise.labeling.votes import PAIR

N_GRADES = HIGHEST_GRADE + 1


@dataclass(frozen=True)
class GradedAgreement:
    """Agreement that weighs how far grades lie apart."""

    ordinal_alpha: AgreementCoefficient
    weighted_kappa: AgreementCoefficient


def graded_agreement(votes: pl.DataFrame) -> GradedAgreement:
    """Of tidy votes with graded answers."""
    given = with_grades(votes)
    return GradedAgreement(ordinal_alpha(given), weighted_kappa(given))


def ordinal_alpha(given: pl.DataFrame) -> AgreementCoefficient:
    """Krippendorff's ordinal alpha of votes with grades, with its interval over queries."""
    counts = (
        given.group_by(PAIR)
        .agg((pl.col(GRADE) == grade).sum().cast(pl.Float64).alias(str(grade)) for grade in range(N_GRADES))
        .sort(PAIR)
    )
    table = counts.drop(PAIR).to_numpy()
    several = table.sum(axis=1) >= 2
    table, queries = table[several], counts["query"].to_numpy()[several]
    if not len(table):
        return AgreementCoefficient(None, 0, NO_SHARED_PAIR)
    if (table.sum(axis=0) > 0).sum() < 2:
        return AgreementCoefficient(None, len(table), ONE_ANSWER)
    together = table[:, :, None] * table[:, None, :] - table[:, :, None] * np.eye(N_GRADES)
    coincidences = (together / (table.sum(axis=1) - 1.0)[:, None, None]).reshape(len(table), -1)
    return coefficient_of(queries, coincidences, _alpha_of)


def _alpha_of(*coincidences: Floats) -> Floats:
    """Alpha of the coincidence matrix, given entry by entry; each may be an array, one value per jackknife."""
    matrix = np.stack([np.asarray(entry, np.float64) for entry in coincidences], axis=-1)
    matrix = matrix.reshape(*matrix.shape[:-1], N_GRADES, N_GRADES)
    given = matrix.sum(axis=-1)
    below = np.cumsum(given, axis=-1) - given / 2.0  # the middle of each grade, in numbers of answers
    distance = (below[..., :, None] - below[..., None, :]) ** 2
    observed = (matrix * distance).sum(axis=(-2, -1))
    expected = (given[..., :, None] * given[..., None, :] * distance).sum(axis=(-2, -1))
    return np.asarray(1.0 - (given.sum(axis=-1) - 1.0) * observed / expected)


def weighted_kappa(given: pl.DataFrame) -> AgreementCoefficient:
    """The mean over all two experts of Cohen's kappa with quadratic weights; over how many pairs it rests."""
    by_expert = {
        str(name): part.drop("expert")
        for (name,), part in given.select(*PAIR, "expert", GRADE).partition_by("expert", as_dict=True).items()
    }
    values, shared = [], []
    for first, second in combinations(sorted(by_expert), 2):
        both = by_expert[first].join(by_expert[second], on=PAIR)
        kappa = quadratic_kappa(both[GRADE].to_numpy(), both[f"{GRADE}_right"].to_numpy()) if len(both) else None
        shared.append(both.select(PAIR))
        if kappa is not None:
            values.append(kappa)
    n_pairs = pl.concat(shared).unique().height if shared else 0
    if not values:
        return AgreementCoefficient(None, n_pairs, ONE_ANSWER if n_pairs else NO_SHARED_PAIR)
    return AgreementCoefficient(float(np.mean(values)), n_pairs)


def quadratic_kappa(first: Floats, second: Floats) -> float | None:
    """Of two experts' grades of the same pairs; None where chance alone explains them."""
    expected = float(np.mean((first[:, None] - second[None, :]) ** 2.0))
    return 1.0 - float(np.mean((first - second) ** 2.0)) / expected if expected else None
