"""Vectors made elsewhere, brought in with their keys: npy with a list of keys, npz, Parquet or safetensors.

Rows are matched to the catalog by key, never by position, and scaled to length one.  A catalog image without a row is
left out and listed; a row that cannot be right stops everything before anything is written.  What the model learned
from is read in the file, or beside it; without either record it is not known.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.digests import file_digest
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.external_vectors import ExternalVectors, read_external_vectors
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.encoders.storage.files import EncodedChunk, EncodingResult, LeftOutImage, VectorsMeta, vectors_folder
from likewise.encoders.storage.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
from likewise.workspace import WorkspaceFolder

SHARD_ROWS = 512
BLOCK_ROWS = 4096


def import_vectors(
    workspace: WorkspaceFolder, name: str, path: Path, keys: Path | None = None, *, force: bool = False
) -> EncodingResult:
    """Bring in the vectors of a file under `name`; `keys` lists the images of its rows where the file does not."""
    if name in BUILT_IN:
        raise LikewiseError(f"{name} is the name of a built-in encoder: choose another with `--name`.")
    vectors_folder(workspace, name)  # a usable name, said before a large file is read
    catalog = read_catalog(workspace)
    images = catalog["image"].to_list()
    found = read_external_vectors(path, keys)
    _check_keys(found.images, set(images), found.listed_in)
    _check_numbers(found, path)
    row_of = {image: row for row, image in enumerate(found.images)}
    meta = VectorsMeta(
        name,
        f"{path.name}@{file_digest(path)[:12]}",
        int(found.vectors.shape[1]),
        0,
        SHARD_ROWS,
        catalog_fingerprint(catalog),
        complete=False,
    )
    lineage = read_file_lineage(path) or Lineage(unknown=(name,))
    with ShardWriter(workspace, meta, images, lineage, force=force) as writer:
        new = sum(len(writer.images_of(shard)) for shard in writer.missing)
        if writer.missing:
            writer.start()
        for shard in writer.missing:
            writer.write_shard(shard, [_chunk(writer.images_of(shard), row_of, found.vectors, path)])
        done = writer.finish()
    return EncodingResult.of(done, new, 0.0)


def _chunk(images: Sequence[str], row_of: dict[str, int], vectors: Vectors, path: Path) -> EncodedChunk:
    kept = [image for image in images if image in row_of]
    rows = np.asarray(vectors[[row_of[image] for image in kept]], np.float32)
    left_out = tuple(LeftOutImage(image, f"{path.name} has no vector of it") for image in images if image not in row_of)
    return EncodedChunk(tuple(kept), unit_rows(rows), left_out)


def _check_keys(keys: Sequence[str], known: set[str], where: str) -> None:
    seen: set[str] = set()
    for row, key in enumerate(keys, 1):
        if key in seen:
            raise LikewiseError(f"{where} has {key!r} twice (again in row {row}): keep one vector per image.")
        seen.add(key)
    unknown = [key for key in keys if key not in known]
    if unknown:
        first = ", ".join(unknown[:3])
        raise LikewiseError(
            f"{len(unknown)} of {len(keys)} keys in {where} are not images of the catalog (first: {first}): "
            "keys must be spelt as in the catalog's column `image`; remove the others."
        )


def _check_numbers(found: ExternalVectors, path: Path) -> None:
    for start, block in blocks(found.vectors):
        finite = np.isfinite(block).all(axis=1)
        nowhere = ~np.asarray(block, bool).any(axis=1)
        if not finite.all():
            row = start + int(np.argmin(finite))
            what = "holds a value that is not a number"
        elif nowhere.any():
            row = start + int(np.argmax(nowhere))
            what = "is zero everywhere and has no direction"
        else:
            continue
        raise LikewiseError(f"row {row + 1} of {path} ({found.images[row]}) {what}: correct or remove it.")


def blocks(vectors: Vectors) -> Iterator[tuple[int, Vectors]]:
    for start in range(0, len(vectors), BLOCK_ROWS):
        yield start, np.asarray(vectors[start : start + BLOCK_ROWS])
