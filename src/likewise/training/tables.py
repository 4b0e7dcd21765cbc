"""From reruns to tables: means with 95 % t-intervals over the reruns, and paired tests between methods.

A rerun is one number, so the interval of a mean over n reruns is mean +- t(0.975, n - 1) s / sqrt(n).  Two methods are
compared on the same test images: the randomisation test swaps their results class by class (images of a class succeed
and fail together), and Holm's correction runs over all pairs.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from likewise.evaluation.bootstrap import RESAMPLES, percentile_interval, query_weights
from likewise.evaluation.differences import ALPHA, holm_correction, randomisation_p, swap_signs
from likewise.evaluation.query_sums import Floats, QuerySums
from likewise.training.final_evaluation import EMBEDDINGS, MEASURES, PRETRAINED
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
DIFFERENCE_SCHEMA = pl.Schema(
    {
        "embedding": pl.String,
        "measure": pl.String,
        "method_a": pl.String,
        "method_b": pl.String,
        "difference": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "significant": pl.Boolean,
        "n_classes": pl.Int64,
    }
)


def read_reruns(run: RunFolder, method: str, n_reruns: int) -> pl.DataFrame:
    """Test values per query of all reruns of a method."""
    tables = []
    for rerun in range(1 if method == PRETRAINED else n_reruns):
        table = read_run_table(run.rerun_file(method, rerun), "likewise train check")
        tables.append(table.with_columns(pl.lit(rerun, pl.Int64).alias("rerun")))
    return pl.concat(tables)


def accuracy_table(reruns: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """One row per method, embedding and measure; a method measured once has no interval."""
    rows = []
    for method, table in reruns.items():
        for embedding in EMBEDDINGS:
            here = table.filter(pl.col("embedding") == embedding)
            for measure in MEASURES:
                means = here.group_by("rerun").agg(pl.col(measure).mean()).sort("rerun")[measure].to_numpy()
                first = here.filter(pl.col("rerun") == 0)[measure]
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


def difference_table(reruns: Mapping[str, pl.DataFrame], seed: int = 0) -> pl.DataFrame:
    """Every two methods: a minus b with a bootstrap interval over classes, p before and after Holm's correction."""
    rows: list[tuple[object, ...]] = []
    if len(reruns) < 2:
        return pl.DataFrame(schema=DIFFERENCE_SCHEMA)
    for embedding in EMBEDDINGS:
        for measure in MEASURES:
            sums = {method: class_sums(table, embedding, measure) for method, table in reruns.items()}
            n_classes = len(next(iter(sums.values())).numerator)
            signs = swap_signs(n_classes, seed)
            weights = query_weights(n_classes, RESAMPLES, seed)
            resampled = {method: one.resampled(weights) for method, one in sums.items()}
            compared = []
            for a, b in combinations(reruns, 2):
                interval = percentile_interval(resampled[a] - resampled[b])
                p = randomisation_p(sums[a], sums[b], signs)
                compared.append((a, b, sums[a].value() - sums[b].value(), *interval, p))
            corrected = holm_correction(np.array([line[-1] for line in compared]))
            for line, p_holm in zip(compared, corrected, strict=True):
                rows.append((embedding, measure, *line, float(p_holm), bool(p_holm < ALPHA), n_classes))
    return pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")


def class_sums(table: pl.DataFrame, embedding: str, measure: str) -> QuerySums:
    """Per class the sum of a measure over its queries, averaged over reruns, and the number of queries."""
    here = table.filter(pl.col("embedding") == embedding)
    n_reruns = here["rerun"].n_unique()
    grouped = here.group_by("class").agg(
        pl.col(measure).sum().alias("numerator"), pl.col(measure).count().alias("denominator")
    )
    grouped = grouped.sort("class")
    numerator, denominator = grouped["numerator"].to_numpy(), grouped["denominator"].to_numpy()
    return QuerySums(numerator / n_reruns, denominator.astype(np.float64) / n_reruns)


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
