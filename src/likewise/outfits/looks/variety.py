"""Variety by maximal marginal relevance (Carbonell and Goldstein, SIGIR 1998): not the same black bag ten times."""

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.outfits.protocol import Floats

Indices = NDArray[np.int64]
VARIETY = 0.3
POOL = 8
"""Chosen among this many times as many of the best."""


def diversify(scores: Floats, vectors: Vectors, k: int, variety: float = VARIETY) -> Indices:
    """The places of k candidates: each time the one with the largest (1 - v) relevance - v likeness to those chosen.

    Relevance is the score's place among the best, 1 to 0; likeness the largest cosine with one that is chosen already,
    of vectors without what all of them share: else everything of one category is alike, and v decides nothing.
    With v = 0 they are the k best in order.
    """
    n_pool = min(len(scores), max(k, POOL * k) if variety else k)
    if not n_pool:
        return np.zeros(0, dtype=np.int64)
    best = np.argsort(-scores, kind="stable")[:n_pool]
    relevance = np.linspace(1.0, 0.0, n_pool) if n_pool > 1 else np.ones(1)
    centred = vectors[best] - vectors[best].mean(axis=0)
    unit = centred / np.maximum(np.linalg.norm(centred, axis=1, keepdims=True), 1e-12)
    likeness = np.full(n_pool, -np.inf)
    chosen: list[int] = []
    for _ in range(min(k, n_pool)):
        value = (1.0 - variety) * relevance - variety * np.where(np.isfinite(likeness), likeness, 0.0)
        value[chosen] = -np.inf
        place = int(np.argmax(value))
        chosen.append(place)
        likeness = np.maximum(likeness, unit @ unit[place])
    return np.asarray(best[chosen])
