"""Principal components and whitening (Jolliffe 2002), fitted in one pass over blocks of vectors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors

MIN_VARIANCE = 1e-9  # relative to the largest: what varies less is noise and is not blown up


@dataclass(frozen=True)
class Projection:
    """y = (x - mean) W."""

    mean: NDArray[np.float64]
    matrix: NDArray[np.float64]

    def apply(self, vectors: Vectors) -> Vectors:
        projected: Vectors = ((vectors - self.mean) @ self.matrix).astype(np.float32)
        return projected

    def first(self, components: int) -> "Projection":
        """The same with fewer directions, those of largest variance."""
        return Projection(self.mean, self.matrix[:, :components])


def fit_projection(blocks: Callable[[], Iterator[Vectors]], components: int, *, whiten: bool) -> Projection:
    """The directions of largest variance; whitened, each has variance one."""
    count, total, products = 0, np.zeros(1), np.zeros(1)
    for block in blocks():
        exact = block.astype(np.float64)
        count += len(exact)
        total = total + exact.sum(axis=0)
        products = products + exact.T @ exact
    mean = total / count
    covariance = (products - count * np.outer(mean, mean)) / max(1, count - 1)
    variances, directions = np.linalg.eigh(covariance)
    order = np.argsort(variances)[::-1][:components]
    variances, directions = variances[order], directions[:, order]
    largest = np.abs(directions).argmax(axis=0)  # a direction's sign is arbitrary: make its largest entry positive
    directions = directions * np.sign(directions[largest, np.arange(directions.shape[1])])
    if whiten:
        floor = MIN_VARIANCE * max(float(variances[0]), 1e-300)
        directions = directions / np.sqrt(np.maximum(variances, floor))
    return Projection(mean, directions)
