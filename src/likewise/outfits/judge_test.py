"""Does LAT or AAT select better checkpoints than the data's own validation? A test over trainings (A100, Table 4).

One training says little: its epochs are alike, and the test has few questions. Every training with another seed gives
the difference of two judges' choices. If the judges were equally good, each difference could as well have the other
sign, so p is the share of all 2^n sign patterns with a mean as large. The smallest p is 2 / 2^n: with few trainings
none can be significant after Holm's correction, and nothing is tested then.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.differences import ALPHA, holm_correction
from likewise.evaluation.query_sums import Floats
from likewise.outfits.checkpoints import JUDGES

CONFIDENCE, POWER = 0.95, 0.8
MAX_ENUMERATED = 16  # trainings; beyond that, as many patterns are drawn
COMPARISON_SCHEMA = pl.Schema(
    {
        "judge": pl.String(),
        "test": pl.String(),
        "difference": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "p": pl.Float64(),
        "detectable": pl.Float64(),
        "n_trainings": pl.Int64(),
    }
)


@dataclass(frozen=True)
class JudgeComparison:
    """`table`: one row per judge and test, p null where nothing is tested, which takes `n_needed` trainings."""

    table: pl.DataFrame
    n_trainings: int
    n_needed: int

    @property
    def tested(self) -> bool:
        return self.n_trainings >= self.n_needed

    def describe_power(self) -> str:
        """What these trainings can show; said before any result."""
        trainings = "1 training is" if self.n_trainings == 1 else f"{self.n_trainings} trainings are"
        if not self.tested:
            return (
                f"{trainings} too few for a test: no result could have p < {ALPHA} after correction for "
                f"{len(self.table)} comparisons. At least {self.n_needed} trainings with other seeds are needed."
            )
        sizes = self.table["detectable"].to_numpy()
        return (
            f"With {self.n_trainings} trainings and {len(self.table)} comparisons, a true mean difference of "
            f"{100 * sizes.min():.1f} to {100 * sizes.max():.1f} points (it depends on the test) is found with a "
            "probability of 80 %."
        )


def compare_judges(tables: Sequence[pl.DataFrame], against: str = "validation", *, seed: int = 0) -> JudgeComparison:
    """From the tables of several trainings: a judge's choice minus another's, the mean per score of the test."""
    whole = pl.concat([table.with_columns(training=pl.lit(place)) for place, table in enumerate(tables)])
    whole = whole.filter(pl.col("low").is_not_null())  # the data's own validation is no test
    judges = [name for name in JUDGES if name != against and name in whole["judge"].to_list()]
    looks = [(judge, test) for judge in judges for test in whole["test"].unique(maintain_order=True)]
    n_needed = trainings_needed(len(looks))
    tested = len(tables) >= n_needed
    lines: list[tuple[object, ...]] = []
    for judge, test in looks:
        mine, other = (
            whole.filter((pl.col("judge") == name) & (pl.col("test") == test)).sort("training")["value"].to_numpy()
            for name in (judge, against)
        )
        differences = mine - other
        p = sign_flip_p(differences, seed) if tested else float("nan")
        power = detectable_score_difference(differences, ALPHA / len(looks)) if tested else float("nan")
        lines.append((judge, test, float(differences.mean()), *t_ends(differences), p, power, len(differences)))
    table = pl.DataFrame(lines, schema=COMPARISON_SCHEMA, orient="row")
    table = table.with_columns(p_holm=holm_correction(table["p"].to_numpy()))
    return JudgeComparison(table.with_columns(pl.col(pl.Float64).fill_nan(None)), len(tables), n_needed)


def trainings_needed(n_comparisons: int) -> int:
    """The fewest trainings whose smallest p, times the comparisons, is below the level."""
    return next(n for n in count(1) if n_comparisons * 2 / 2**n < ALPHA)


def sign_flip_p(differences: Floats, seed: int = 0) -> float:
    """Two-sided: the share of sign patterns (all of them, or very many) with a mean as far from zero."""
    n = len(differences)
    if n <= MAX_ENUMERATED:
        bits: NDArray[np.int64] = np.arange(2**n)[:, None] >> np.arange(n) & 1
    else:
        bits = np.random.default_rng(seed).integers(0, 2, (2**MAX_ENUMERATED, n))
        bits[0] = 1  # what was observed is one of them
    sums = np.abs((2 * bits - 1) @ differences)
    return float((sums >= abs(float(differences.sum())) - 1e-12).mean())


def t_ends(differences: Floats) -> tuple[float, float]:
    """The interval of the mean over trainings; NaN for a single one."""
    from scipy.stats import t

    n = len(differences)
    if n < 2:
        return float("nan"), float("nan")
    margin = float(t.ppf((1 + CONFIDENCE) / 2, n - 1) * differences.std(ddof=1) / n**0.5)
    return float(differences.mean()) - margin, float(differences.mean()) + margin


def detectable_score_difference(differences: Floats, alpha: float) -> float:
    """The mean difference that is found with a probability of 80 %, by Student's t from the spread over trainings."""
    from scipy.stats import t

    n = len(differences)
    quantiles = t.ppf(1 - alpha / 2, n - 1) + t.ppf(POWER, n - 1)
    return float(quantiles * differences.std(ddof=1) / n**0.5)
