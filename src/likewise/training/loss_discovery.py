"""Every loss of a check on *discovery*, not only its winner: does training on classes change what looks alike?

Each rerun is measured when it is trained, on the labels of that time: gallery ROC-AUC per labelled query. A loss is
then compared with the trunk it started from, over its reruns and the queries.
"""

from collections.abc import Sequence
from functools import partial

import numpy as np
import polars as pl

from likewise.encoders.protocol import Vectors
from likewise.evaluation.differences import ALPHA, holm_correction
from likewise.evaluation.query_sums import Floats
from likewise.training.context import TrainingContext
from likewise.training.discovery_accuracy import DiscoveryTask, auc_per_query, mean_over_queries
from likewise.training.final_evaluation import PRETRAINED, concatenate_embeddings, load_network, pretrained_features
from likewise.training.rerun_test import RerunValues, compare_reruns
from likewise.training.runs import RunFolder
from likewise.training.seeds import derive_seed
from likewise.training.trainer import TrainedFold, embed
from likewise.workspace import read_parquet, write_parquet

LOSS_DISCOVERY_SCHEMA = pl.Schema(
    {
        "method": pl.String,
        "queries": pl.String,
        "value": pl.Float64,
        "low": pl.Float64,
        "high": pl.Float64,
        "difference": pl.Float64,
        "difference_low": pl.Float64,
        "difference_high": pl.Float64,
        "p": pl.Float64,
        "p_holm": pl.Float64,
        "significant": pl.Boolean,
        "n_queries": pl.Int64,
        "n_reruns": pl.Int64,
    }
)
"""`difference`: from the trunk without training; p over reruns and queries, corrected over the losses."""


def measure_rerun(
    context: TrainingContext,
    run: RunFolder,
    task: DiscoveryTask,
    method: str,
    rerun: int,
    folds: Sequence[TrainedFold],
) -> None:
    """Write what the models of one rerun, side by side, find."""
    models = [load_network(context, fold.weights or {}) for fold in folds]
    place = {image: row for row, image in enumerate(context.split.images)}

    def vectors(images: list[str]) -> Vectors:
        rows = np.array([place[image] for image in images], np.int64)
        return concatenate_embeddings([embed(model, context.eval_inputs, rows) for model in models])

    _write(run, task, method, rerun, auc_per_query(task.pairs, vectors))


def measure_trunk(context: TrainingContext, run: RunFolder, task: DiscoveryTask, rerun: int, seed: int) -> None:
    """The same of the trunk without training."""
    features = pretrained_features(context, derive_seed(seed, "rerun", rerun, 0))
    place = {image: row for row, image in enumerate(context.split.images)}

    def vectors(images: list[str]) -> Vectors:
        return features(np.array([place[image] for image in images], np.int64))

    _write(run, task, PRETRAINED, rerun, auc_per_query(task.pairs, vectors))


def _write(run: RunFolder, task: DiscoveryTask, method: str, rerun: int, values: Floats) -> None:
    table = pl.DataFrame(
        {"query": task.pairs.queries, "ROC_AUC": values, "of_test_classes": task.of_test_classes}
    ).with_columns(pl.col("ROC_AUC").fill_nan(None))
    write_parquet(table, run.discovery_file(method, rerun))


def loss_discovery_table(run: RunFolder, methods: Sequence[str], n_reruns: int, trunk_varies: bool) -> pl.DataFrame:
    """Every loss and the trunk, for all queries and for those of test classes; empty where nothing was measured."""
    read = {method: _read(run, method, n_reruns) for method in (PRETRAINED, *methods)}
    found = {method: tables for method, tables in read.items() if tables}
    rows: list[tuple[object, ...]] = []
    if PRETRAINED not in found:
        return pl.DataFrame(schema=LOSS_DISCOVERY_SCHEMA)
    first = found[PRETRAINED][0]
    same = {
        method: tables for method, tables in found.items() if all(t["query"].equals(first["query"]) for t in tables)
    }
    for which, kept in (("all", None), ("of test classes", first["of_test_classes"].to_numpy())):
        stacked = {
            method: np.stack([table["ROC_AUC"].cast(pl.Float64).fill_null(float("nan")).to_numpy() for table in tables])
            for method, tables in same.items()
        }
        defined = ~np.isnan(np.concatenate(list(stacked.values()))).any(axis=0)
        defined &= True if kept is None else kept
        n_queries = int(defined.sum())
        if not n_queries:
            continue
        here = {
            method: RerunValues(values[:, defined], deterministic=method == PRETRAINED and not trunk_varies)
            for method, values in stacked.items()
        }
        compare = partial(compare_reruns, n_queries=np.ones(n_queries))
        against = {method: compare(values, here[PRETRAINED]) for method, values in here.items() if method != PRETRAINED}
        corrected = dict(
            zip(against, holm_correction(np.array([one.p for one in against.values()], float)), strict=True)
        )
        for method, values in here.items():
            numbers: tuple[object, ...] = (None,) * 6
            if method in against:
                one, p = against[method], float(corrected[method])
                numbers = (one.difference, *one.interval, one.p, p, bool(p < ALPHA))
            rows.append((method, which, *mean_over_queries(values), *numbers, n_queries, len(values.means)))
    table = pl.DataFrame(rows, schema=LOSS_DISCOVERY_SCHEMA, orient="row")
    return table.with_columns(pl.col(pl.Float64).fill_nan(None))


def _read(run: RunFolder, method: str, n_reruns: int) -> list[pl.DataFrame]:
    files = [run.discovery_file(method, rerun) for rerun in range(n_reruns)]
    return [read_parquet(file, "likewise train check") for file in files if file.exists()]
