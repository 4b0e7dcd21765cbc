"""Captions to words with part-of-speech tags (Penn's), by TextBlob's lexicon."""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from likewise.optional_dependencies import import_optional, suppress_output

TaggedWord = tuple[str, str]
Tagger = Callable[[Sequence[str]], list[list[TaggedWord]]]

WORDS_REMEMBERED = 1 << 18

_TOKENS = re.compile(r"'s\b|n't\b|[^\W_]+(?:[.'’][^\W\d_]+)*|[^\w\s]", re.UNICODE)
_FIXED_TAGS = {"'s": "POS", "’s": "POS", "&": "CC", "-": ":", "–": ":", "vs": "IN", "|": "."}


def tokenize(caption: str) -> list[str]:
    """Lower-case words and signs of a caption; `t-shirt` and `t - shirt` both give three."""
    return _TOKENS.findall(caption.lower())


def textblob_tagger() -> Tagger:
    """The fast tagger: a lexicon of 94,000 words and rules, in the package itself.

    Its parser's tags come from the word alone (no neighbour is looked at), so each word is asked for once.
    """
    english: Any = import_optional("textblob.en", "mining captions")
    find_tags = english.parser.find_tags
    with suppress_output():  # it leaves its lexicon's file open, once
        find_tags(["warm", "up"])

    @lru_cache(WORDS_REMEMBERED)
    def tagged(word: str) -> TaggedWord:
        [(_, found)] = find_tags([word])
        return word, _FIXED_TAGS.get(word, found)

    def tag(captions: Sequence[str]) -> list[list[TaggedWord]]:
        return [[tagged(word) for word in tokenize(text)] for text in captions]

    return tag
