"""Where the truth is known (the wardrobe): every pair's true label, and what each choice of a pool would have found."""

import polars as pl

from likewise.catalog import read_catalog
from likewise.discovery import QueryGallery, budget_table
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.step import PoolSettings, make_pool
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.fidelity import GroundTruth, admissible_pairs, fidelity_table
from likewise.labeling.simulate import true_labels
from likewise.labeling.step import read_labels
from likewise.progress import ProgressCallback
from likewise.workspace import Workspace, write_parquet


def write_budget(
    workspace: Workspace,
    settings: PoolSettings,
    seconds_per_pair: float = SECONDS_PER_PAIR,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Write and return results/budget.parquet, k up to `settings.k`; with recall and fidelity if the truth is known."""
    pool = make_pool(workspace, settings, on_progress)
    labels = read_labels(workspace) if workspace.labels_file.exists() else None
    table = budget_table(pool.rows, labels, seconds_per_pair)
    if workspace.knows_truth:
        vectors = {
            name: (
                read_vectors(workspace, name, pool.query_gallery.queries),
                read_vectors(workspace, name, pool.query_gallery.gallery),
            )
            for name in settings.generators
        }
        truth = ground_truth(read_catalog(workspace), pool.query_gallery)
        fidelity = fidelity_table(pool.rows, pool.query_gallery, truth, vectors, on_progress)
        table = table.join(
            fidelity.select("generators", "k", "item_recall", "spearman"), on=["generators", "k"], how="left"
        )
    write_parquet(table, workspace.results_folder / "budget.parquet")
    return table


def ground_truth(catalog: pl.DataFrame, query_gallery: QueryGallery) -> GroundTruth:
    """The true label of every admissible pair, for catalogs whose truth is known."""
    query, candidate = admissible_pairs(query_gallery)
    pairs = pl.DataFrame(
        {
            "query": pl.Series(query_gallery.queries).gather(query),
            "candidate": pl.Series(query_gallery.gallery).gather(candidate),
        }
    )
    labelled = true_labels(catalog, pairs)  # sorted by pair, as `pairs` is: queries and gallery are sorted by key
    assert labelled.select("query", "candidate").equals(pairs)
    return GroundTruth(query, candidate, labelled["label"].to_numpy())
