"""Vectors that live elsewhere; those of a table are brought in batch by batch, and an interrupted import goes on.

The table is asked for the keys of the catalog, so rows of other images do not matter; an image without a row is left
out and listed.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.encoders.normalization import unit_rows
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.encoders.storage.files import EncodingResult, VectorsMeta
from likewise.encoders.storage.importing import (
    SHARD_ROWS,
    ExternalSource,
    KeyedBy,
    bring_in,
    check_name,
    import_vectors,
    keyed_by,
    keys_of_images,
)
from likewise.encoders.storage.tables.opening import is_table, open_table, table_name
from likewise.encoders.storage.tables.parquet import ParquetTable
from likewise.encoders.storage.tables.table import FetchedVectors, VectorTable
from likewise.encoders.storage.writing import NoVectorsError
from likewise.errors import LikewiseError
from likewise.lineage.record import NOTHING_LEARNED, Lineage
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

SHARDS_PER_BATCH = 8


def import_source(
    workspace: WorkspaceFolder,
    source: str,
    *,
    name: str | None = None,
    keys: Path | None = None,
    by: str = "image",
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> EncodingResult:
    """Bring in vectors of a file, which is read as a whole, or of a table; without a name under that of the source."""
    if not is_table(source):
        return import_vectors(workspace, name or Path(source).stem, Path(source), keys, by=keyed_by(by), force=force)
    if keys is not None:
        raise LikewiseError("a table has its keys in a column: leave --keys out, and name it with ?key=COLUMN.")
    named = name or table_name(source)
    return import_table(workspace, named, source, by=keyed_by(by), force=force, on_progress=on_progress)


def import_table(
    workspace: WorkspaceFolder,
    name: str,
    source: str,
    *,
    by: KeyedBy = "image",
    force: bool = False,
    on_progress: ProgressCallback | None = None,
) -> EncodingResult:
    """Bring in the vectors of a Parquet or Lance table, a Qdrant collection or a PostgreSQL table under `name`."""
    check_name(workspace, name)
    catalog, table = read_catalog(workspace), open_table(source)
    key_of = keys_of_images(catalog, by)
    if not table.dim:
        raise LikewiseError(f"{source} holds no vectors yet.")

    def vectors_of(images: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        found = _fetch(table, list(dict.fromkeys(key_of[image] for image in images)), source)
        return {image: found[key_of[image]] for image in images if key_of[image] in found}

    meta = VectorsMeta(name, f"{table.identity}, {by}s", table.dim, 0, SHARD_ROWS, complete=False)
    known = ExternalSource(source, vectors_of, "the table has no vector of it", key_of, is_slow=True)
    try:
        return bring_in(
            workspace,
            meta,
            known,
            _files_lineage(table, name),
            force=force,
            shards_per_batch=SHARDS_PER_BATCH,
            on_progress=on_progress,
        )
    except NoVectorsError as error:
        raise LikewiseError(
            f"{source} has a vector for none of the {len(key_of)} images of the catalog (looked for "
            f"{next(iter(key_of.values()))}): give the column of keys, `?key=COLUMN`, or `--by item`."
        ) from error


def _files_lineage(table: VectorTable, name: str) -> Lineage:
    """What the files of a table say that the model learned from; a database says nothing."""
    files = table.files if isinstance(table, ParquetTable) else []
    records = [read_file_lineage(file) or Lineage(unknown=(name,)) for file in files]
    return NOTHING_LEARNED.union(*records) if records else Lineage(unknown=(name,))


def _fetch(table: VectorTable, keys: list[str], source: str) -> dict[str, NDArray[np.float32]]:
    """The vectors of some keys, scaled to length one; what has no direction is refused."""
    found: FetchedVectors = table.fetch(keys)
    wrong = ~np.isfinite(found.vectors).all(axis=1) | ~found.vectors.any(axis=1)
    if wrong.any():
        key = found.keys[int(np.argmax(wrong))]
        raise LikewiseError(
            f"the vector of {key} in {source} is zero everywhere or holds a value that is not a number: correct it, "
            "and import again."
        )
    return dict(zip(found.keys, unit_rows(found.vectors), strict=True))
