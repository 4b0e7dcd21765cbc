"""Annotations from captions alone: the thing that most captions of a picture speak about, and what they say of it."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from likewise.conditional.templates.annotations import Attribute, ImageAnnotations, factorize
from likewise.conditional.templates.caption_words import count_words, main_noun_of, tag_captions

_PEOPLE = "adult baby boy child crowd dancer girl group guy kid lady man people person player toddler woman worker"
PEOPLE = frozenset(_PEOPLE.split())
"""One picture's man is another one's person: none of these is surely not another."""


def caption_annotations(catalog: pl.DataFrame, columns: Sequence[str]) -> ImageAnnotations:
    """Pictures by their main noun (the category), with all other words as attributes."""
    tagged = tag_captions([catalog[name].cast(pl.String) for name in columns])
    names, there, uncertain = count_words(tagged)
    place = {name: column for column, name in enumerate(names)}
    main = [main_noun_of(captions) for captions in tagged]
    usable = np.array([word in place and there[row, place[word]] for row, word in enumerate(main)])
    rows = np.flatnonzero(usable)
    numbers, categories = factorize(pl.Series([main[row] for row in rows], dtype=pl.String))
    there, uncertain = there[rows], uncertain[rows]
    possible = np.stack([there[:, place[name]] | uncertain[:, place[name]] for name in categories], axis=1)
    people = np.array([name in PEOPLE for name in categories])
    some_person = np.asarray(possible[:, people].any(axis=1, keepdims=True))
    possible |= some_person & people
    listed = [Attribute("", name, name) for name in names]
    chosen = catalog[rows.tolist()]
    items = factorize(chosen["item"].cast(pl.String))[0]
    return ImageAnnotations(
        chosen["image"].to_list(),
        items,
        numbers,
        categories,
        listed,
        there,
        ~there & ~uncertain,
        names,
        there,
        uncertain,
        possible,
    )
