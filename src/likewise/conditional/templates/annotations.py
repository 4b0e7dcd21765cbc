"""What is known about each picture: its category, attributes it has and surely lacks, objects it contains.

Three kinds of sources give the same annotations: the columns of a catalog (one value per attribute: the others are
lacking), VAW rows (attributes labelled present or absent, everything else unknown), COCO-panoptic rows (every object
of a scene named, so what is not named is not there).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import KEY_COLUMNS, MADE_COLUMNS
from likewise.conditional.templates.caption_words import named_things
from likewise.errors import LikewiseError

Bools = NDArray[np.bool_]
Ints = NDArray[np.int64]

NOT_ATTRIBUTES = (*KEY_COLUMNS, *MADE_COLUMNS, "caption", "domain", "split", "view", "line", "row")
MAX_ATTRIBUTE_VALUES = 64
"""A column with more different values than this does not describe, it names (unless it is asked for)."""


@dataclass(frozen=True)
class Attribute:
    """One attribute value, `colour` = `red`, and how a condition says it."""

    kind: str
    value: str
    phrase: str


@dataclass(frozen=True)
class ImageAnnotations:
    """One row per picture in every array."""

    images: list[str]
    items: Ints
    """Equal for pictures of one thing."""
    categories: Ints
    category_names: list[str]
    attributes: list[Attribute] = field(default_factory=list)
    has: Bools = field(default_factory=lambda: np.zeros((0, 0), bool))
    lacks: Bools = field(default_factory=lambda: np.zeros((0, 0), bool))
    """Surely not; neither `has` nor `lacks` is "not known"."""
    objects: list[str] = field(default_factory=list)
    contains: Bools = field(default_factory=lambda: np.zeros((0, 0), bool))
    uncertain: Bools | None = None
    """Objects that one of several captions names: neither there nor surely not there."""
    possible_categories: Bools | None = None
    """(pictures, categories): what a picture may be beside its own category."""
    same_item_allowed: bool = False
    """In attribute tasks: may reference and candidates show one item (where the item itself is the category)?"""
    boxes: pl.DataFrame | None = None
    """For pictures that are parts of images: image (the key here), source, x1, y1, x2, y2."""

    @cached_property
    def n_objects(self) -> Ints:
        """How many objects each picture contains."""
        return np.asarray(self.contains.sum(axis=1), np.int64)

    @cached_property
    def by_object(self) -> Bools:
        """`contains` turned round, one row per object, so that a few objects are read quickly."""
        return np.ascontiguousarray(self.contains.T)

    @cached_property
    def by_attribute(self) -> Bools:
        """`has` turned round."""
        return np.ascontiguousarray(self.has.T)


def factorize(values: pl.Series) -> tuple[Ints, list[str]]:
    """Texts as numbers, and the texts those numbers stand for."""
    names = values.drop_nulls().unique().sort().to_list()
    number_of = {name: number for number, name in enumerate(names)}
    return np.array([number_of.get(value, -1) for value in values], np.int64), names


def catalog_annotations(
    catalog: pl.DataFrame,
    *,
    category: str = "category",
    attributes: Sequence[str] | None = None,
    words: str | None = None,
) -> ImageAnnotations:
    """Annotations from the columns of a catalog.

    Objects are the values of all attribute columns and the category (what is to be seen in the picture) and, with
    `words`, what a column such as `caption` names, or several such columns.
    """
    said = [name.strip() for name in words.split(",")] if words else []
    if attributes is not None:
        kinds = list(attributes)
    else:
        kinds = describing_columns(catalog, (category, *said), required=not said)
    for column in (category, *kinds, *said):
        if column not in catalog.columns:
            raise LikewiseError(f"the catalog has no column {column!r}: choose among {', '.join(catalog.columns)}.")
    known = catalog.filter(pl.col(category).is_not_null())
    listed, has, lacks = _values(known, kinds)
    numbers, names = factorize(known[category].cast(pl.String))
    objects, contains = _things(numbers, names, listed, has)
    uncertain = None
    if said:
        named, agreed, once = named_things([known[column].cast(pl.String) for column in said])
        (objects, contains), own = _together((objects, contains), (named, agreed)), (objects, contains)
        uncertain = _together((own[0], np.zeros_like(own[1])), (named, once))[1] & ~contains
    items = factorize(known["item"].cast(pl.String))[0]
    return ImageAnnotations(
        known["image"].to_list(),
        items,
        numbers,
        names,
        listed,
        has,
        lacks,
        objects,
        contains,
        uncertain,
        same_item_allowed=category == "item",
    )


def describing_columns(catalog: pl.DataFrame, taken: Sequence[str], *, required: bool = True) -> list[str]:
    """Columns with a few texts as values: the attributes, where nobody said which they are."""
    found = [
        name
        for name in catalog.columns
        if name not in NOT_ATTRIBUTES
        and name not in taken
        and catalog[name].dtype == pl.String
        and 2 <= catalog[name].drop_nulls().n_unique() <= MAX_ATTRIBUTE_VALUES
    ]
    if not found and required:
        raise LikewiseError("the catalog has no attribute columns: name some with `--attributes COLUMN,COLUMN`.")
    return found


def _values(catalog: pl.DataFrame, kinds: Sequence[str]) -> tuple[list[Attribute], Bools, Bools]:
    values = {kind: catalog[kind].cast(pl.String) for kind in kinds}
    named = {kind: column.drop_nulls().unique().sort().to_list() for kind, column in values.items()}
    shared = pl.Series([value for listed in named.values() for value in listed], dtype=pl.String)
    often = set(shared.filter(shared.is_duplicated()))
    listed, has, lacks = [], [], []
    for kind in kinds:
        known = values[kind].is_not_null().to_numpy()
        for value in named[kind]:
            said = f"{value} {kind.replace('_', ' ')}" if value in often else value
            listed.append(Attribute(kind, value, said))
            present = (values[kind] == value).fill_null(False).to_numpy()
            has.append(present)
            lacks.append(known & ~present)
    empty = np.zeros((0, len(catalog)), bool)
    return listed, np.array(has if has else empty).T, np.array(lacks if lacks else empty).T


def _things(numbers: Ints, names: list[str], listed: list[Attribute], has: Bools) -> tuple[list[str], Bools]:
    """The category among them, unless all have the same one."""
    of_category = numbers[:, None] == np.arange(len(names))
    if len(names) < 2:
        names, of_category = [], of_category[:, :0]
    return [*names, *(each.phrase for each in listed)], np.hstack([of_category, has])


def _together(*sources: tuple[list[str], Bools]) -> tuple[list[str], Bools]:
    """Objects of several sources; what has one name is one object."""
    names = list(dict.fromkeys(name for listed, _ in sources for name in listed))
    place = {name: column for column, name in enumerate(names)}
    found = np.zeros((len(sources[0][1]), len(names)), bool)
    for listed, contains in sources:
        for column, name in enumerate(listed):
            found[:, place[name]] |= contains[:, column]
    return names, found


def _incidence(rows: pl.DataFrame, names: list[str], n_rows: int) -> tuple[list[str], Bools]:
    place = {name: column for column, name in enumerate(names)}
    found = np.zeros((n_rows, len(names)), bool)
    found[rows["row"].to_numpy(), [place[name] for name in rows["word"]]] = True
    return names, found


def vaw_annotations(
    objects: pl.DataFrame, attributes: pl.DataFrame, kinds: Mapping[str, Sequence[str]]
) -> ImageAnnotations:
    """Annotations from VAW rows: every object is a picture of its own, `<image>#<object>`, cut out later by its box."""
    key = pl.concat_str("image", "object", separator="#")
    things = objects.unique(["image", "object"], keep="first", maintain_order=True).with_columns(key.alias("key"))
    row_of = {name: row for row, name in enumerate(things["key"])}
    kind_of = {value: kind for kind, values in kinds.items() for value in values}
    names = attributes["attribute"].unique().sort().to_list()
    column_of = {name: column for column, name in enumerate(names)}
    labelled = [np.zeros((len(things), len(names)), bool) for _ in range(2)]
    known = attributes.with_columns(key.alias("key")).filter(pl.col("key").is_in(things["key"].implode()))
    for present, found in zip((True, False), labelled, strict=True):
        rows = known.filter(pl.col("present") == present)
        found[[row_of[name] for name in rows["key"]], [column_of[name] for name in rows["attribute"]]] = True
    has, lacks = labelled
    numbers, categories = factorize(things["name"])
    boxes = things.select(pl.col("key").alias("image"), pl.col("image").alias("source"), "x1", "y1", "x2", "y2")
    listed = [Attribute(kind_of.get(name, ""), name, name) for name in names]
    items = factorize(things["image"])[0]
    return ImageAnnotations(things["key"].to_list(), items, numbers, categories, listed, has, lacks & ~has, boxes=boxes)


def panoptic_annotations(images: Sequence[str], objects: pl.DataFrame, *, min_share: float = 0.0) -> ImageAnnotations:
    """Annotations from COCO-panoptic rows: what each scene holds; objects below `min_share` of it are left out."""
    named = objects.filter(pl.col("image").is_in(pl.Series(images, dtype=pl.String).implode()))
    if min_share:
        named = named.filter(pl.col("share").fill_null(1.0) >= min_share)
    row_of = {image: row for row, image in enumerate(images)}
    rows = named.select(
        pl.col("image").replace_strict(row_of, return_dtype=pl.Int64).alias("row"),
        pl.col("name").map_elements(readable_name, return_dtype=pl.String).alias("word"),
    ).unique()
    names, contains = _incidence(rows, rows["word"].unique().sort().to_list(), len(images))
    places = np.arange(len(images))
    return ImageAnnotations(
        list(images), places, np.zeros(len(images), np.int64), ["scene"], objects=names, contains=contains
    )


def readable_name(name: str) -> str:
    """A COCO-panoptic name as people say it: `wall-brick` is a brick wall, `sky-other-merged` the sky."""
    parts = [part for part in name.split("-") if part not in ("merged", "other", "stuff")] or [name]
    if parts[0] in ("wall", "floor") and len(parts) > 1:
        parts = [*parts[1:], parts[0]]
    return " ".join(parts)


def readable_kind(kind: str) -> str:
    """A column's name as people say it: `base_colour` and `baseColour` are the base colour."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", kind).replace("_", " ").lower()


_KIND_WORDS = {
    "color": "white black gray silver gold red orange yellow green blue purple pink brown tan beige maroon teal",
    "material": "wooden metal plastic glass leather brick concrete stone marble paper ceramic fabric rubber wicker",
    "pattern": "striped plaid checkered floral dotted patterned plain",
    "size": "large small tiny huge giant little big",
    "shape": "round square rectangular oval curved triangular",
    "state": "open closed wet dry clean dirty full empty broken folded",
}
ATTRIBUTE_KINDS = {kind: tuple(words.split()) for kind, words in _KIND_WORDS.items()}
"""Kinds of common VAW attributes, where VAW's own `attribute_types.json` is not given."""
