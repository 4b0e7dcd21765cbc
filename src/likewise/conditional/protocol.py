"""What the room speaks in: the table of templates, queries as arrays, and what every method promises.

A template asks: given a reference image and a condition text, which candidate is right?  `gallery` lists the
distractors only, the right answer is `target` (as in the published files), so the candidates of a template are
`[target, *gallery]`, always in this order; measures must therefore be fair to ties (see `recall.py`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError

Floats = NDArray[np.float64]
Features = NDArray[np.float32]

TASKS = ("focus_attribute", "change_attribute", "focus_object", "change_object")
NEGATION_TASKS = ("negate_attribute", "negate_object")
"""Tasks of their own beside GeneCIS' four: "not striped", "without a hat"; built where they are asked for."""

TEMPLATE_SCHEMA = {
    "template": pl.Int64(),
    "task": pl.String(),
    "condition": pl.String(),
    "reference": pl.String(),
    "target": pl.String(),
    "gallery": pl.List(pl.String),
}
"""`template` counts from 0 within its `task`; images are keys of a catalog; further columns are kept."""


@dataclass(frozen=True)
class QueryBatch:
    """A block of queries as arrays: n questions, d features, g candidates each.

    Features are the encoder's own, not scaled to length one.  `gallery` is (n, g, d), or (g, d) where all queries
    share one gallery.  The keys and texts beside them are for methods that look at more than features.
    """

    reference: Features
    condition: Features
    gallery: Features
    references: Sequence[str] = ()
    conditions: Sequence[str] = ()
    candidates: Sequence[Sequence[str]] = ()
    """Of each query; a single list where the gallery is shared."""
    tasks: Sequence[str] = ()
    questions: Sequence[int] = ()
    """The number of each question within its task, as published files and runs of other systems name it."""

    @cached_property
    def normalized_gallery(self) -> Features:
        """The gallery scaled to length one, once for all methods."""
        squares = np.einsum("...d,...d->...", self.gallery, self.gallery, dtype=np.float64)
        lengths = np.maximum(np.sqrt(squares), 1e-12).astype(np.float32)
        return np.asarray(self.gallery / lengths[..., None], np.float32)


class ConditionalMethod(Protocol):
    """A conditional similarity."""

    @property
    def name(self) -> str:
        """As it stands in tables."""

    def scores(self, batch: QueryBatch) -> Floats:
        """(n, g): how well each candidate answers its query; larger is better, NaN for "cannot answer"."""


@runtime_checkable
class Composer(Protocol):
    """A method that first makes one query vector of reference and condition; its scores are dot products with it.

    Such a method can search a whole catalog (`condition ask`), and `composers.py` makes a `ConditionalMethod` of it.
    """

    @property
    def name(self) -> str: ...

    def compose(self, reference: Features, condition: Features) -> Features:
        """(n, d) and (n, d), both unscaled, to (n, d) of length one."""


@runtime_checkable
class ScoringComposer(Composer, Protocol):
    """A composer whose scores are more than a product with its query vector, which then only comes near to them."""

    def scores(self, batch: QueryBatch) -> Floats:
        """(n, g), as a `ConditionalMethod` gives them."""


def check_name(name: str, what: str) -> str:
    """The name of `what`, if it can be that of a file or folder and leads nowhere else."""
    if not re.fullmatch(r"[\w][\w.-]*", name):
        raise LikewiseError(f"{name!r} cannot name {what}: use letters, digits, dots and dashes.")
    return name


def check_templates(templates: pl.DataFrame, where: str) -> pl.DataFrame:
    """The table, its columns first and as they should be; a missing one is a user's mistake."""
    missing = [name for name in TEMPLATE_SCHEMA if name not in templates.columns]
    if missing:
        raise LikewiseError(
            f"{where} has no column {', '.join(missing)}: a table of templates has {', '.join(TEMPLATE_SCHEMA)}."
        )
    others = [name for name in templates.columns if name not in TEMPLATE_SCHEMA]
    try:
        return templates.select(*(pl.col(name).cast(kind) for name, kind in TEMPLATE_SCHEMA.items()), *others)
    except pl.exceptions.PolarsError as error:
        first = str(error).split("\n", 1)[0]
        raise LikewiseError(f"{where} does not hold templates ({first}): write it again.") from error


def images_of(templates: pl.DataFrame) -> list[str]:
    """Every image that a template names, each once, sorted."""
    named = pl.concat(
        [
            templates["reference"],
            templates["target"].drop_nulls(),
            templates["gallery"].explode(empty_as_null=False).drop_nulls(),
        ]
    )
    return named.unique().sort().to_list()
