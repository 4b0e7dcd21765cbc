"""Vectors made elsewhere, lined up with a list of images; no workspace needed.

With keys (in the file, or in a list beside it), rows are found by key, and rows of other images are left out and
counted. A plain .npy without keys must hold exactly one row per image, in the order of the list. Either way every
image must have a vector: a model that may skip images could choose which ones it is judged on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.encoders.storage.external_vectors import read_external_vectors
from likewise.errors import LikewiseError


@dataclass(frozen=True)
class AlignedVectors:
    """One row per image, in their order; `by_key` tells how rows were found, `n_unused` how many were not needed."""

    vectors: Vectors
    by_key: bool
    n_unused: int


def read_aligned_vectors(path: Path, images: Sequence[str], keys: Path | None = None) -> AlignedVectors:
    """The vectors of a file (.npy, .npz, .parquet, .safetensors) for `images`."""
    if keys is None and path.suffix.lower() == ".npy":
        return align_vectors(_load_npy(path), images, name=str(path))
    found = read_external_vectors(path, keys)
    return align_vectors(found.vectors, images, found.images, name=str(path))


def align_vectors(
    vectors: NDArray[Any], images: Sequence[str], keys: Sequence[str] | None = None, *, name: str = "the array"
) -> AlignedVectors:
    """The rows of an array for `images`; `name` is what an error calls it."""
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.size:
        raise LikewiseError(
            f"{name} holds {vectors.dtype} of shape {vectors.shape}: vectors are a table of numbers, one row per image."
        )
    rows: Sequence[int] | slice = slice(None)
    if keys is not None:
        rows = _row_indices(images, keys, len(vectors), name)
    elif len(vectors) != len(images):
        raise LikewiseError(
            f"{name} has {len(vectors)} rows for {len(images)} images and no keys: give one row per image in "
            "their order, or the keys of the rows."
        )
    with np.errstate(over="ignore"):
        chosen: Vectors = np.ascontiguousarray(vectors[rows], dtype=np.float32)
    _refuse_nan(chosen, images, name)
    return AlignedVectors(chosen, by_key=keys is not None, n_unused=len(vectors) - len(chosen))


def _load_npy(path: Path) -> NDArray[Any]:
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the vectors.")
    try:
        stored: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except Exception as error:  # numpy parses a header as Python: damaged, it raises nearly anything
        reason = str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be read as npy ({reason}): write it again with numpy.save.") from error
    return stored


def _row_indices(images: Sequence[str], keys: Sequence[str], n_rows: int, name: str) -> list[int]:
    if len(keys) != n_rows:
        raise LikewiseError(f"{name} has {n_rows} rows but {len(keys)} keys: each row needs exactly one.")
    row_of: dict[str, int] = {}
    for row, key in enumerate(keys):
        if row_of.setdefault(key, row) != row:
            raise LikewiseError(f"{name}: two rows have the key {key} (the second is row {row + 1}): keep one of them.")
    missing = [image for image in images if image not in row_of]
    if missing:
        first = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        raise LikewiseError(
            f"{name} has no vector for {len(missing)} of {len(images)} images ({first}): encode them too "
            f"(its keys look like {keys[0]})."
        )
    return [row_of[image] for image in images]


def _refuse_nan(vectors: Vectors, images: Sequence[str], name: str) -> None:
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        raise LikewiseError(
            f"{name} holds NaN or infinite numbers for {int((~finite).sum())} of {len(images)} images "
            f"(first: {images[row]}): encode those images again."
        )
