"""Words of items for the visual-semantic terms: captions, else the names of categories, else none."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.errors import LikewiseError

MAX_WORDS = 24
MAX_TARGET_WORDS, MIN_WORD_SHARE, MAX_WORD_SHARE = 256, 0.01, 0.9
"""How many words a model may guess, and the share of items that say one at least and at most."""
MIN_WORD_COUNT = 2  # a word said once teaches nothing about another item

CAPTIONS = "on, with captions, or what the catalog's columns say"
CATEGORIES = "on, with the names of categories, for there are no captions"
NO_WORDS = "off, for the items have neither captions nor categories"


@dataclass(frozen=True)
class ItemWords:
    """The words of items as numbers, (n items, most words), 0 where there is none."""

    vocabulary: tuple[str, ...]
    word_ids: NDArray[np.int64]
    source: str
    """Which words were used, for the model's card."""


def caption_word_targets(words: ItemWords) -> NDArray[np.float32]:
    """(n items, n words), 1 where it is said: words of captions that neither hardly any item has nor nearly all."""
    if words.source != CAPTIONS:
        raise LikewiseError("a model that looks through words needs captions or columns of texts, and there are none.")
    occurs = np.zeros((len(words.word_ids), len(words.vocabulary) + 1), dtype=np.float32)
    occurs[np.arange(len(occurs))[:, None], words.word_ids] = 1
    share = occurs[:, 1:].mean(axis=0)
    usual = np.flatnonzero((share >= MIN_WORD_SHARE) & (share <= MAX_WORD_SHARE))
    if not len(usual):
        raise LikewiseError(
            f"no word is said of {100 * MIN_WORD_SHARE:.0f} to {100 * MAX_WORD_SHARE:.0f} % of the items: "
            "look through vectors."
        )
    chosen = np.sort(usual[np.argsort(-share[usual], kind="stable")][:MAX_TARGET_WORDS])
    return np.asarray(occurs[:, 1 + chosen])


def extract_words(captions: Sequence[str | None], categories: Sequence[str]) -> ItemWords:
    """The words of every item."""
    texts, source = [caption or "" for caption in captions], CAPTIONS
    if not any(texts):
        texts = list(categories)
        source = CATEGORIES if any(texts) else NO_WORDS
    split = [re.findall(r"[^\W_]+", text.lower())[:MAX_WORDS] for text in texts]
    counts = Counter(word for words in split for word in words)
    vocabulary = tuple(sorted(word for word, count in counts.items() if count >= MIN_WORD_COUNT))
    number = {word: place for place, word in enumerate(vocabulary, 1)}
    longest = max((len(words) for words in split), default=0)
    table = np.zeros((len(split), max(1, longest)), dtype=np.int64)
    for row, words in enumerate(split):
        known = [number[word] for word in words if word in number]
        table[row, : len(known)] = known
    return ItemWords(vocabulary, table, source)
