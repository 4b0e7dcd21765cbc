"""Leave one generator out (VSD, Table 3): would the models stand in the same order had a generator not fed the pool?

For each generator the labels are rebuilt from the pairs the other ones proposed; every model is measured again, and
the order of the models is compared (Spearman) with their order under all labels.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.discovery.pool import RANDOM
from likewise.evaluation.discovery import ANNOTATED, KS, Measured, rows_of
from likewise.evaluation.exchange.labels_import import IMPORTED
from likewise.evaluation.pairs import JudgedPairs, select_pairs
from likewise.evaluation.rank_correlation import spearman, spearman_exact_p, spearman_p

NO_GENERATORS = (RANDOM, IMPORTED)  # pairs of chance, or of labels from elsewhere


@dataclass(frozen=True)
class LeftOut:
    """`models`: mean and sd of each metric over the reduced ground truths; `orders`: Spearman per removed generator.

    `p_value` is the t approximation of the paper, which calls any perfect order of few models certain; `p_exact` counts
    all orders of the models and is null where there are too many to count.
    """

    models: pl.DataFrame
    orders: pl.DataFrame


def leave_one_out(
    measured: Sequence[Measured], pairs: JudgedPairs, pool: pl.DataFrame, ks: Sequence[int] = KS
) -> LeftOut:
    """Table 3, for AUC and, beside it, for HR and MRR, so that the reader sees which metric moves."""
    generators = pool.filter(~pl.col("generator").is_in(NO_GENERATORS))["generator"].unique().sort().to_list()
    full = _values(measured, pairs, np.ones(len(pairs), dtype=np.bool_), ks)
    models, orders = [], []
    reduced = {name: _values(measured, pairs, _proposed_by_others(pairs, pool, name), ks) for name in generators}
    for key in full if generators else ():
        values = np.array([reduced[name][key] for name in generators])  # generators x models
        for place, one in enumerate(measured):
            column = values[:, place]
            sd = float(np.std(column, ddof=1)) if len(column) > 1 else float("nan")
            models.append((one.encoder, *key, full[key][place], float(np.mean(column)), sd, len(column)))
        for name, row in zip(generators, values, strict=True):
            everything = np.array(full[key])
            correlation = spearman(everything, row)
            p_values = spearman_p(correlation, len(measured)), spearman_exact_p(everything, row)
            orders.append((name, *key, correlation, *p_values, len(measured)))
    names = {"metric": pl.String, "average": pl.String}
    numbers = {"value": pl.Float64, "mean": pl.Float64, "sd": pl.Float64, "n_subsets": pl.Int64}
    agreed = {"spearman": pl.Float64, "p_value": pl.Float64, "p_exact": pl.Float64, "n_models": pl.Int64}
    return LeftOut(
        _table(models, {"encoder": pl.String, **names, **numbers}),
        _table(orders, {"removed": pl.String, **names, **agreed}),
    )


def _proposed_by_others(pairs: JudgedPairs, pool: pl.DataFrame, removed: str) -> NDArray[np.bool_]:
    """Which judged pairs some generator besides the removed one proposed."""
    query_of = {image: row for row, image in enumerate(pairs.queries)}
    candidate_of = {image: row for row, image in enumerate(pairs.gallery)}
    others = pool.filter(~pl.col("generator").is_in([removed, *NO_GENERATORS])).select("query", "candidate").unique()
    width = len(pairs.gallery)
    kept = [query_of[q] * width + candidate_of[c] for q, c in others.iter_rows() if q in query_of and c in candidate_of]
    return np.isin(pairs.query * width + pairs.candidate, np.array(kept, dtype=np.int64))


def _values(
    measured: Sequence[Measured], pairs: JudgedPairs, kept: NDArray[np.bool_], ks: Sequence[int]
) -> dict[tuple[str, str], list[float]]:
    """Every metric against labelled negatives on a part of the pairs: one value per model."""
    part = select_pairs(pairs, kept)
    values: dict[tuple[str, str], list[float]] = {}
    for one in measured:
        for row in rows_of(Measured(one.encoder, one.scores[kept], one.lists), part, None, ks):
            if row.negatives in ("", ANNOTATED) and not row.metric.startswith("judged"):
                values.setdefault((row.metric, row.average), []).append(row.value())
    return values


def _table(rows: Sequence[tuple[object, ...]], schema: dict[str, type[pl.DataType]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=schema, orient="row").with_columns(pl.col(pl.Float64).fill_nan(None))
