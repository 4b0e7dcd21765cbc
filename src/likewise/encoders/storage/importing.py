"""Vectors made elsewhere, brought in with their keys: npy with a list of keys, npz, Parquet or safetensors.

Rows are matched to the catalog by key, never by position, and scaled to length one.  A catalog image without a row is
left out and listed; a row that cannot be right stops everything before anything is written.  What the model learned
from is read in the file, or beside it; without either record it is that of the stored encoder whose vectors these
are, or not known.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.catalog.versions import read_history
from likewise.encoders.digests import file_digest
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.normalization import refuse_unusable_rows, unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.continuing import ImportedVectors, VectorsOf
from likewise.encoders.storage.equal_vectors import lineage_of_equal_vectors
from likewise.encoders.storage.external_vectors import ExternalVectors, read_external_vectors
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.encoders.storage.files import (
    EncodedChunk,
    EncodingResult,
    LeftOutImage,
    VectorsMeta,
    read_meta,
    vectors_folder,
)
from likewise.encoders.storage.reading import has_imported_vectors
from likewise.encoders.storage.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder

SHARD_ROWS = 512
BLOCK_ROWS = 4096
OF_EARLIER_PICTURE = (
    "its vector there is that of the picture which had this name before: encode the new one and import again, or use "
    "--force if it only was saved anew"
)

KeyedBy = Literal["image", "item"]


def import_vectors(
    workspace: WorkspaceFolder,
    name: str,
    path: Path,
    keys: Path | None = None,
    *,
    by: KeyedBy = "image",
    force: bool = False,
) -> EncodingResult:
    """Bring in the vectors of a file under `name`; `keys` lists the images of its rows where the file does not.

    Keyed by item, every image of an item gets the item's vector.
    """
    check_name(workspace, name)
    catalog = read_catalog(workspace)
    key_of = keys_of_images(catalog, by)
    found = read_external_vectors(path, keys)
    known = {*key_of.values(), *read_history(workspace)[by].cast(pl.String)}
    _check_keys(found.images, known, found.listed_in, by)
    _check_numbers(found, path)
    row_of_key = {key: row for row, key in enumerate(found.images)}
    row_of = {image: row_of_key[key] for image, key in key_of.items() if key in row_of_key}

    def vectors_of(images: Sequence[str]) -> dict[str, NDArray[np.float32]]:
        there = [image for image in images if image in row_of]
        rows = np.asarray(found.vectors[[row_of[image] for image in there]], np.float32)
        return dict(zip(there, unit_rows(rows), strict=True))

    version, dim = f"{path.name}@{file_digest(path)[:12]}", int(found.vectors.shape[1])
    meta = VectorsMeta(name, version, dim, 0, SHARD_ROWS, complete=False)
    lineage = read_file_lineage(path) or Lineage(unknown=(name,))
    source = ExternalSource(str(path), vectors_of, f"{path.name} has no vector of it", key_of)
    return bring_in(workspace, meta, source, lineage, force=force)


@dataclass(frozen=True)
class ExternalSource:
    """Where vectors come from: what it is called, how to ask it for some images, and the key it has of each."""

    name: str
    vectors_of: VectorsOf
    why_missing: str
    key_of: Mapping[str, str]
    is_slow: bool = False


def bring_in(
    workspace: WorkspaceFolder,
    meta: VectorsMeta,
    source: ExternalSource,
    lineage: Lineage,
    *,
    force: bool,
    shards_per_batch: int = 1,
    on_progress: ProgressCallback | None = None,
) -> EncodingResult:
    """Add the vectors of images that have none yet; what is stored under the name must be of the same model."""
    started, images, stored = time.monotonic(), list(source.key_of), None
    again: set[str] = set()
    there = None if force else read_meta(vectors_folder(workspace, meta.encoder))
    if there is not None and has_imported_vectors(meta.encoder, there):
        stored = ImportedVectors.read(workspace, there)
        stored.refuse_other_model(source.vectors_of, meta.dim, source.name, by_sample=source.is_slow)
        meta = replace(meta, version=there.version)
        lacking = source.vectors_of([each.image for each in there.left_out if each.image in source.key_of])
        again = set(lacking) - _of_earlier_pictures(stored, lacking, source.key_of)
    note, done = "", 0
    try_again = lambda left_out: left_out.image in again  # noqa: E731
    with ShardWriter(workspace, meta, images, lineage, force=force, try_again=try_again) as writer:
        n_new = sum(len(writer.images_of(shard)) for shard in writer.missing)
        for start in range(0, len(writer.missing), shards_per_batch):
            shards = writer.missing[start : start + shards_per_batch]
            vectors = source.vectors_of([image for shard in shards for image in writer.images_of(shard)])
            old = set() if stored is None else _of_earlier_pictures(stored, vectors, source.key_of)
            if not start:  # a mistake that the first batch shows leaves nothing behind
                if stored is not None and stored.unlike_stored(vectors[each] for each in vectors if each not in old):
                    note = f"the new vectors are not like those stored as {meta.encoder}: are they of the same model?"
                writer.start()
                if lineage.unknown and not lineage.lessons:
                    writer.lineage = lineage_of_equal_vectors(workspace, meta.encoder, vectors)
            for shard in shards:
                mine = writer.images_of(shard)
                writer.write_shard(shard, [_chunk(mine, vectors, old, source, meta.dim)])
                done += len(mine)
                if on_progress:
                    on_progress(meta.encoder, done, n_new)
        finished = writer.finish()
    if stored is None:
        note = ImportedVectors.read(workspace, finished).two_models_note()
    return EncodingResult.of(finished, len(images), n_new, time.monotonic() - started, note)


def _of_earlier_pictures(
    stored: ImportedVectors, vectors: Mapping[str, NDArray[np.float32]], key_of: Mapping[str, str]
) -> set[str]:
    """Images with the vector of a picture that had their name before, where no picture of today shares the key."""
    alive = {key_of[image] for image in stored.now["image"]}
    return stored.of_earlier_pictures({each: vector for each, vector in vectors.items() if key_of[each] not in alive})


def _chunk(
    images: Sequence[str],
    vectors: Mapping[str, NDArray[np.float32]],
    old: set[str],
    source: ExternalSource,
    dim: int,
) -> EncodedChunk:
    kept = tuple(image for image in images if image in vectors and image not in old)
    rows = np.array([vectors[image] for image in kept], np.float32).reshape(len(kept), dim)
    left_out = (
        LeftOutImage(image, OF_EARLIER_PICTURE if image in old else source.why_missing)
        for image in images
        if image in old or image not in vectors
    )
    return EncodedChunk(kept, rows, tuple(left_out))


def check_name(workspace: WorkspaceFolder, name: str) -> None:
    """A usable name, asked before a large file is read."""
    if name in BUILT_IN:
        raise LikewiseError(f"{name} is the name of a built-in encoder: choose another with `--name`.")
    vectors_folder(workspace, name)


def keyed_by(text: str) -> KeyedBy:
    """What a user typed for it."""
    for each in get_args(KeyedBy):
        if text == each:
            return each  # type: ignore[no-any-return]
    raise LikewiseError(f"vectors are keyed by image or by item, not by {text!r}.")


def keys_of_images(catalog: pl.DataFrame, by: KeyedBy) -> dict[str, str]:
    """The key that vectors of elsewhere have for each image: the image itself, or its item."""
    return dict(zip(catalog["image"], catalog[by].cast(pl.String), strict=True))


def _check_keys(keys: Sequence[str], known: set[str], where: str, by: KeyedBy) -> None:
    seen: set[str] = set()
    for row, key in enumerate(keys, 1):
        if key in seen:
            raise LikewiseError(f"{where} has {key!r} twice (again in row {row}): keep one vector per {by}.")
        seen.add(key)
    unknown = [key for key in keys if key not in known]
    if unknown:
        first = ", ".join(unknown[:3])
        raise LikewiseError(
            f"{len(unknown)} of {len(keys)} keys in {where} are not {by}s of the catalog (first: {first}): "
            f"keys must be spelt as in the catalog's column `{by}`; remove the others."
        )


def _check_numbers(found: ExternalVectors, path: Path) -> None:
    for start, block in vector_blocks(found.vectors):
        refuse_unusable_rows(block, found.images[start : start + len(block)], str(path), start)


def vector_blocks(vectors: Vectors) -> Iterator[tuple[int, Vectors]]:
    for start in range(0, len(vectors), BLOCK_ROWS):
        yield start, np.asarray(vectors[start : start + BLOCK_ROWS])
