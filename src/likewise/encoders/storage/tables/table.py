"""What every table of vectors can do: name its dimensions, and give the vectors of some keys."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

VECTOR_NAMES = ("vector", "vectors", "embedding", "embeddings", "features")


@dataclass(frozen=True)
class FetchedVectors:
    """One row of numbers per key that was found."""

    keys: list[str]
    vectors: NDArray[Any]


class VectorTable(Protocol):
    """A table that is asked for the vectors of some keys at a time, so that it may be larger than memory."""

    @property
    def identity(self) -> str:
        """Which table, and which version of it where it has versions: what vectors of an interrupted import share."""

    @property
    def dim(self) -> int: ...

    def fetch(self, keys: Sequence[str]) -> FetchedVectors:
        """The vectors of those keys that the table has, in any order."""


def choose_column(where: str, columns: Sequence[str], named: str | None, usual: Sequence[str], what: str) -> str:
    """The column a user named, or the first usual name among the columns there are."""
    found = named if named in columns else None if named else next((name for name in usual if name in columns), None)
    if found is None:
        wanted = f"no column {named!r}" if named else f"no column of {what} with a usual name"
        raise LikewiseError(
            f"{where} has {wanted} (it has {', '.join(columns)}): name it, `?{what}=COLUMN` behind the table."
        )
    return found


def as_rows(where: str, keys: Sequence[str], rows: Sequence[Any], dim: int) -> FetchedVectors:
    """Lists of numbers as an array, without those that are null; refuses a key twice and a vector of another length."""
    kept: dict[str, Any] = {}
    for key, row in zip(keys, rows, strict=True):
        if row is None:
            continue
        if len(row) != dim:
            raise LikewiseError(f"{where} has {len(row)} numbers for {key}, not {dim}: all vectors are equally long.")
        if key in kept:
            raise LikewiseError(f"{where} has {key!r} more than once: keep one vector per key.")
        kept[key] = row
    return FetchedVectors(list(kept), np.asarray(list(kept.values()), np.float32).reshape(len(kept), dim))
