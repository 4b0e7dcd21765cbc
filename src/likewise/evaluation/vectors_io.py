"""Vectors made elsewhere, lined up with a list of images; no workspace needed.

With keys, rows are found by key, and rows of other images are left out and counted. Without keys, there must be
exactly one row per image, in the order of the list. Either way every image must have a vector: a model that may skip
images could choose which ones it is judged on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.encoders.vector_files import checked_vectors, read_vector_file
from likewise.errors import LikewiseError


@dataclass(frozen=True)
class LinedUp:
    """One row per image, in their order; `by_key` tells how rows were found, `n_unused` how many were not needed."""

    vectors: Vectors
    by_key: bool
    n_unused: int


def line_up_file(path: Path, images: Sequence[str], keys: Path | None = None) -> LinedUp:
    """The vectors of a file for `images`."""
    return _line_up(*read_vector_file(path, keys), images, str(path))


def line_up(
    vectors: NDArray[Any], images: Sequence[str], keys: Sequence[str] | None = None, *, name: str = "the array"
) -> LinedUp:
    """The rows of an array for `images`, checked as a file's would be; `name` is what an error calls it."""
    listed = None if keys is None else list(keys)
    return _line_up(listed, checked_vectors(np.asarray(vectors), listed, name), images, name)


def _line_up(keys: list[str] | None, vectors: Vectors, images: Sequence[str], where: str) -> LinedUp:
    if keys is None:
        if len(vectors) != len(images):
            raise LikewiseError(
                f"{where} has {len(vectors)} rows for {len(images)} images and no keys: give one row per image in "
                "their order, or the keys of the rows."
            )
        return LinedUp(vectors, by_key=False, n_unused=0)
    row_of = {key: row for row, key in enumerate(keys)}
    missing = [image for image in images if image not in row_of]
    if missing:
        first = ", ".join(missing[:3]) + (", …" if len(missing) > 3 else "")
        raise LikewiseError(
            f"{where} has no vector for {len(missing)} of {len(images)} images ({first}): encode them too "
            f"(its keys look like {keys[0]})."
        )
    rows = np.array([row_of[image] for image in images], dtype=np.int64)
    return LinedUp(vectors[rows], by_key=True, n_unused=len(keys) - len(set(rows.tolist())))
