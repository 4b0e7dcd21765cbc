"""Benchmarks whose gallery is a whole split: CIRR, MIT-States, FashionIQ; Recall@1, 5, 10, the reference masked.

The gallery is *every* picture of the split, also those that no query names: a gallery of references alone has
inflated published numbers.  With several right answers (MIT-States) one of them in the first k is a hit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.catalog.table import read_catalog
from likewise.conditional.evaluate import TaskResult, TaskResults
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import ConditionalMethod, Floats, QueryBatch
from likewise.conditional.recall import TargetRanks, concatenate_ranks, rank_targets
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

KS = (1, 5, 10)
QUERIES_PER_BATCH = 256
QUERY_SCHEMA = {
    "template": pl.Int64(),
    "condition": pl.String(),
    "reference": pl.String(),
    "targets": pl.List(pl.String),
}


@dataclass(frozen=True)
class SplitBenchmark:
    """Questions that share one gallery."""

    name: str
    queries: pl.DataFrame
    gallery: list[str]
    subsets: pl.DataFrame | None = None
    """CIRR: the few candidates of each query beside the whole gallery, as templates."""


SOURCES = ("cirr", "mit_states", "fashioniq")


def load_split_benchmarks(workspace: WorkspaceFolder, split: str | None = None) -> list[SplitBenchmark]:
    """The queries of a workspace that was made from one of the three data sets."""
    source = str(workspace.settings()["source"])
    catalog = read_catalog(workspace)
    if source == "cirr":
        return cirr_splits(catalog, read_stored_table(workspace, "templates"), split or "val")
    if source == "mit_states":
        return [mit_states_split(catalog, read_stored_table(workspace, "queries"), split or "test")]
    if source == "fashioniq":
        return fashioniq_splits(catalog, read_stored_table(workspace, "templates"), split or "val")
    raise LikewiseError(
        f"{workspace.path} was made by the reader {source!r}, whose queries have galleries of their own; "
        f"a whole split is the gallery of {', '.join(SOURCES)}."
    )


def cirr_splits(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> list[SplitBenchmark]:
    """CIRR; `subsets` holds the six members of each query's set."""
    chosen, gallery = templates.filter(split=split), _gallery(catalog, split)
    subsets = chosen.filter(pl.col("target").is_not_null()).select(
        "template",
        pl.lit(f"cirr {split} subset").alias("task"),
        "condition",
        "reference",
        "target",
        pl.col("members").list.set_difference(pl.concat_list("reference", "target")).list.sort().alias("gallery"),
    )
    return [SplitBenchmark(f"cirr {split}", _single(chosen), gallery, subsets)]


def fashioniq_splits(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> list[SplitBenchmark]:
    """FashionIQ, one gallery per category."""
    found = []
    of_split = templates.filter(split=split)
    for category in of_split["category"].unique().sort():
        chosen = of_split.filter(category=category)
        listed = catalog.filter((pl.col("split") == split) & (pl.col("category") == category))["image"]
        # a picture of two categories stands in the catalog under the first
        named = pl.concat([listed, chosen["reference"], chosen["target"].drop_nulls()])
        gallery = named.filter(named.is_in(catalog["image"].implode())).unique().sort().to_list()
        found.append(SplitBenchmark(f"fashioniq {category} {split}", _single(chosen), gallery))
    return found


def mit_states_split(catalog: pl.DataFrame, queries: pl.DataFrame, split: str) -> SplitBenchmark:
    """MIT-States: right is every picture of the noun with the adjective of the condition."""
    pictures = catalog.filter(split=split)
    positives = pictures.group_by("noun", "adjective").agg(pl.col("image").sort().alias("targets"))
    queries = (
        queries.filter(pl.col("image").is_in(pictures["image"].implode()))
        .join(
            positives,
            left_on=["noun", "condition"],
            right_on=["noun", "adjective"],
            how="left",
            maintain_order="left",
        )
        .with_row_index("template")
        .select("template", "condition", pl.col("image").alias("reference"), "targets")
    )
    return SplitBenchmark(f"mit-states {split}", _cast(queries), pictures["image"].sort().to_list())


def _single(templates: pl.DataFrame) -> pl.DataFrame:
    targets = pl.when(pl.col("target").is_null()).then(None).otherwise(pl.concat_list("target"))
    return _cast(templates.with_columns(targets.alias("targets")))


def _cast(queries: pl.DataFrame) -> pl.DataFrame:
    return queries.select(pl.col(name).cast(kind) for name, kind in QUERY_SCHEMA.items())


def _gallery(catalog: pl.DataFrame, split: str) -> list[str]:
    gallery = catalog.filter(pl.col("split") == split)["image"].sort().to_list()
    if not gallery:
        there = ", ".join(catalog["split"].unique().sort())
        raise LikewiseError(f"no image is in the split {split!r}: the catalog has {there}.")
    return gallery


def split_features(workspace: WorkspaceFolder, tower: TwoTower, splits: Sequence[SplitBenchmark]) -> ImageTextFeatures:
    """Features of every picture and every condition of some splits."""
    have = set(tower.encoded_images(workspace))
    images = sorted({image for split in splits for image in split.gallery} & have)
    texts = sorted({text for split in splits for text in split.queries["condition"]})
    return ImageTextFeatures(images, tower.image_features(workspace, images), texts, tower.text_features(texts))


def score_split(
    split: SplitBenchmark, features: ImageTextFeatures, methods: Sequence[ConditionalMethod]
) -> TaskResults:
    """Put every query that has a right answer to every method, with the whole gallery."""
    answerable = split.queries.filter(pl.col("targets").is_not_null())
    found: dict[str, list[TargetRanks]] = {method.name: [] for method in methods}
    for queries, batch, present in split_batches(split, answerable, features):
        positives = _positives(queries, batch.candidates[0])
        for method in methods:
            found[method.name].append(rank_targets(method.scores(batch), positives, present))
    if not any(found.values()):
        raise LikewiseError(
            f"{split.name} has no question with a known answer: use it with `likewise condition submit`."
        )
    return {name: {split.name: TaskResult(concatenate_ranks(parts), len(answerable))} for name, parts in found.items()}


def split_batches(
    split: SplitBenchmark, queries: pl.DataFrame, features: ImageTextFeatures
) -> "Sequence[tuple[pl.DataFrame, QueryBatch, NDArray[np.bool_]]]":
    """Questions a few hundred at a time, with the shared gallery and which of it each may answer."""
    gallery = [image for image in split.gallery if image in features.row_of]
    known = queries.filter(pl.col("reference").is_in(features.images))
    shared = features.image_features[features.image_rows(gallery)]
    column_of = {image: column for column, image in enumerate(gallery)}
    batches = []
    for start in range(0, len(known), QUERIES_PER_BATCH):
        part = known[start : start + QUERIES_PER_BATCH]
        references = part["reference"].to_list()
        present = np.ones((len(part), len(gallery)), bool)
        for row, image in enumerate(references):
            if image in column_of:
                present[row, column_of[image]] = False
        batch = QueryBatch(
            features.image_features[features.image_rows(references)],
            features.text_features[[features.text_row_of[text] for text in part["condition"]]],
            shared,
            references,
            part["condition"].to_list(),
            [gallery],
            [split.name] * len(part),
        )
        batches.append((part, batch, present))
    return batches


def _positives(queries: pl.DataFrame, gallery: Sequence[str]) -> NDArray[np.bool_]:
    column_of = {image: column for column, image in enumerate(gallery)}
    positives = np.zeros((len(queries), len(gallery)), bool)
    for row, targets in enumerate(queries["targets"]):
        for image in targets:
            if image in column_of:
                positives[row, column_of[image]] = True
    return positives


def top_k(scores: Floats, present: NDArray[np.bool_], k: int) -> NDArray[np.int64]:
    """The columns of the k best candidates of each query, equal scores in the gallery's order."""
    held = np.where(present, scores, -np.inf)
    return np.argsort(-held, axis=1, kind="stable")[:, :k]
