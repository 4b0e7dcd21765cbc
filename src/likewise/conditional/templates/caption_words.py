"""What captions name, counted over the people who wrote them: there, not there, or not certain.

Where several people described a picture, a word that two of them use is there, one that nobody uses is not, and one
that a single person uses is not certain.  With one caption its words are all there is.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.mining.concreteness import singular_noun
from likewise.conditional.mining.phrases import main_noun, named_words
from likewise.conditional.mining.tagging import TaggedWord, textblob_tagger

Bools = NDArray[np.bool_]
TaggedCaptions = list[list[list[TaggedWord]]]
"""Of each picture the captions that it has, as tagged words."""
NAMED_BY = 2
"""People of several who must use a word."""


def named_things(columns: Sequence[pl.Series]) -> tuple[list[str], Bools, Bools]:
    """What texts name and how they describe it, if two pictures have it; what is there, and what is not certain."""
    return count_words(tag_captions(columns))


def tag_captions(columns: Sequence[pl.Series]) -> TaggedCaptions:
    """Every picture's captions, empty ones left out."""
    tag = textblob_tagger()
    of_columns = [tag(column.fill_null("").to_list()) for column in columns]
    return [[words for words in captions if words] for captions in zip(*of_columns, strict=True)]


def count_words(tagged: TaggedCaptions) -> tuple[list[str], Bools, Bools]:
    """Words that two pictures have, and for each picture: which are there, and which are not certain."""
    counts = [Counter(word for words in captions for word in _words(words)) for captions in tagged]
    needed = np.array([min(NAMED_BY, len(captions)) for captions in tagged])
    often = Counter(word for row, each in enumerate(counts) for word, n in each.items() if n >= needed[row])
    names = sorted(word for word, n in often.items() if n >= 2)
    place = {name: column for column, name in enumerate(names)}
    found = np.zeros((len(counts), len(names)), np.int64)
    for row, each in enumerate(counts):
        for word, n in each.items():
            if word in place:
                found[row, place[word]] = n
    there = found >= np.maximum(needed, 1)[:, None]
    return names, there, (found > 0) & ~there


def _words(words: Sequence[TaggedWord]) -> set[str]:
    """Of one caption, each once; a colour counts with its shade and without."""
    found = {singular_noun(word) for word in named_words(words)}
    return found | {word.rsplit(" ", 1)[-1] for word in found}


def main_noun_of(captions: Sequence[Sequence[TaggedWord]]) -> str:
    """The first noun of most captions."""
    firsts = Counter(singular_noun(main_noun(words)) for words in captions)
    return firsts.most_common(1)[0][0] if firsts else ""
