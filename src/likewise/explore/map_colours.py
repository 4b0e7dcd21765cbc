"""What the points of the map are coloured by: a column of the catalog, a cluster, labels, or which model finds them."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from likewise.errors import LikewiseError
from likewise.explore.gallery import Gallery
from likewise.explore.labels import LabelReader
from likewise.explore.projection import ImageMap

MAX_COLOURS = 11
OTHER = "other"
CLUSTER, LABEL, MODEL = "cluster", "label", "model"
MAX_NEIGHBOURS, MIN_NEIGHBOURS = 100, 10
NEIGHBOUR_SHARE = 0.05  # of the catalog: of a small one, a hundred would be everything


@dataclass(frozen=True)
class MapColours:
    """The names of the colours, and for each point the place of its own."""

    names: list[str]
    codes: list[int]
    rest: int | None = None
    """The place of what is only there to compare with, such as points without a label."""
    note: str = ""
    """What the colours mean, where their names do not say it."""


def colour_by(
    made: ImageMap, gallery: Gallery, labels: LabelReader, by: str, image: str = "", encoders: Sequence[str] = ()
) -> MapColours:
    """`by` is cluster, label, model, or a column of the catalog; label and model are about `image`, if given."""
    images = made.table["image"].to_list()
    if by == CLUSTER:
        return _coded([f"cluster {number + 1}" for number in made.table["cluster"]])
    if by == LABEL:
        return _by_label(images, labels, image)
    if by == MODEL:
        return _by_model(images, gallery, image, encoders)
    if by not in gallery.catalog.columns:
        raise LikewiseError(f"the catalog has no column {by!r} to colour by: choose another.")
    values = made.table.select("image").join(gallery.catalog, on="image", how="left", maintain_order="left")[by]
    return _coded(values.cast(pl.String).fill_null("none").to_list())


def _coded(values: list[str]) -> MapColours:
    counts = pl.Series("value", values).value_counts(sort=True)
    names = counts["value"].head(MAX_COLOURS).to_list()
    if len(counts) > MAX_COLOURS:
        names.append(OTHER)
    place = {name: number for number, name in enumerate(names)}
    return MapColours(names, [place.get(value, len(names) - 1) for value in values])


def _by_label(images: list[str], labels: LabelReader, image: str) -> MapColours:
    names = ["not labelled", "similar", "not similar", "query"]
    if image:
        told = {other: 1 if one.label == 1 else 2 for other, one in labels.of_query(image).items()}
        return MapColours(names, [3 if one == image else told.get(one, 0) for one in images], rest=0)
    table = labels.table()
    codes: dict[str, int] = {}
    if table is not None:
        for candidate, label in table.select("candidate", "label").iter_rows():
            codes[candidate] = 1 if label == 1 or codes.get(candidate) == 1 else 2
        codes |= dict.fromkeys(table["query"], 3)
    return MapColours(names, [codes.get(one, 0) for one in images], rest=0)


def _by_model(images: list[str], gallery: Gallery, image: str, encoders: Sequence[str]) -> MapColours:
    row = gallery.row_of.get(image)
    if row is None:
        raise LikewiseError("models find what is near an image: choose one on the map first, then colour by model.")
    found: dict[str, list[str]] = {}
    k = min(MAX_NEIGHBOURS, max(MIN_NEIGHBOURS, round(NEIGHBOUR_SHARE * len(gallery.images))))
    lists = gallery.neighbours(row, gallery.choose_encoders(encoders), k=k)
    for each in lists:
        for one in each.rows.tolist():
            found.setdefault(gallery.images[one], []).append(each.encoder)
    names = ["not found", "query", *(f"{each.encoder} only" for each in lists), "several"]
    place = {name: number for number, name in enumerate(names)}

    def code(one: str) -> int:
        if one == image:
            return 1
        who = found.get(one, [])
        return 0 if not who else place[f"{who[0]} only"] if len(who) == 1 else len(names) - 1

    return MapColours(names, [code(one) for one in images], rest=0, note=f"Found: the {k} nearest items of each model.")
