"""Vectors that live elsewhere; those of a table are brought in batch by batch, and an interrupted import goes on.

The table is asked for the keys of the catalog, so rows of other images do not matter; an image without a row is left
out and listed.
"""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from likewise.catalog.table import read_catalog
from likewise.encoders.normalization import unit_rows
from likewise.encoders.storage.files import EncodedChunk, EncodingResult, LeftOutImage, VectorsMeta
from likewise.encoders.storage.importing import (
    SHARD_ROWS,
    KeyedBy,
    check_name,
    import_vectors,
    keyed_by,
    keys_of_images,
)
from likewise.encoders.storage.tables.opening import is_table, open_table, table_name
from likewise.encoders.storage.tables.table import FetchedVectors, VectorTable
from likewise.encoders.storage.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
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
    started, catalog = time.monotonic(), read_catalog(workspace)
    key_of, table = keys_of_images(catalog, by), open_table(source)
    if not table.dim:
        raise LikewiseError(f"{source} holds no vectors yet.")
    version = f"{table.identity}, {by}s"
    meta = VectorsMeta(name, version, table.dim, 0, SHARD_ROWS, complete=False)
    images = catalog["image"].to_list()
    with ShardWriter(workspace, meta, images, Lineage(unknown=(name,)), force=force) as writer:
        new = sum(len(writer.images_of(shard)) for shard in writer.missing)
        done = 0
        for start in range(0, len(writer.missing), SHARDS_PER_BATCH):
            shards = writer.missing[start : start + SHARDS_PER_BATCH]
            keys = {key_of[image]: None for shard in shards for image in writer.images_of(shard)}
            vectors = _fetch(table, list(keys), source)
            if not start:  # a mistake that the first batch shows leaves nothing behind
                writer.start()
            for shard in shards:
                mine = writer.images_of(shard)
                writer.write_shard(shard, [_chunk(mine, key_of, vectors, table.dim)])
                done += len(mine)
                if on_progress:
                    on_progress(name, done, new)
        try:
            finished = writer.finish()
        except LikewiseError as error:
            raise LikewiseError(
                f"{source} has a vector for none of the {len(images)} images of the catalog (looked for "
                f"{next(iter(key_of.values()))}): give the column of keys, `?key=COLUMN`, or `--by item`."
            ) from error
    return EncodingResult.of(finished, len(images), new, time.monotonic() - started)


def _fetch(table: VectorTable, keys: list[str], source: str) -> dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]]:
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


def _chunk(
    images: Sequence[str],
    key_of: dict[str, str],
    vectors: dict[str, np.ndarray[tuple[int], np.dtype[np.float32]]],
    dim: int,
) -> EncodedChunk:
    kept = tuple(image for image in images if key_of[image] in vectors)
    rows = np.array([vectors[key_of[image]] for image in kept], np.float32).reshape(len(kept), dim)
    missing = (image for image in images if key_of[image] not in vectors)
    return EncodedChunk(kept, rows, tuple(LeftOutImage(image, "the table has no vector of it") for image in missing))
