"""How rare similar pairs are, and what the pool saves (VSD, sec. 3.1-3.3).

p_LB = positives found / |A| bounds the prevalence p from below. With a positives among b random pairs, a uniform
prior on (p_LB, 1) and a binomial likelihood, the most probable value is p_hat = max(p_LB, a/b). Chebyshev:
P(|p_hat - p| >= eps) <= p(1-p)/(b eps^2); for p < eps, b = 1/(eps q) pairs bound that probability by q. That holds for
the true p; the paper's +- puts p_hat in its place, and is too small where few or no random pairs are similar. So the
exact interval of a of b (Clopper-Pearson, not below p_LB) stands beside it, and the gain p_k / p has its ends from it.
"""

from dataclasses import asdict, dataclass
from math import ceil, sqrt

import polars as pl

from likewise.discovery.pool import RANDOM, pairs_to_label, pool_pairs
from likewise.discovery.unit import PairCounter, Unit
from likewise.errors import LikewiseError
from likewise.intervals import CONFIDENCE, clopper_pearson

SECONDS_PER_PAIR = 15.0  # the paper's assumption
MIN_LABELLED_SHARE = 0.9  # of the random pairs, before their labels count as a random sample


@dataclass(frozen=True)
class Prevalence:
    """Counts, estimates and costs; `None` where the labels needed are not there yet.

    All pairs are counted in one unit. `n_questions` is what an expert answers: every image shown, random pairs too.
    """

    unit: Unit
    n_all_pairs: int
    n_pool_pairs: int
    n_labelled: int
    n_positive: int
    n_random: int
    n_random_positive: int
    n_questions: int
    seconds_per_pair: float
    pool_share: float
    p_pool: float | None
    p_lower_bound: float | None
    p_estimate: float | None
    p_low: float | None
    p_high: float | None
    chebyshev_95: float | None  # the paper's +-, with p_hat in place of p
    gain_over_random: float | None
    gain_low: float | None
    gain_high: float | None
    speed_up: float
    hours_pool: float
    hours_brute_force: float
    n_random_drawn: int = 0
    """Random pairs there are to label; `n_random` is 0 where too few of them have a label to be a random sample."""

    def to_dict(self) -> dict[str, float | int | None]:
        return asdict(self)


def lower_bound(n_positive: int, n_all_pairs: int) -> float:
    """p_LB: what has been found is certainly there."""
    return n_positive / n_all_pairs


def map_estimate(p_lower_bound: float, n_random_positive: int, n_random: int) -> float:
    """p_hat of Eq. 2; without random pairs only the lower bound is known."""
    return max(p_lower_bound, n_random_positive / n_random) if n_random else p_lower_bound


def chebyshev_error(p: float, n_random: int, probability: float) -> float:
    """The error that the estimate exceeds with at most this probability: Eq. 3, p (1 - p) / (b eps^2), for eps."""
    return sqrt(p * (1.0 - p) / (n_random * probability))


def random_pairs_needed(error: float, probability: float) -> int:
    """b = 1/(eps q): enough random pairs for an error under eps except with probability q, when p < eps."""
    if not 0 < error < 1 or not 0 < probability < 1:
        raise LikewiseError(f"error ({error}) and probability ({probability}) must lie between 0 and 1.")
    return ceil(round(1.0 / (error * probability), 9))


def bounded_error(n_random: int, probability: float = 1.0 - CONFIDENCE) -> float | None:
    """The eps that so many random pairs are enough for; None where they bound no error below 1."""
    error = 1.0 / (n_random * probability) if n_random else 1.0
    return error if error < 1.0 else None


def exact_interval(n_random_positive: int, n_random: int, p_lower_bound: float) -> tuple[float, float]:
    """Clopper-Pearson's interval of the prevalence, which is not below what has been found."""
    low, high = clopper_pearson(n_random_positive, n_random)
    return max(low, p_lower_bound), max(high, p_lower_bound)


def prevalence(
    pool: pl.DataFrame,
    labels: pl.DataFrame | None,
    counter: PairCounter,
    seconds_per_pair: float = SECONDS_PER_PAIR,
) -> Prevalence:
    """Everything sec. 3 computes, from the pool and the labels there are so far."""
    n_all_pairs = counter.n_all_pairs
    candidates = pool_pairs(pool).select("query", "candidate")
    random = pool.filter(pl.col("generator") == RANDOM).select("query", "candidate")
    n_pool = len(counter.distinct(candidates))
    n_labelled = n_positive = n_random = n_random_positive = 0
    if labels is not None:
        judged, judged_random = (
            counter.distinct(pairs.join(labels, on=["query", "candidate"]))["label"] for pairs in (candidates, random)
        )
        n_labelled, n_positive = len(judged), int(judged.sum())
        n_random, n_random_positive = len(judged_random), int(judged_random.sum())
    n_random_drawn = len(random)
    if n_random < MIN_LABELLED_SHARE * n_random_drawn:
        n_random = n_random_positive = 0  # labelled because they are candidates too, say: no random sample any more
    p_pool = n_positive / n_labelled if n_labelled else None
    bound = lower_bound(n_positive, n_all_pairs) if n_labelled else None
    estimate = map_estimate(bound, n_random_positive, n_random) if bound is not None and n_random else None
    low, high = exact_interval(n_random_positive, n_random, bound or 0.0) if estimate is not None else (None, None)
    n_asked = len(pairs_to_label(pool))
    return Prevalence(
        unit=counter.unit,
        n_all_pairs=n_all_pairs,
        n_pool_pairs=n_pool,
        n_labelled=n_labelled,
        n_positive=n_positive,
        n_random=n_random,
        n_random_positive=n_random_positive,
        n_questions=n_asked,
        seconds_per_pair=seconds_per_pair,
        pool_share=n_pool / n_all_pairs,
        p_pool=p_pool,
        p_lower_bound=bound,
        p_estimate=estimate,
        p_low=low,
        p_high=high,
        chebyshev_95=chebyshev_error(estimate, n_random, 1.0 - CONFIDENCE) if estimate is not None else None,
        gain_over_random=p_pool / estimate if p_pool is not None and estimate else None,
        gain_low=p_pool / high if p_pool is not None and high else None,
        gain_high=p_pool / low if p_pool is not None and low else None,
        speed_up=n_all_pairs / n_asked,
        hours_pool=n_asked * seconds_per_pair / 3600.0,
        hours_brute_force=n_all_pairs * seconds_per_pair / 3600.0,
        n_random_drawn=n_random_drawn,
    )
