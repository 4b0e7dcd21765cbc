"""Benchmarks whose gallery is a whole split: CIRR, MIT-States, FashionIQ; Recall@1, 5, 10, the reference masked.

The gallery is *every* picture of the split, also those that no question names: a gallery of references alone has
inflated published numbers.  With several right answers (MIT-States) one of them in the first k is a hit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.readers.stored import read_stored_table
from likewise.catalog.table import read_catalog
from likewise.conditional.evaluate import Answered, Answers
from likewise.conditional.protocol import Asked, Floats, Method
from likewise.conditional.recall import Standing, joined, standing
from likewise.conditional.sides import Sides
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import Workspace

KS = (1, 5, 10)
BLOCK_QUESTIONS = 256
QUESTION_SCHEMA = {
    "template": pl.Int64(),
    "condition": pl.String(),
    "reference": pl.String(),
    "targets": pl.List(pl.String),
}


@dataclass(frozen=True)
class WholeSplit:
    """Questions that share one gallery."""

    name: str
    questions: pl.DataFrame
    gallery: list[str]
    subsets: pl.DataFrame | None = None
    """CIRR: the few candidates of each question beside the whole gallery, as templates."""


SOURCES = ("cirr", "mit_states", "fashioniq")


def whole_splits(workspace: Workspace, split: str | None = None) -> list[WholeSplit]:
    """The questions of a workspace that was made from one of the three data sets."""
    source = str(workspace.settings()["source"])
    catalog = read_catalog(workspace)
    if source == "cirr":
        return cirr_splits(catalog, read_stored_table(workspace, "templates"), split or "val")
    if source == "mit_states":
        return [mit_states_split(catalog, read_stored_table(workspace, "queries"), split or "test")]
    if source == "fashioniq":
        return fashioniq_splits(catalog, read_stored_table(workspace, "templates"), split or "val")
    raise LikewiseError(
        f"{workspace.path} was made by the reader {source!r}, whose questions have galleries of their own; "
        f"a whole split is the gallery of {', '.join(SOURCES)}."
    )


def cirr_splits(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> list[WholeSplit]:
    """CIRR; `subsets` holds the six members of each question's set."""
    asked, gallery = templates.filter(split=split), _gallery(catalog, split)
    subsets = asked.filter(pl.col("target").is_not_null()).select(
        "template",
        pl.lit(f"cirr {split} subset").alias("task"),
        "condition",
        "reference",
        "target",
        pl.col("members").list.set_difference(pl.concat_list("reference", "target")).list.sort().alias("gallery"),
    )
    return [WholeSplit(f"cirr {split}", _single(asked), gallery, subsets)]


def fashioniq_splits(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> list[WholeSplit]:
    """FashionIQ, one gallery per category."""
    found = []
    of_split = templates.filter(split=split)
    for category in of_split["category"].unique().sort():
        asked = of_split.filter(category=category)
        listed = catalog.filter((pl.col("split") == split) & (pl.col("category") == category))["image"]
        # a picture of two categories stands in the catalog under the first
        named = pl.concat([listed, asked["reference"], asked["target"].drop_nulls()])
        gallery = named.filter(named.is_in(catalog["image"].implode())).unique().sort().to_list()
        found.append(WholeSplit(f"fashioniq {category} {split}", _single(asked), gallery))
    return found


def mit_states_split(catalog: pl.DataFrame, queries: pl.DataFrame, split: str) -> WholeSplit:
    """MIT-States: right is every picture of the noun with the adjective of the condition."""
    pictures = catalog.filter(split=split)
    right = pictures.group_by("noun", "adjective").agg(pl.col("image").sort().alias("targets"))
    questions = (
        queries.filter(pl.col("image").is_in(pictures["image"].implode()))
        .join(
            right,
            left_on=["noun", "condition"],
            right_on=["noun", "adjective"],
            how="left",
            maintain_order="left",
        )
        .with_row_index("template")
        .select("template", "condition", pl.col("image").alias("reference"), "targets")
    )
    return WholeSplit(f"mit-states {split}", _cast(questions), pictures["image"].sort().to_list())


def _single(templates: pl.DataFrame) -> pl.DataFrame:
    targets = pl.when(pl.col("target").is_null()).then(None).otherwise(pl.concat_list("target"))
    return _cast(templates.with_columns(targets.alias("targets")))


def _cast(questions: pl.DataFrame) -> pl.DataFrame:
    return questions.select(pl.col(name).cast(kind) for name, kind in QUESTION_SCHEMA.items())


def _gallery(catalog: pl.DataFrame, split: str) -> list[str]:
    gallery = catalog.filter(pl.col("split") == split)["image"].sort().to_list()
    if not gallery:
        there = ", ".join(catalog["split"].unique().sort())
        raise LikewiseError(f"no image is in the split {split!r}: the catalog has {there}.")
    return gallery


def split_sides(workspace: Workspace, tower: TwoTower, splits: Sequence[WholeSplit]) -> Sides:
    """Features of every picture and every condition of some splits."""
    have = set(tower.encoded_images(workspace))
    images = sorted({image for split in splits for image in split.gallery} & have)
    texts = sorted({text for split in splits for text in split.questions["condition"]})
    return Sides(images, tower.image_features(workspace, images), texts, tower.text_features(texts))


def answer_split(split: WholeSplit, sides: Sides, methods: Sequence[Method]) -> Answers:
    """Put every question that has a right answer to every method, with the whole gallery."""
    asked = split.questions.filter(pl.col("targets").is_not_null())
    found: dict[str, list[Standing]] = {method.name: [] for method in methods}
    for part, block, present in blocks(split, asked, sides):
        right = _right(part, block.candidates[0])
        for method in methods:
            found[method.name].append(standing(method.scores(block), right, present))
    if not any(found.values()):
        raise LikewiseError(
            f"{split.name} has no question with a known answer: use it with `likewise condition submit`."
        )
    return {name: {split.name: Answered(joined(parts), len(asked))} for name, parts in found.items()}


def blocks(
    split: WholeSplit, questions: pl.DataFrame, sides: Sides
) -> "Sequence[tuple[pl.DataFrame, Asked, NDArray[np.bool_]]]":
    """Questions a few hundred at a time, with the shared gallery and which of it each may answer."""
    gallery = [image for image in split.gallery if image in sides.row_of]
    known = questions.filter(pl.col("reference").is_in(sides.images))
    shared = sides.image_features[sides.rows(gallery)]
    place = {image: column for column, image in enumerate(gallery)}
    made = []
    for start in range(0, len(known), BLOCK_QUESTIONS):
        part = known[start : start + BLOCK_QUESTIONS]
        references = part["reference"].to_list()
        present = np.ones((len(part), len(gallery)), bool)
        for row, image in enumerate(references):
            if image in place:
                present[row, place[image]] = False
        block = Asked(
            sides.image_features[sides.rows(references)],
            sides.text_features[[sides.text_row_of[text] for text in part["condition"]]],
            shared,
            references,
            part["condition"].to_list(),
            [gallery],
            [split.name] * len(part),
        )
        made.append((part, block, present))
    return made


def _right(questions: pl.DataFrame, gallery: Sequence[str]) -> NDArray[np.bool_]:
    place = {image: column for column, image in enumerate(gallery)}
    right = np.zeros((len(questions), len(gallery)), bool)
    for row, targets in enumerate(questions["targets"]):
        for image in targets:
            if image in place:
                right[row, place[image]] = True
    return right


def best(scores: Floats, present: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """The places of the k best candidates of each question, equal scores in the gallery's order."""
    held = np.where(present, scores, -np.inf)
    return np.argsort(-held, axis=1, kind="stable")[:, :k]
