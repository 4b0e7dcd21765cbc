"""Random numbers from the seed and the keys of two images alone: a draw stays when other images come or go."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.neighbours.scores import Rows

FNV_START, FNV_PRIME = np.uint64(0xCBF29CE484222325), np.uint64(0x100000001B3)


def key_hashes(keys: Sequence[str], seed: int) -> NDArray[np.uint64]:
    """A number per key: a draw depends on the seed and the two images alone, never on the other queries.

    FNV-1a over the bytes of all keys at once (column by column; a shorter key stops where it ends), then mixed.
    """
    if not keys:
        return np.empty(0, dtype=np.uint64)
    letters = np.frombuffer("\0".join([*keys, ""]).encode(), dtype=np.uint8)
    ends = np.flatnonzero(letters == 0)  # no key holds this letter
    starts = np.concatenate([[0], ends[:-1] + 1])
    length = ends - starts
    order = np.argsort(-length, kind="stable")
    starts, longest_first = starts[order], -length[order]
    numbers = np.full(len(keys), mix_hash_bits(np.array([seed], dtype=np.int64).view(np.uint64) ^ FNV_START)[0])
    for place in range(int(length.max())):
        still = int(np.searchsorted(longest_first, -place))  # keys longer than `place`
        numbers[:still] = (numbers[:still] ^ letters[starts[:still] + place]) * FNV_PRIME
    hashed = np.empty_like(numbers)
    hashed[order] = mix_hash_bits(numbers)
    return hashed


def mix_hash_bits(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of splitmix64: spreads sums of hashes evenly again."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(numbers ^ (numbers >> np.uint64(31)))


def smallest_per_row(random_keys: NDArray[np.uint64], n: int) -> Rows:
    """Places of the n smallest random keys of each row, smallest first."""
    if n < random_keys.shape[1]:
        nearest = np.sort(np.argpartition(random_keys, n, axis=1)[:, :n], axis=1)
    else:
        nearest = np.broadcast_to(np.arange(random_keys.shape[1]), random_keys.shape)
    order = np.argsort(np.take_along_axis(random_keys, nearest, 1), axis=1, kind="stable")
    return np.take_along_axis(nearest, order, 1)
