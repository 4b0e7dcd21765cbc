"""Vectors made elsewhere, brought in with their keys: npy with a list of keys, npz, Parquet or safetensors.

Rows are matched to the catalog by key, never by position, and scaled to length one.  A catalog image without a row is
left out and listed; a row that cannot be right stops everything before anything is written.  What the model learned
from is read in the file, or beside it; without either record it is not known.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, get_args

import numpy as np
import polars as pl

from likewise.catalog.table import read_catalog
from likewise.catalog.versions import read_history
from likewise.encoders.digests import file_digest
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.normalization import refuse_unusable_rows, unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.external_vectors import ExternalVectors, read_external_vectors
from likewise.encoders.storage.file_lineage import read_file_lineage
from likewise.encoders.storage.files import (
    EncodedChunk,
    EncodingResult,
    LeftOutImage,
    VectorsMeta,
    read_meta,
    shard_file,
    vectors_folder,
)
from likewise.encoders.storage.reading import current_rows, is_imported, load_shard, read_stored_rows
from likewise.encoders.storage.writing import ShardWriter
from likewise.errors import LikewiseError
from likewise.lineage.record import Lineage
from likewise.workspace import WorkspaceFolder

SHARD_ROWS = 512
BLOCK_ROWS = 4096
SAME_VECTOR = 0.999  # cosine: the same model on another machine


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
    images, key_of = catalog["image"].to_list(), keys_of_images(catalog, by)
    found = read_external_vectors(path, keys)
    known = {*key_of.values(), *read_history(workspace)[by].cast(pl.String)}
    _check_keys(found.images, known, found.listed_in, by)
    _check_numbers(found, path)
    row_of_key = {key: row for row, key in enumerate(found.images)}
    row_of = {image: row_of_key[key] for image, key in key_of.items() if key in row_of_key}
    version = f"{path.name}@{file_digest(path)[:12]}"
    stored = None if force else read_meta(vectors_folder(workspace, name))
    if stored is not None and _completes(workspace, stored, found, row_of, path):
        version = stored.version
    meta = VectorsMeta(name, version, int(found.vectors.shape[1]), 0, SHARD_ROWS, complete=False)
    lineage = read_file_lineage(path) or Lineage(unknown=(name,))
    again = lambda left_out: left_out.image in row_of  # noqa: E731
    with ShardWriter(workspace, meta, images, lineage, force=force, try_again=again) as writer:
        new = sum(len(writer.images_of(shard)) for shard in writer.missing)
        if writer.missing:
            writer.start()
        for shard in writer.missing:
            writer.write_shard(shard, [_chunk(writer.images_of(shard), row_of, found.vectors, path)])
        done = writer.finish()
    return EncodingResult.of(done, len(images), new, 0.0)


def _completes(
    workspace: WorkspaceFolder, stored: VectorsMeta, found: ExternalVectors, row_of: dict[str, int], path: Path
) -> bool:
    """Whether a file is of the model that is stored under this name, with images that came later or without.

    What file and store both have is compared: other vectors would be those of another model.
    """
    name = stored.encoder
    if not is_imported(name, stored):
        return False
    rows = current_rows(read_stored_rows(workspace, name), read_catalog(workspace))
    there = set(rows["image"])
    both = rows.filter(pl.col("image").is_in(list(row_of)))
    differs = _first_other_vector(workspace, name, both, found, row_of)
    if not any(image in row_of and image not in there for image in read_catalog(workspace)["image"]):
        return len(both) > 0 and differs is None
    if differs is not None:
        raise LikewiseError(
            f"{path} has another vector of {differs} than the one stored as {name}: is it another model's? "
            "Give a file with the new images only, another --name, or replace all with --force."
        )
    if both.is_empty() and stored.dim != found.vectors.shape[1]:
        raise LikewiseError(f"{path} has {found.vectors.shape[1]} dimensions, {name} {stored.dim}: another --name?")
    return True


def _first_other_vector(
    workspace: WorkspaceFolder, name: str, both: pl.DataFrame, found: ExternalVectors, row_of: dict[str, int]
) -> str | None:
    """The first image whose vector in the file is not the stored one."""
    shards = {shard: load_shard(shard_file(vectors_folder(workspace, name), shard)) for shard in both["shard"].unique()}
    for image, shard, row in both.iter_rows():
        theirs = np.asarray(found.vectors[row_of[image]], np.float32)
        kept = shards[shard]
        if kept is None or kept.shape[1] != len(theirs) or kept[row] @ unit_rows(theirs[None])[0] < SAME_VECTOR:
            return str(image)
    return None


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


def _chunk(images: Sequence[str], row_of: dict[str, int], vectors: Vectors, path: Path) -> EncodedChunk:
    kept = [image for image in images if image in row_of]
    rows = np.asarray(vectors[[row_of[image] for image in kept]], np.float32)
    left_out = tuple(LeftOutImage(image, f"{path.name} has no vector of it") for image in images if image not in row_of)
    return EncodedChunk(tuple(kept), unit_rows(rows), left_out)


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
    for start, block in blocks(found.vectors):
        refuse_unusable_rows(block, found.images[start : start + len(block)], str(path), start)


def blocks(vectors: Vectors) -> Iterator[tuple[int, Vectors]]:
    for start in range(0, len(vectors), BLOCK_ROWS):
        yield start, np.asarray(vectors[start : start + BLOCK_ROWS])
