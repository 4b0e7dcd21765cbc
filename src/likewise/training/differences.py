"""Every two methods of a check compared over reruns and test classes, and what that says about the best one."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import polars as pl

from likewise.evaluation.differences import ALPHA, holm_correction
from likewise.evaluation.query_sums import Floats
from likewise.training.final_evaluation import EMBEDDINGS, MEASURES, PRETRAINED
from likewise.training.rerun_test import RerunValues, compare_reruns

MAIN = "MAP@R"
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
        "detectable": pl.Float64,
        "n_reruns_a": pl.Int64,
        "n_reruns_b": pl.Int64,
        "n_classes": pl.Int64,
    }
)
"""`detectable`: the true difference that is significant with a probability of 80 %, if Holm's first step decides."""


@dataclass(frozen=True)
class CheckVerdict:
    """The best method by concatenated MAP@R, and what the tests say of it."""

    best: str
    not_different: tuple[str, ...]
    """Methods (the untrained trunk among them) that do not differ significantly from it, or could not be tested."""
    n_pairs: int
    """So many pairs were tested, and corrected for."""
    detectable: float | None
    """The median over pairs of trained methods; None where nothing could be tested."""


def difference_table(reruns: Mapping[str, pl.DataFrame], deterministic: frozenset[str]) -> pl.DataFrame:
    """Every two methods: a minus b with its interval, p before and after Holm's correction over all pairs.

    `deterministic` methods would give the same values in every rerun, and have one. A pair with a method of a single
    rerun otherwise is not tested: p is null.
    """
    rows: list[tuple[object, ...]] = []
    for embedding in EMBEDDINGS:
        for measure in MEASURES:
            values = {}
            for method, table in reruns.items():
                means, n_queries = class_means(table.filter(pl.col("embedding") == embedding), measure)
                values[method] = RerunValues(means, method in deterministic)
            compared = [(a, b, compare_reruns(values[a], values[b], n_queries)) for a, b in combinations(values, 2)]
            corrected = holm_correction(np.array([found.p for *_, found in compared]))
            n_tested = int(np.count_nonzero(~np.isnan(corrected)))
            for (a, b, found), p_holm in zip(compared, corrected, strict=True):
                numbers = (found.difference, *found.interval, found.p, float(p_holm), bool(p_holm < ALPHA))
                counts = (len(values[a].means), len(values[b].means), len(n_queries))
                rows.append((embedding, measure, a, b, *numbers, found.detectable(ALPHA / max(1, n_tested)), *counts))
    table = pl.DataFrame(rows, schema=DIFFERENCE_SCHEMA, orient="row")
    return table.with_columns(pl.col(pl.Float64).fill_nan(None))


def class_means(table: pl.DataFrame, measure: str) -> tuple[Floats, Floats]:
    """Means of a measure (reruns x classes), and the queries with a value of each class; classes without one go."""
    grouped = table.group_by("rerun", "class").agg(pl.col(measure).mean(), pl.col(measure).count().alias("n"))
    grouped = grouped.filter(pl.col("n") > 0).sort("rerun", "class")
    n_reruns = grouped["rerun"].n_unique()
    counts = grouped["n"].to_numpy().reshape(n_reruns, -1)
    return grouped[measure].to_numpy().reshape(n_reruns, -1), counts[0].astype(np.float64)


def check_verdict(accuracy: pl.DataFrame, differences: pl.DataFrame) -> CheckVerdict:
    """Which method is best by concatenated MAP@R, and which ones it is not shown to be better than."""
    main = (pl.col("measure") == MAIN) & (pl.col("embedding") == "concatenated")
    best = str(accuracy.filter(main).sort("value", descending=True)["method"][0])
    here = differences.filter(main)
    others = here.filter(~pl.col("significant") & ((pl.col("method_a") == best) | (pl.col("method_b") == best)))
    trained = here.filter((pl.col("method_a") != PRETRAINED) & (pl.col("method_b") != PRETRAINED))
    found = trained["detectable"].drop_nulls()
    return CheckVerdict(
        best,
        tuple(a if b == best else b for a, b in others.select("method_a", "method_b").iter_rows()),
        here["p"].drop_nulls().len(),
        float(np.median(found.to_numpy())) if len(found) else None,
    )
