"""Reading vectors: the rows asked for, in the order asked for, from memory-mapped shards.

A vector belongs to the content of a picture, whatever the image is called. Everything that could make numbers quietly
wrong is checked here: another version of the encoder, an unfinished run, a damaged shard, images that have none.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.chain import ChainPart, changed_digests, in_words
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.registry import get_encoder
from likewise.encoders.short_names import is_encoder_name
from likewise.encoders.storage.files import (
    ROWS_SCHEMA,
    LeftOutImage,
    VectorsMeta,
    digest_of_places,
    digest_of_vectors,
    meta_file,
    read_meta,
    rows_file,
    shard_file,
    vectors_folder,
)
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_parquet

MAX_NAMED_IN_ERRORS = 3
VECTORS = "vectors"


@dataclass(frozen=True)
class VectorLocations:
    """Where the vectors of some images are: everything needed to read them without looking at the catalog again."""

    dim: int
    dtype: str
    images: Sequence[str]
    shards: NDArray[np.int32]
    rows: NDArray[np.int32]
    rows_per_shard: dict[int, int]

    def part(self, start: int, stop: int) -> "VectorLocations":
        """The places of images `start` to `stop`."""
        return self._at(slice(start, stop), self.images[start:stop])

    def select(self, numbers: NDArray[np.int64]) -> "VectorLocations":
        """The places of some images, by number."""
        return self._at(numbers, [self.images[number] for number in numbers.tolist()])

    def _at(self, which: slice | NDArray[np.int64], images: Sequence[str]) -> "VectorLocations":
        shards = self.shards[which]
        sizes = {shard: self.rows_per_shard[shard] for shard in np.unique(shards).tolist()}
        return VectorLocations(self.dim, self.dtype, images, shards, self.rows[which], sizes)


def read_vectors(workspace: WorkspaceFolder, encoder: str, images: Sequence[str]) -> Vectors:
    """The vectors of `images`, (len(images), dim), in their order."""
    return read_locations(workspace, encoder, locate_vectors(workspace, encoder, images))


def locate_vectors(workspace: WorkspaceFolder, encoder: str, images: Sequence[str]) -> VectorLocations:
    """Where the vectors of `images` are, after all checks; every image must have one."""
    meta = read_checked_meta(workspace, encoder)
    stored = read_stored_rows(workspace, encoder)
    rows = current_rows(stored, read_catalog(workspace))
    wanted = pl.DataFrame({"image": pl.Series(images, dtype=pl.String)})
    places = wanted.join(rows, on="image", how="left", maintain_order="left")
    missing = places.filter(pl.col("shard").is_null())["image"]
    if len(missing):
        first = ", ".join(missing.head(MAX_NAMED_IN_ERRORS))
        raise LikewiseError(
            f"{len(missing)} of {len(images)} images have no {encoder} vector (first: {first}): they were left "
            f"out when encoding (see {vectors_folder(workspace, encoder) / 'meta.json'}) or are not in the catalog."
        )
    sizes = dict(stored.group_by("shard").len().iter_rows())
    return VectorLocations(meta.dim, meta.dtype, images, places["shard"].to_numpy(), places["row"].to_numpy(), sizes)


def read_locations(workspace: WorkspaceFolder, encoder: str, places: VectorLocations) -> Vectors:
    """The vectors at `places`, in their order."""
    vectors = np.empty((len(places.images), places.dim), np.float32)
    for shard in np.unique(places.shards).tolist():
        here = places.shards == shard
        shape = (places.rows_per_shard[shard], places.dim)
        vectors[here] = open_shard(workspace, encoder, shard, shape, places.dtype)[places.rows[here]]
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        at = int(np.argmin(finite))
        path = shard_file(vectors_folder(workspace, encoder), int(places.shards[at]))
        raise LikewiseError(
            f"{path} holds a value that is not a number (row {places.rows[at]}, {places.images[at]}): "
            f"{how_to_remake(workspace, encoder)}."
        )
    return vectors if places.dtype == "float32" else unit_rows(vectors)


def encoded_images(workspace: WorkspaceFolder, encoder: str) -> list[str]:
    """The images that have a vector, in catalog order."""
    read_checked_meta(workspace, encoder)
    return current_rows(read_stored_rows(workspace, encoder), read_catalog(workspace))["image"].to_list()


def left_out_images(workspace: WorkspaceFolder, encoder: str) -> tuple[LeftOutImage, ...]:
    """The images without a vector, and why."""
    known = set(read_catalog(workspace)["image"])
    return tuple(each for each in read_checked_meta(workspace, encoder).left_out if each.image in known)


def common_images(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str]) -> list[str]:
    """Those of `images` that every encoder has a vector of, in their order."""
    having = [set(encoded_images(workspace, encoder)) for encoder in encoders]
    return [image for image in images if all(image in have for have in having)]


def read_checked_meta(workspace: WorkspaceFolder, encoder: str) -> VectorsMeta:
    """Meta data of complete vectors, of all images of this catalog and, for a built-in encoder, its present version."""
    folder = vectors_folder(workspace, encoder)
    meta = read_meta(folder)
    if meta is None:
        there = ", ".join(workspace.encoders())
        raise LikewiseError(
            f"there are no {encoder} vectors in {workspace.path} yet{f' (there are {there})' if there else ''}: "
            f"run `likewise encode {workspace.quoted} --with {quote(encoder)}`."
        )
    check_vectors(workspace, encoder, meta, read_catalog(workspace)).refuse_unless_usable(folder)
    return meta


def vectors_parts(workspace: WorkspaceFolder) -> list[ChainPart]:
    """Every encoder that was started: whether its vectors are complete and all images of the catalog have one."""
    started = sorted(path.parent.name for path in workspace.vectors_folder.glob("*/meta.json"))
    if not started:
        return [ChainPart(VECTORS, "missing", why="there are none yet", command=f"likewise encode {workspace.quoted}")]
    catalog = read_catalog(workspace)
    found = {encoder: read_meta(vectors_folder(workspace, encoder)) for encoder in started}
    return [_check_shards(workspace, encoder, meta, catalog) for encoder, meta in found.items() if meta is not None]


def _check_shards(workspace: WorkspaceFolder, encoder: str, meta: VectorsMeta, catalog: pl.DataFrame) -> ChainPart:
    part = check_vectors(workspace, encoder, meta, catalog)
    damaged = changed_shards(vectors_folder(workspace, encoder), meta) if part.usable else []
    if not damaged:
        return part
    how = "--import FILE --name" if has_imported_vectors(encoder, meta) else "--with"
    command = f"likewise encode {workspace.quoted} {how} {quote(encoder)} --force"
    return ChainPart(part.name, "unfinished", part.holds, f"is damaged or incomplete ({in_words(damaged)})", command)


def check_vectors(workspace: WorkspaceFolder, encoder: str, meta: VectorsMeta, catalog: pl.DataFrame) -> ChainPart:
    """One encoder's vectors beside the catalog and, for a built-in encoder, its present version."""
    name = f"{VECTORS}/{encoder}"
    encode = f"likewise encode {workspace.quoted} --with {quote(encoder)}"
    imports = f"likewise encode {workspace.quoted} --import FILE --name {quote(encoder)}"
    if not meta.complete:
        command = imports if has_imported_vectors(encoder, meta) else encode
        return ChainPart(name, "unfinished", why="is not complete yet", command=command)
    stored = read_stored_rows(workspace, encoder)
    if meta.places and digest_of_places(stored) != meta.places:
        again = imports if has_imported_vectors(encoder, meta) else encode
        why = "has another rows.parquet than was written with its vectors, so nobody knows whose they are"
        return ChainPart(name, "unfinished", why=why, command=f"{again} --force")
    there = current_rows(stored, catalog)["image"]
    n_missing = len(_without_vector(meta, there, catalog))
    holds = f"{len(there):,} vectors of {meta.dim:,} dimensions"
    if encoder in BUILT_IN and meta.version != get_encoder(encoder).version:
        why = f"was made by {meta.version}, this is {get_encoder(encoder).version}"
        return ChainPart(name, "stale", holds, why, f"{encode} --force")
    if n_missing:
        why = f"has no vectors of {n_missing:,} of the catalog's {len(catalog):,} images yet"
        if has_imported_vectors(encoder, meta):
            encode = imports
            why += ", which were brought in from a file: give one that has those images (what is stored stays)"
        return ChainPart(name, "stale", holds, why, encode)
    parts = {part: read_meta(vectors_folder(workspace, part)) for part in meta.rests_on}
    now = {part: found.digest for part, found in parts.items() if found is not None and found.complete}
    if other := [part for part in changed_digests(meta.rests_on, now) if part in now]:
        why = f"was made from other vectors of {in_words(other)} than those of now"
        return ChainPart(name, "stale", holds, why, encode)
    return ChainPart(name, "current", holds)


def lacking_images(workspace: WorkspaceFolder, encoder: str, catalog: pl.DataFrame) -> list[str]:
    """Images of the catalog that complete vectors have not met yet: those that were left out are settled."""
    meta = read_meta(vectors_folder(workspace, encoder))
    if meta is None:
        return catalog["image"].to_list()
    return _without_vector(meta, current_rows(read_stored_rows(workspace, encoder), catalog)["image"], catalog)


def _without_vector(meta: VectorsMeta, there: pl.Series, catalog: pl.DataFrame) -> list[str]:
    settled = {*there, *(each.image for each in meta.left_out)}
    return [image for image in catalog["image"] if image not in settled]


def has_imported_vectors(encoder: str, meta: VectorsMeta) -> bool:
    """Vectors that were brought in under a name that no encoder has."""
    return not meta.spec and not meta.rests_on and not is_encoder_name(encoder)


def read_stored_rows(workspace: WorkspaceFolder, encoder: str) -> pl.DataFrame:
    """Every vector there is, of images that are gone as well: image (as it was called), digest, shard, row."""
    path = rows_file(vectors_folder(workspace, encoder))
    rows = read_parquet(path, f"likewise encode {workspace.quoted} --with {quote(encoder)} --force")
    if "digest" not in rows.columns:  # written when vectors belonged to a whole catalog
        rows = rows.join(read_catalog(workspace).select("image", "digest"), on="image", maintain_order="left")
    return rows.select(ROWS_SCHEMA.names())


def current_rows(stored: pl.DataFrame, catalog: pl.DataFrame) -> pl.DataFrame:
    """image, shard, row: where the vector of each image of the catalog is, found by its content, in its order."""
    images = catalog.select("image", "digest")
    own = images.join(stored, on=["image", "digest"], how="left", maintain_order="left")
    others = stored.unique("digest", keep="first", maintain_order=True).drop("image")
    rows = own.join(others, on="digest", how="left", suffix="_other", maintain_order="left")
    places = [pl.coalesce(name, f"{name}_other").alias(name) for name in ("shard", "row")]
    return rows.select("image", *places).drop_nulls("shard")


def open_shard(workspace: WorkspaceFolder, encoder: str, shard: int, shape: tuple[int, int], dtype: str) -> Vectors:
    """One shard, memory-mapped, if it is what `rows.parquet` says."""
    path = shard_file(vectors_folder(workspace, encoder), shard)
    found = load_shard(path)
    if found is None or found.shape != shape or found.dtype != np.dtype(dtype):
        what = "missing or damaged" if found is None else f"{found.dtype} {found.shape} instead of {dtype} {shape}"
        raise LikewiseError(f"{path} is {what}: {how_to_remake(workspace, encoder)}.")
    meta = read_meta(path.parent)
    if meta is not None and not is_as_written(path, found, meta.shards.get(str(shard), "")):
        raise LikewiseError(f"{path} is damaged (its checksum is another): {how_to_remake(workspace, encoder)}.")
    return found


def is_as_written(path: Path, vectors: Vectors | None, digest: str) -> bool:
    """Whether a shard has the checksum that was noted; without one there is nothing to compare."""
    if vectors is None or not digest:
        return vectors is not None
    state = path.stat()
    known = (str(path), state.st_mtime_ns, state.st_ctime_ns, state.st_size)
    if known not in _verified and digest_of_vectors(vectors) == digest:
        _verified.add(known)
    return known in _verified


def changed_shards(folder: Path, meta: VectorsMeta) -> list[str]:
    """Shards that are gone or hold something else than was written.

    The summary is written last, so that only shards newer than it are summed: `read_vectors` sums every one. A shard is
    as new as its last change of any kind, for a file put in its place may bring the date that it had elsewhere. While
    the clock is behind the summary, dates say nothing, and every shard is summed.
    """
    written, found = meta_file(folder).stat().st_mtime_ns, []
    if written > time.time_ns():
        written = 0
    for number, digest in meta.shards.items():
        path = shard_file(folder, int(number))
        untouched = path.exists() and max(path.stat().st_mtime_ns, path.stat().st_ctime_ns) <= written
        if not untouched and not is_as_written(path, load_shard(path), digest):
            found.append(path.name)
    return found


_verified: set[tuple[str, int, int, int]] = set()
"""Shards whose checksum was right, as they were then: each is summed once in the life of a process."""


def load_shard(path: Path) -> Vectors | None:
    """A memory-mapped shard; None when the file is missing, shorter than it says, or no npy file at all."""
    try:
        stored: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception:  # numpy parses a header as Python: damaged, it raises nearly anything
        return None
    return stored


def how_to_remake(workspace: WorkspaceFolder, encoder: str) -> str:
    return f"make them again with `likewise encode {workspace.quoted} --with {quote(encoder)} --force`"
