"""Dawid–Skene consensus: experts are weighed by how reliable they prove to be against each other.

Model (A. P. Dawid and A. M. Skene, Applied Statistics 28, 1979), two classes: pair i is truly similar (z_i = 1)
with probability p_1, and expert e gives answer a with probability t_e[z_i, a], independently. EM alternates

    E:  P(z_i = z | votes) ~ p_z * prod_e t_e[z, a_ie]
    M:  p_z ~ 1 + sum_i P(z_i = z),   t_e[z, a] ~ k[z, a] + sum_{i: a_ie = a} P(z_i = z)

from the share of similar votes. The pseudo-counts (Beta priors on p and on each row of t) say that an expert is more
often right than wrong: 4 right to 1 wrong. With the usual tiny symmetric ones EM explains a small, mostly similar pool
best by calling all of it similar and the experts careless; with ours it is as good as the majority there, and better
where experts differ (30 pairs, 97 % similar, 3 experts: 0.98 of labels right; majority 0.96, symmetric 0.1: 0.78).
EM never decreases the log-likelihood plus the log-prior, which is what `log_posterior` lists.
Abstentions are left out, as missing at random. Fewer than three experts leave the model undetermined (five unknowns,
three observable shares), so they are refused.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.labeling.votes import CANNOT_TELL, PAIR, POSITIVE_ANSWERS, tidy_votes

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MIN_EXPERTS = 3
PSEUDO_COUNTS: Floats = np.array([[4.0, 1.0], [1.0, 4.0]])  # (true class, answer); each class itself gets 1


@dataclass(frozen=True)
class DawidSkene:
    """`pairs`: query, candidate, probability. `experts`: expert, sensitivity, specificity, n_answers."""

    pairs: pl.DataFrame
    experts: pl.DataFrame
    prevalence: float | None  # estimated share of similar pairs; None without any answer
    log_posterior: list[float]  # after each iteration; never decreases
    converged: bool

    @property
    def iterations(self) -> int:
        return len(self.log_posterior)


def dawid_skene(
    votes: pl.DataFrame, smoothing: float = 1.0, max_iterations: int = 2000, tolerance: float = 1e-10
) -> DawidSkene:
    """Fit the model to votes; converged when one iteration gains less than `tolerance` per vote.

    `smoothing` scales the pseudo-counts.
    """
    given = tidy_votes(votes).filter(pl.col("answer") != CANNOT_TELL)
    pairs = given.select(PAIR).unique().sort(PAIR)
    experts = given.select("expert").unique().sort("expert")
    if given.is_empty():
        empty = pl.Series("probability", [], pl.Float64)
        nobody = experts.with_columns(sensitivity=empty, specificity=empty, n_answers=pl.Series([], dtype=pl.Int64))
        return DawidSkene(pairs.with_columns(empty), nobody, None, [], True)
    if experts.height < MIN_EXPERTS:
        raise LikewiseError(
            f"Dawid–Skene needs the answers of {MIN_EXPERTS} experts to tell who is right, these votes have "
            f"{experts.height}: use the rule majority or exclude."
        )

    given = given.join(pairs.with_row_index("pair"), on=PAIR, maintain_order="left")
    given = given.join(experts.with_row_index("number"), on="expert", maintain_order="left")
    pair = given["pair"].cast(pl.Int64).to_numpy()
    expert = given["number"].cast(pl.Int64).to_numpy()
    similar = given["answer"].is_in(POSITIVE_ANSWERS).cast(pl.Int64).to_numpy()

    votes_of_pair = np.bincount(pair, minlength=pairs.height)
    posterior: Floats = np.bincount(pair, weights=similar, minlength=pairs.height) / votes_of_pair
    prior = smoothing * PSEUDO_COUNTS
    objective: list[float] = []
    converged = False
    while not converged and len(objective) < max_iterations:
        class_share, rates = maximization_step(posterior, pair, expert, similar, experts.height, prior)
        joint = log_joint(class_share, rates, pair, expert, similar, pairs.height)
        evidence = np.logaddexp(joint[0], joint[1])
        posterior = np.exp(joint[1] - evidence)
        log_prior = smoothing * np.log(class_share).sum() + np.sum(prior * np.log(rates))
        objective.append(float(evidence.sum() + log_prior))
        converged = len(objective) > 1 and objective[-1] - objective[-2] <= tolerance * given.height

    table = experts.with_columns(
        sensitivity=pl.Series(rates[:, 1, 1]),
        specificity=pl.Series(rates[:, 0, 0]),
        n_answers=pl.Series(np.bincount(expert, minlength=experts.height)),
    )
    return DawidSkene(
        pairs.with_columns(probability=pl.Series(posterior)), table, float(class_share[1]), objective, converged
    )


def maximization_step(
    posterior: Floats, pair: Ints, expert: Ints, similar: Ints, n_experts: int, prior: Floats
) -> tuple[Floats, Floats]:
    """M-step: the class shares (2,) and every expert's confusion (n_experts, true class, answer)."""
    share = prior[0, 1] + np.array([np.sum(1.0 - posterior), np.sum(posterior)])
    cell = 2 * expert + similar  # one number per (expert, answer)
    positive = np.bincount(cell, weights=posterior[pair], minlength=2 * n_experts).reshape(n_experts, 2)
    negative = np.bincount(cell, weights=1.0 - posterior[pair], minlength=2 * n_experts).reshape(n_experts, 2)
    rates = prior + np.stack([negative, positive], axis=1)
    return share / share.sum(), rates / rates.sum(axis=2, keepdims=True)


def log_joint(class_share: Floats, rates: Floats, pair: Ints, expert: Ints, similar: Ints, n_pairs: int) -> Floats:
    """E-step: log P(z_i = z, votes on i) as an array (2, n_pairs)."""
    of_votes = np.log(rates)[expert, :, similar]  # (n_votes, 2): one column per true class
    sums = [np.bincount(pair, weights=of_votes[:, z], minlength=n_pairs) for z in (0, 1)]
    return np.log(class_share)[:, None] + np.stack(sums)
