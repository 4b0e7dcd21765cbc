"""Words to numbers without a vocabulary: single words, pairs of neighbours and pieces of words, hashed into buckets.

A word that training never saw still has pieces of its own, so two unknown words are told apart.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

BUCKETS = 1 << 14
NGRAM_LENGTHS = (3, 4, 5)

_WORDS = re.compile(r"[^\W_]+")


def tokenize(text: str) -> list[str]:
    """Lower-case words; hyphens divide."""
    return _WORDS.findall(text.lower())


def hash_ngrams(text: str, buckets: int = BUCKETS) -> list[int]:
    """The buckets of a text's words, pairs and pieces; a text without words has the bucket of the empty text."""
    words = tokenize(text)
    parts = [*words, *(f"{a} {b}" for a, b in pairwise(words))]
    for word in words:
        marked = f"<{word}>"
        parts += [f"#{marked[at : at + size]}" for size in NGRAM_LENGTHS for at in range(len(marked) - size + 1)]
    return [crc32(part.encode()) % buckets for part in parts or [""]]


def bag_of_ngrams(texts: Sequence[str], buckets: int = BUCKETS) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Buckets of all texts in one row, and where each text starts."""
    each = [hash_ngrams(text, buckets) for text in texts]
    starts = np.cumsum([0, *(len(part) for part in each[:-1])], dtype=np.int64) if each else np.zeros(0, np.int64)
    return np.array([number for part in each for number in part], np.int64), starts
