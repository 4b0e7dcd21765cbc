"""Vectors that come without a record, but are those of an encoder of the workspace: they have its record."""

from collections.abc import Mapping
from itertools import islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.files import shard_file, vectors_folder
from likewise.encoders.storage.reading import current_rows, load_shard, read_stored_rows
from likewise.lineage.files import lineage_file, read_lineage
from likewise.lineage.record import Lineage
from likewise.workspace import WorkspaceFolder

COMPARED, MIN_COMPARED = 100, 3
EQUAL = 0.999  # cosine: the same model on another machine, or rounded


def lineage_of_equal_vectors(
    workspace: WorkspaceFolder, name: str, vectors: Mapping[str, NDArray[np.float32]]
) -> Lineage:
    """Of the stored encoder that gives images these vectors (of length one), if it learned anything; else not known."""
    sample = dict(islice(vectors.items(), COMPARED))
    catalog, unknown = read_catalog(workspace), Lineage(unknown=(name,))
    for other in workspace.encoders():
        folder = vectors_folder(workspace, other)
        record = read_lineage(lineage_file(folder))
        if other == name or record is None or not record.lessons:
            continue
        rows = current_rows(read_stored_rows(workspace, other), catalog).filter(pl.col("image").is_in(list(sample)))
        shards = {shard: load_shard(shard_file(folder, shard)) for shard in rows["shard"].unique()}
        equal = (_is_same(shards[shard], row, sample[image]) for image, shard, row in rows.iter_rows())
        if len(rows) >= MIN_COMPARED and all(equal):
            return record.union(unknown)
    return unknown


def _is_same(shard: Vectors | None, row: int, vector: NDArray[np.float32]) -> bool:
    if shard is None or shard.shape[1] != len(vector):
        return False
    return float(unit_rows(np.asarray(shard[[row]], np.float32))[0] @ vector) >= EQUAL
