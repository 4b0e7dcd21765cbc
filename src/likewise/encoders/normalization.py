"""Vectors scaled to length one, so that an inner product is a cosine similarity."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.errors import LikewiseError

SHORTEST, LONGEST = 1e-12, 1e30


def refuse_unusable_rows(vectors: Vectors, names: Sequence[str], where: str, before: int = 0) -> None:
    """Raise for a row that has no direction: not numbers, zero everywhere, or so long or short that float32 fails."""
    with np.errstate(over="ignore", invalid="ignore"):
        lengths = np.sqrt(np.square(np.asarray(vectors, np.float64)).sum(axis=1))
    bad = ~((lengths >= SHORTEST) & (lengths <= LONGEST))
    if not bad.any():
        return
    row = int(np.argmax(bad))
    if not np.isfinite(vectors[row]).all():
        what = "holds a value that is not a number"
    elif not np.asarray(vectors[row], bool).any():
        what = "is zero everywhere and has no direction"
    else:
        what = f"has a length of {lengths[row]:.0e}, beyond what can be scaled to one"
    raise LikewiseError(f"row {before + row + 1} of {where} ({names[row]}) {what}: correct or remove it.")


def unit_vector(vector: NDArray[np.floating]) -> NDArray[np.float32]:
    """Scaled to length one in float64; an all-zero vector points to its first axis rather than nowhere."""
    exact = np.asarray(vector, np.float64).ravel()
    length = float(np.sqrt(np.square(exact).sum()))
    if length < 1e-12:
        exact = np.zeros_like(exact)
        exact[0] = length = 1.0
    return (exact / length).astype(np.float32)


def unit_rows(features: Vectors) -> Vectors:
    """Rows scaled to length one in float64; an all-zero row points to its first axis rather than nowhere."""
    exact = features.astype(np.float64)
    lengths = np.sqrt(np.square(exact).sum(axis=1, keepdims=True))
    nowhere = lengths[:, 0] < 1e-12
    exact[nowhere] = 0.0
    exact[nowhere, 0] = lengths[nowhere, 0] = 1.0
    rows: Vectors = (exact / lengths).astype(np.float32)
    return rows
