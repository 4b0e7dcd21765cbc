"""Vectors scaled to length one, so that an inner product is a cosine similarity."""

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors


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
