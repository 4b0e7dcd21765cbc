"""Where the truth is known (truth.parquet): the true label of every pair, and what each choice of a pool would find."""

import numpy as np
import polars as pl

from likewise.catalog import read_catalog
from likewise.catalog.truth import TRUTH_SCHEMA, check_truth, read_truth
from likewise.discovery import QueryGallery, budget_table
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.step import PoolSettings, make_pool
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.fidelity import GroundTruth, admissible_pairs, fidelity_table
from likewise.labeling.step import read_labels_if_any
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, write_parquet


def write_budget(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    seconds_per_pair: float = SECONDS_PER_PAIR,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Write and return results/budget.parquet, k up to `settings.k`; with recall and fidelity if the truth is known."""
    pool = make_pool(workspace, settings, on_progress)
    labels = read_labels_if_any(workspace)
    table = budget_table(pool.rows, labels, seconds_per_pair, pool.counter)
    if workspace.has_truth:
        vectors = {
            name: (
                read_vectors(workspace, name, pool.query_gallery.queries),
                read_vectors(workspace, name, pool.query_gallery.gallery),
            )
            for name in settings.generators
        }
        truth = ground_truth(workspace, pool.query_gallery)
        fidelity = fidelity_table(pool.rows, pool.query_gallery, truth, vectors, on_progress)
        table = table.join(fidelity.select("generators", "k", "recall", "spearman"), on=["generators", "k"], how="left")
    write_parquet(table, workspace.results_folder / "budget.parquet")
    return table


def ground_truth(workspace: WorkspaceFolder, query_gallery: QueryGallery) -> GroundTruth:
    """The true label of every admissible pair, by the workspace's table of truth."""
    query, candidate = admissible_pairs(query_gallery)
    catalog = read_catalog(workspace)
    similar = check_truth(read_truth(workspace), catalog)
    number = {item: place for place, item in enumerate(catalog["item"].unique().sort())}
    item_of = {image: number[item] for image, item in catalog.select("image", "item").iter_rows()}
    first, second = (np.array([number[item] for item in similar[name]], dtype=np.int64) for name in TRUTH_SCHEMA)
    of_query, of_candidate = (
        np.array([item_of[image] for image in images], dtype=np.int64)
        for images in (query_gallery.queries, query_gallery.gallery)
    )
    pairs = of_query[query] * len(number) + of_candidate[candidate]
    true = np.concatenate([first * len(number) + second, second * len(number) + first])
    return GroundTruth(query, candidate, np.isin(pairs, true).astype(np.int8))
