"""Captions to relations and attributes: by TextBlob's tags and a grammar of our own, or by a spaCy model's tree."""

from collections.abc import Callable, Sequence
from typing import Any

from likewise.conditional.mining.dependencies import read_dependencies
from likewise.conditional.mining.relations import Relation, extract_attributes, extract_relations
from likewise.conditional.mining.tagging import textblob_tagger
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional

CaptionParser = Callable[[Sequence[str]], list[list[Relation]]]
"""Captions to the relations of each; an attribute has an empty relation."""

TEXTBLOB = "textblob"
SPACY_MODELS = ("en_core_web_sm", "en_core_web_md", "en_core_web_lg", "en_core_web_trf")
CAPTIONS_PER_BATCH = 1000


def installed_parser() -> str:
    """The parser used when none is named: the first spaCy model that is installed, TextBlob otherwise."""
    from importlib.util import find_spec

    if find_spec("spacy") is not None:
        for model in SPACY_MODELS:
            if find_spec(model) is not None:
                return model
    return TEXTBLOB


def get_parser(parser: str) -> CaptionParser:
    """`textblob`, or the name or folder of a spaCy model with a dependency parser."""
    return textblob_parser() if parser == TEXTBLOB else spacy_parser(parser)


def textblob_parser() -> CaptionParser:
    tag = textblob_tagger()

    def parse(captions: Sequence[str]) -> list[list[Relation]]:
        return [[*extract_relations(words), *extract_attributes(words)] for words in tag(captions)]

    return parse


def spacy_parser(model: str) -> CaptionParser:
    """The relations that the dependency tree of an installed spaCy model shows."""
    spacy: Any = import_optional("spacy", f"the parser {model}")
    try:
        pipeline = spacy.load(model, exclude=["ner", "lemmatizer"])
    except OSError as error:
        raise LikewiseError(
            f"the spaCy model {model} is not installed: run `python -m spacy download {model}`, "
            f"or mine with `--parser {TEXTBLOB}`."
        ) from error
    for needed in ("tagger", "parser"):
        if needed not in pipeline.pipe_names:
            raise LikewiseError(
                f"the spaCy model {model} has no {needed}: take one with a tagger and a parser, such as "
                f"{SPACY_MODELS[0]}, or mine with `--parser {TEXTBLOB}`."
            )

    def parse(captions: Sequence[str]) -> list[list[Relation]]:
        return [read_dependencies(each) for each in pipeline.pipe(captions, batch_size=CAPTIONS_PER_BATCH)]

    return parse
