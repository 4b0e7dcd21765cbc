"""Values over outfits and folds, with intervals that respect both: the wider of those over outfits and over folds.

Outfits of one fold share items and one trained model, so they are not independent: the interval over folds counts each
fold as one. It has few degrees of freedom, and where folds happen to agree it would be too narrow; then the one over
outfits stands.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import interval_of, share_interval, standard_error, t_interval

VALUE_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "fold": pl.Int64(),
        "measure": pl.String(),
        "outfit": pl.String(),
        "value": pl.Float64(),
        "chance": pl.Float64(),
    }
)
SUMMARY_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "measure": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "chance": pl.Float64(),
        "n_outfits": pl.Int64(),
        "n_folds": pl.Int64(),
    }
)
COMPARISON_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "baseline": pl.String(),
        "measure": pl.String(),
        "difference": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "apart": pl.Boolean(),
    }
)
Floats = NDArray[np.float64]


def summarize(values: pl.DataFrame) -> pl.DataFrame:
    """One row per model and measure."""
    rows = []
    for (model, measure), part in values.group_by("model", "measure", maintain_order=True):
        value, low, high = mean_over_folds(part["value"].to_numpy(), part["fold"].to_numpy())
        rows.append((model, measure, value, low, high, part["chance"].mean(), len(part), part["fold"].n_unique()))
    return pl.DataFrame(rows, schema=SUMMARY_SCHEMA, orient="row")


def mean_over_folds(values: Floats, folds: NDArray[np.int64]) -> tuple[float, float, float]:
    """The mean over outfits, with the wider of the two intervals."""
    by_outfit = QuerySums.mean_of(values)
    numbers = np.unique(folds)
    sums = QuerySums(
        np.array([values[folds == fold].sum() for fold in numbers]),
        np.array([float((folds == fold).sum()) for fold in numbers]),
    )
    value = by_outfit.value()
    outfits = interval_of(by_outfit)
    if len(numbers) < 2:
        return value, *outfits
    error = standard_error(value, sums.jackknife(), len(numbers))
    over = share_interval if by_outfit.is_share else t_interval
    over_folds = over(value, error, len(numbers))
    low, high = max((outfits, over_folds), key=lambda each: each[1] - each[0])
    return value, low, high


def compare_with(values: pl.DataFrame, baselines: list[str]) -> pl.DataFrame:
    """Every other model minus each baseline, outfit by outfit; `apart` where the two models' own intervals are."""
    summary = {(row["model"], row["measure"]): row for row in summarize(values).iter_rows(named=True)}
    models = [name for name in values["model"].unique(maintain_order=True) if name not in baselines]
    rows = []
    for measure in values["measure"].unique(maintain_order=True):
        mine = values.filter(pl.col("measure") == measure)
        for baseline in baselines:
            base = mine.filter(pl.col("model") == baseline).select("fold", "outfit", pl.col("value").alias("base"))
            if base.is_empty():
                continue
            for model in models:
                paired = mine.filter(pl.col("model") == model).join(base, on=["fold", "outfit"], maintain_order="left")
                gain = (paired["value"] - paired["base"]).to_numpy()
                apart = summary[model, measure]["low"] > summary[baseline, measure]["high"]
                rows.append((model, baseline, measure, *mean_over_folds(gain, paired["fold"].to_numpy()), apart))
    return pl.DataFrame(rows, schema=COMPARISON_SCHEMA, orient="row")
