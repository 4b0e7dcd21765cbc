"""Captions to words with part-of-speech tags (Penn's), by TextBlob's lexicon or by a spaCy model.

Both give the same thing, a list of (word, tag) per caption, so the grammar behind them is one.
"""

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional, suppress_output

TaggedWord = tuple[str, str]
Tagger = Callable[[Sequence[str]], list[list[TaggedWord]]]

TEXTBLOB = "textblob"
SPACY_MODELS = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
CAPTIONS_PER_BATCH = 1000
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


def spacy_tagger(model: str) -> Tagger:
    """The tagger of an installed spaCy model; its own words, lower-cased."""
    spacy: Any = import_optional("spacy", f"the parser {model}")
    try:
        pipeline = spacy.load(model, exclude=["ner", "parser", "lemmatizer"])
    except OSError as error:
        raise LikewiseError(
            f"the spaCy model {model} is not installed: run `python -m spacy download {model}`, "
            f"or mine with `--parser {TEXTBLOB}`."
        ) from error
    return pipeline_tagger(pipeline)


def pipeline_tagger(pipeline: Any) -> Tagger:
    """The tagger of a spaCy pipeline that is loaded already."""

    def tag(captions: Sequence[str]) -> list[list[TaggedWord]]:
        read = pipeline.pipe((" ".join(tokenize(text)) for text in captions), batch_size=CAPTIONS_PER_BATCH)
        return [[(word.text, _FIXED_TAGS.get(word.text, word.tag_)) for word in text] for text in read]

    return tag


def installed_parser() -> str:
    """The parser used when none is named: the first spaCy model that is installed, TextBlob otherwise."""
    from importlib.util import find_spec

    if find_spec("spacy") is not None:
        for model in SPACY_MODELS:
            if find_spec(model) is not None:
                return model
    return TEXTBLOB


def get_tagger(parser: str) -> Tagger:
    """`textblob`, or the name or folder of a spaCy model."""
    return textblob_tagger() if parser == TEXTBLOB else spacy_tagger(parser)
