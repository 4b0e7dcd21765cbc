"""Where the truth is known (truth.parquet): the true label of every pair."""

import numpy as np
import polars as pl

from likewise.catalog import read_catalog
from likewise.catalog.truth import TRUTH_SCHEMA, check_truth, read_truth
from likewise.chain import table_digest
from likewise.discovery import QueryGallery
from likewise.evaluation.fidelity import GroundTruth, admissible_pairs
from likewise.workspace import WorkspaceFolder, read_parquet


def truth_digest(workspace: WorkspaceFolder) -> str:
    """Of the workspace's table of truth, if it has one."""
    return table_digest(read_parquet(workspace.truth_file, "likewise new") if workspace.has_truth else pl.DataFrame())


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
