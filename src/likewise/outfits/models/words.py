"""Words of items for the visual-semantic terms: captions, else the names of categories, else none."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

MOST_WORDS = 24
MOST_GUESSED, RAREST, COMMONEST = 256, 0.01, 0.9
"""How many words a model may guess, and the share of items that say one at least and at most."""
FEWEST_TIMES = 2  # a word said once teaches nothing about another item

CAPTIONS = "on, with captions"
CATEGORIES = "on, with the names of categories, for there are no captions"
NOTHING = "off, for the items have neither captions nor categories"


@dataclass(frozen=True)
class Words:
    """The words of items as numbers, (n items, most words), 0 where there is none."""

    vocabulary: tuple[str, ...]
    numbers: NDArray[np.int64]
    said: str
    """Which words were used, for the model's card."""


def guessable(words: Words) -> NDArray[np.float32]:
    """(n items, n words), 1 where it is said: words of captions that neither hardly any item has nor nearly all."""
    if words.said != CAPTIONS:
        raise LikewiseError("a model that looks through words needs captions, and the items have none.")
    said = np.zeros((len(words.numbers), len(words.vocabulary) + 1), dtype=np.float32)
    said[np.arange(len(said))[:, None], words.numbers] = 1
    share = said[:, 1:].mean(axis=0)
    usual = np.flatnonzero((share >= RAREST) & (share <= COMMONEST))
    if not len(usual):
        raise LikewiseError(
            f"no word is said of {100 * RAREST:.0f} to {100 * COMMONEST:.0f} % of the items: look through vectors."
        )
    most = np.sort(usual[np.argsort(-share[usual], kind="stable")][:MOST_GUESSED])
    return np.asarray(said[:, 1 + most])


def words_of(captions: Sequence[str | None], categories: Sequence[str]) -> Words:
    """The words of every item."""
    texts, said = [caption or "" for caption in captions], CAPTIONS
    if not any(texts):
        texts = list(categories)
        said = CATEGORIES if any(texts) else NOTHING
    split = [re.findall(r"[^\W_]+", text.lower())[:MOST_WORDS] for text in texts]
    counts = Counter(word for words in split for word in words)
    vocabulary = tuple(sorted(word for word, count in counts.items() if count >= FEWEST_TIMES))
    number = {word: place for place, word in enumerate(vocabulary, 1)}
    longest = max((len(words) for words in split), default=0)
    table = np.zeros((len(split), max(1, longest)), dtype=np.int64)
    for row, words in enumerate(split):
        known = [number[word] for word in words if word in number]
        table[row, : len(known)] = known
    return Words(vocabulary, table, said)
