"""From reruns to tables: means with 95 % t-intervals over the reruns, as in the paper's Tables 3 to 5.

A rerun is one number, so the interval of a mean over n reruns is mean +- t(0.975, n - 1) s / sqrt(n).  It says how far
reruns differ on these test classes; whether two methods differ is the business of `differences.py`.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from likewise.evaluation.query_sums import Floats
from likewise.training.final_evaluation import EMBEDDINGS, MEASURES
from likewise.training.hyperparameter_search import Trial
from likewise.training.runs import RunFolder, read_run_table

ACCURACY_SCHEMA = pl.Schema(
    {
        "method": pl.String,
        "embedding": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "n_reruns": pl.Int64,
        "n_queries": pl.Int64,
        "n_queries_total": pl.Int64,
    }
)


def read_reruns(run: RunFolder, method: str, n_reruns: int) -> pl.DataFrame | None:
    """Test values per query of all reruns of a method that gave some; None where every one failed."""
    tables = []
    for rerun in run.finished_reruns(method, n_reruns):
        table = read_run_table(run.rerun_file(method, rerun), "likewise train check")
        tables.append(table.with_columns(pl.lit(rerun, pl.Int64).alias("rerun")))
    return pl.concat(tables) if tables else None


def accuracy_table(reruns: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row per method, embedding and measure; a method measured once has no interval."""
    rows = []
    for method, table in reruns.items():
        for embedding in EMBEDDINGS:
            here = table.filter(pl.col("embedding") == embedding)
            for measure in MEASURES:
                means = here.group_by("rerun").agg(pl.col(measure).mean()).sort("rerun")[measure].to_numpy()
                first = here.filter(pl.col("rerun") == here["rerun"][0])[measure]
                counts = len(means), len(first) - first.null_count(), len(first)
                rows.append((method, embedding, measure, float(means.mean()), *t_interval(means), *counts))
    return pl.DataFrame(rows, schema=ACCURACY_SCHEMA, orient="row")


def t_interval(values: Floats, confidence: float = 0.95) -> tuple[float | None, float | None]:
    """Of the mean; None for a single value."""
    from scipy.stats import t

    n = len(values)
    if n < 2:
        return None, None
    margin = float(t.ppf(0.5 + confidence / 2, n - 1) * values.std(ddof=1) / np.sqrt(n))
    return float(values.mean()) - margin, float(values.mean()) + margin


def trial_table(trials: Sequence[Trial]) -> pl.DataFrame:
    """One row per trial and hyper-parameter, so that every method fits in one table."""
    rows = [
        {
            "method": trial.method,
            "trial": trial.index,
            "parameter": name,
            "value": value,
            "map_at_r": trial.map_at_r,
            "fold_map_at_r": list(trial.fold_values),
            "fold_best_step": list(trial.fold_steps),
            "seed": trial.seed,
            "failure": trial.failure,
        }
        for trial in trials
        for name, value in (trial.params or {"": 0.0}).items()
    ]
    schema: dict[str, pl.DataType | type[pl.DataType]] = {
        "method": pl.String,
        "trial": pl.Int64,
        "parameter": pl.String,
        "value": pl.Float64,
        "map_at_r": pl.Float64,
        "fold_map_at_r": pl.List(pl.Float64),
        "fold_best_step": pl.List(pl.Int64),
        "seed": pl.Int64,
        "failure": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)
