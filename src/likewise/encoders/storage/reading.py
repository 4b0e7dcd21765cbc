"""Reading vectors: the rows asked for, in the order asked for, from memory-mapped shards.

Everything that could make numbers quietly wrong is checked here: vectors of another catalog or encoder version,
an unfinished run, a damaged shard, images that have none.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import catalog_fingerprint, read_catalog
from likewise.encoders.model_cards import BUILT_IN
from likewise.encoders.normalization import unit_rows
from likewise.encoders.protocol import Vectors
from likewise.encoders.registry import get_encoder
from likewise.encoders.storage.files import LeftOutImage, VectorsMeta, read_meta, rows_file, shard_file, vectors_folder
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder, read_parquet

MAX_NAMED_IN_ERRORS = 3


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
        shards = self.shards[start:stop]
        sizes = {shard: self.rows_per_shard[shard] for shard in np.unique(shards).tolist()}
        return VectorLocations(self.dim, self.dtype, self.images[start:stop], shards, self.rows[start:stop], sizes)


def read_vectors(workspace: WorkspaceFolder, encoder: str, images: Sequence[str]) -> Vectors:
    """The vectors of `images`, (len(images), dim), in their order."""
    return read_locations(workspace, encoder, locate_vectors(workspace, encoder, images))


def locate_vectors(workspace: WorkspaceFolder, encoder: str, images: Sequence[str]) -> VectorLocations:
    """Where the vectors of `images` are, after all checks; every image must have one."""
    meta = read_checked_meta(workspace, encoder)
    rows = read_rows(workspace, encoder)
    wanted = pl.DataFrame({"image": pl.Series(images, dtype=pl.String)})
    places = wanted.join(rows, on="image", how="left", maintain_order="left")
    missing = places.filter(pl.col("shard").is_null())["image"]
    if len(missing):
        first = ", ".join(missing.head(MAX_NAMED_IN_ERRORS))
        raise LikewiseError(
            f"{len(missing)} of {len(images)} images have no {encoder} vector (first: {first}): they were left "
            f"out when encoding (see {vectors_folder(workspace, encoder) / 'meta.json'}) or are not in the catalog."
        )
    sizes = dict(rows.group_by("shard").len().iter_rows())
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
    return read_rows(workspace, encoder)["image"].to_list()


def left_out_images(workspace: WorkspaceFolder, encoder: str) -> tuple[LeftOutImage, ...]:
    """The images without a vector, and why."""
    return read_checked_meta(workspace, encoder).left_out


def common_images(workspace: WorkspaceFolder, encoders: Sequence[str], images: Sequence[str]) -> list[str]:
    """Those of `images` that every encoder has a vector of, in their order."""
    having = [set(encoded_images(workspace, encoder)) for encoder in encoders]
    return [image for image in images if all(image in have for have in having)]


def read_checked_meta(workspace: WorkspaceFolder, encoder: str) -> VectorsMeta:
    """Meta data of complete vectors of this catalog and, for a built-in encoder, its present version."""
    folder = vectors_folder(workspace, encoder)
    meta = read_meta(folder)
    if meta is None:
        there = ", ".join(workspace.encoders())
        raise LikewiseError(
            f"there are no {encoder} vectors in {workspace.path} yet{f' (there are {there})' if there else ''}: "
            f"run `likewise encode {workspace.path} --with {quote(encoder)}`."
        )
    if not meta.complete:
        raise LikewiseError(
            f"{folder} is not complete yet: "
            f"run `likewise encode {workspace.path} --with {quote(encoder)}` to finish it."
        )
    if meta.catalog != catalog_fingerprint(read_catalog(workspace)):
        raise LikewiseError(f"{folder} was made for another catalog: {how_to_remake(workspace, encoder)}.")
    if encoder in BUILT_IN and meta.version != get_encoder(encoder).version:
        raise LikewiseError(
            f"{folder} was made by {meta.version}, this is {get_encoder(encoder).version}: "
            f"{how_to_remake(workspace, encoder)}."
        )
    return meta


def read_rows(workspace: WorkspaceFolder, encoder: str) -> pl.DataFrame:
    path = rows_file(vectors_folder(workspace, encoder))
    return read_parquet(path, f"likewise encode {workspace.path} --with {quote(encoder)} --force")


def open_shard(workspace: WorkspaceFolder, encoder: str, shard: int, shape: tuple[int, int], dtype: str) -> Vectors:
    """One shard, memory-mapped, if it is what `rows.parquet` says."""
    path = shard_file(vectors_folder(workspace, encoder), shard)
    found = load_shard(path)
    if found is None or found.shape != shape or found.dtype != np.dtype(dtype):
        what = "missing or damaged" if found is None else f"{found.dtype} {found.shape} instead of {dtype} {shape}"
        raise LikewiseError(f"{path} is {what}: {how_to_remake(workspace, encoder)}.")
    return found


def load_shard(path: Path) -> Vectors | None:
    """A memory-mapped shard; None when the file is missing, shorter than it says, or no npy file at all."""
    try:
        stored: Vectors = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError):
        return None
    return stored


def how_to_remake(workspace: WorkspaceFolder, encoder: str) -> str:
    return f"make them again with `likewise encode {workspace.path} --with {quote(encoder)} --force`"
