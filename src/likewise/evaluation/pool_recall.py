"""How many positives did the pool miss? A Horvitz-Thompson estimate from the random pairs.

b pairs drawn uniformly from all |A| each stand for |A| / b pairs; those that are similar and outside the pool
estimate the positives it missed. The interval is exact (Clopper-Pearson) for the share behind it.
"""

from dataclasses import asdict, dataclass

import polars as pl

from likewise.discovery.pool import RANDOM, pool_pairs
from likewise.discovery.prevalence import MIN_LABELLED_SHARE
from likewise.discovery.unit import PairCounter
from likewise.intervals import clopper_pearson


@dataclass(frozen=True)
class PoolRecall:
    """Positives found in the pool, estimated ones outside it, and the share found; None without random pairs."""

    found: int
    n_random: int
    n_random_missed: int
    missed: float | None
    missed_low: float | None
    missed_high: float | None
    recall: float | None
    recall_low: float | None
    recall_high: float | None

    def to_dict(self) -> dict[str, float | int | None]:
        return asdict(self)


def pool_recall(pool: pl.DataFrame, labels: pl.DataFrame, counter: PairCounter, confidence: float = 0.95) -> PoolRecall:
    """From the labels of candidates and of random pairs, counted in the unit that the random ones were drawn in."""
    n_all_pairs = counter.n_all_pairs
    candidates = pool_pairs(pool).select("query", "candidate")
    found = int(counter.distinct(candidates.join(labels, on=["query", "candidate"]))["label"].sum())
    random = pool.filter(pl.col("generator") == RANDOM).select("query", "candidate")
    judged = counter.distinct(random.join(labels, on=["query", "candidate"]))
    outside = judged.join(counter.distinct(candidates), on=["query", "target"], how="anti")
    n_missed = int(outside["label"].sum())
    if judged.is_empty() or len(judged) < MIN_LABELLED_SHARE * len(random):
        return PoolRecall(found, 0, 0, None, None, None, None, None, None)
    low, high = clopper_pearson(n_missed, len(judged), confidence)
    missed = n_missed / len(judged) * n_all_pairs
    missed_high = min(high * n_all_pairs, float(n_all_pairs - found))

    def share(missing: float) -> float | None:
        return found / (found + missing) if found + missing > 0 else None

    return PoolRecall(
        found,
        len(judged),
        n_missed,
        missed,
        low * n_all_pairs,
        missed_high,
        share(missed),
        share(missed_high),
        share(low * n_all_pairs),
    )
