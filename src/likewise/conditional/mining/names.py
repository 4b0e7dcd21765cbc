"""Words of titles that are names: "Puma Men Spectrum Black Watch" is about men and black, not about Puma and Spectrum.

A title begins with its brand, and the names of its series stand beside that brand alone, while "black" stands beside
all of them.  A word is a name when one opening word goes with at least half of its occurrences, and far more often than
with titles in general:

    max over openings o of p(o | word) >= 1/2     and     p(o | word) / p(o) >= 5

Captions open with "a" or "two" and lose next to nothing: rare words behind a rare opening.
"""

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
MIN_SHARE = 0.5
MIN_LIFT = 5.0


def name_words(words: Ints, openings: Ints, captions_per_opening: Ints) -> NDArray[np.bool_]:
    """Which occurrences are of a word that is a name; `openings` are the first words of their captions."""
    if not len(words):
        return np.zeros(0, bool)
    width = len(captions_per_opening)
    pairs, counts = np.unique(words * width + openings, return_counts=True)
    word, opening = pairs // width, pairs % width
    total = np.bincount(word, counts, minlength=int(words.max()) + 1)
    share = counts / total[word]
    base = captions_per_opening[opening] / max(1, int(captions_per_opening.sum()))
    bound = (share >= MIN_SHARE) & (share >= MIN_LIFT * base)
    names = np.zeros(len(total), bool)
    names[word[bound]] = True
    return np.asarray(names[words])
