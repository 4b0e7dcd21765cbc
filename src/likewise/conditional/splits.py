"""Benchmarks whose gallery is a whole split: CIRR, CIRCO, FashionIQ, MIT-States, or questions about any catalog.

The gallery is *every* picture of the split, also those that no query names: a gallery of references alone has
inflated published numbers.  The reference is masked; the codes of FashionIQ and CIRCO leave it in, and so does
`official`.  With several right answers one of them in the first k is a hit, and mAP@k counts them all.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.catalog.table import read_catalog
from likewise.conditional.average_precision import average_precision, chance_precision
from likewise.conditional.evaluate import QuestionValues, TaskResult, TaskResults
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.protocol import ConditionalMethod, Floats, QueryBatch
from likewise.conditional.recall import (
    SCORE_TOLERANCE,
    TargetRanks,
    chance_recall,
    concatenate_ranks,
    rank_targets,
    recall_at_k,
)
from likewise.conditional.towers import TwoTower
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder

KS = (1, 5, 10)
CIRR_KS, FASHIONIQ_KS, PRECISION_KS = (1, 5, 10, 50), (10, 50), (5, 10, 25, 50)
"""What each benchmark reports."""
SUBSET_MEAN = "R@5+Rs@1"
"""CIRR: the mean of Recall@5 and of the subset's Recall@1."""
QUERIES_PER_BATCH = 256
QUERY_SCHEMA = {
    "template": pl.Int64(),
    "condition": pl.String(),
    "reference": pl.String(),
    "targets": pl.List(pl.String),
}


@dataclass(frozen=True)
class SharedGalleryBenchmark:
    """Questions that share one gallery."""

    name: str
    queries: pl.DataFrame
    gallery: list[str]
    subsets: pl.DataFrame | None = None
    """CIRR: the few candidates of each query beside the whole gallery, as templates."""
    ks: tuple[int, ...] = KS
    precision_ks: tuple[int, ...] = ()
    """Of mAP@k, where questions have several right answers."""
    masks_reference: bool = True


SOURCES = ("cirr", "circo", "mit_states", "fashioniq")


def load_split_benchmarks(
    workspace: WorkspaceFolder, split: str | None = None, *, official: bool = False
) -> list[SharedGalleryBenchmark]:
    """The queries of a workspace that was made from one of the data sets, `official` as their own codes ask them."""
    source = str(workspace.settings()["source"])
    catalog = read_catalog(workspace)
    if source == "circo":
        found = circo_split(catalog, read_stored_table(workspace, "templates"), split or "val")
        return [replace(found, masks_reference=not official)]
    if source == "cirr":
        return cirr_splits(catalog, read_stored_table(workspace, "templates"), split or "val")
    if source == "mit_states":
        return [mit_states_split(catalog, read_stored_table(workspace, "queries"), split or "test")]
    if source == "fashioniq":
        splits = fashioniq_splits(catalog, read_stored_table(workspace, "templates"), split or "val")
        return [replace(each, masks_reference=not official) for each in splits]
    raise LikewiseError(
        f"{workspace.path} was made by the reader {source!r}, which has no questions about a whole split "
        f"(those of {', '.join(SOURCES)} have): name --templates, or a file of --questions."
    )


def cirr_splits(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> list[SharedGalleryBenchmark]:
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
    return [SharedGalleryBenchmark(f"cirr {split}", _single(chosen), gallery, subsets, CIRR_KS)]


def circo_split(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> SharedGalleryBenchmark:
    """CIRCO: every picture of COCO's unlabelled part is the gallery of every split."""
    chosen = templates.filter(split=split)
    if chosen.is_empty():
        there = ", ".join(templates["split"].unique().sort())
        raise LikewiseError(f"CIRCO has no split {split!r} here: it has {there}.")
    return SharedGalleryBenchmark(
        f"circo {split}", _cast(chosen), catalog["image"].sort().to_list(), ks=(), precision_ks=PRECISION_KS
    )


def catalog_questions(catalog: pl.DataFrame, questions: pl.DataFrame, name: str) -> SharedGalleryBenchmark:
    """Questions of one's own with the whole catalog as gallery; several right answers add mAP@k."""
    several = (questions["targets"].list.len() > 1).any()
    precision = PRECISION_KS if several else ()
    return SharedGalleryBenchmark(name, _cast(questions), catalog["image"].sort().to_list(), None, CIRR_KS, precision)


def fashioniq_splits(catalog: pl.DataFrame, templates: pl.DataFrame, split: str) -> list[SharedGalleryBenchmark]:
    """FashionIQ, one gallery per category."""
    found = []
    of_split = templates.filter(split=split)
    for category in of_split["category"].unique().sort():
        chosen = of_split.filter(category=category)
        listed = catalog.filter((pl.col("split") == split) & (pl.col("category") == category))["image"]
        # a picture of two categories stands in the catalog under the first
        named = pl.concat([listed, chosen["reference"], chosen["target"].drop_nulls()])
        gallery = named.filter(named.is_in(catalog["image"].implode())).unique().sort().to_list()
        found.append(SharedGalleryBenchmark(f"fashioniq {category} {split}", _single(chosen), gallery, ks=FASHIONIQ_KS))
    return found


def mit_states_split(catalog: pl.DataFrame, queries: pl.DataFrame, split: str) -> SharedGalleryBenchmark:
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
    gallery = pictures["image"].sort().to_list()
    return SharedGalleryBenchmark(f"mit-states {split}", _cast(queries), gallery, precision_ks=(10,))


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


def split_features(
    workspace: WorkspaceFolder, tower: TwoTower, splits: Sequence[SharedGalleryBenchmark]
) -> ImageTextFeatures:
    """Features of every picture and every condition of some splits."""
    have = set(tower.encoded_images(workspace))
    images = sorted({image for split in splits for image in split.gallery} & have)
    texts = sorted({text for split in splits for text in split.queries["condition"]})
    return ImageTextFeatures(images, tower.image_features(workspace, images), texts, tower.text_features(texts))


def score_split(
    split: SharedGalleryBenchmark,
    features: ImageTextFeatures,
    methods: Sequence[ConditionalMethod],
    *,
    tolerance: float = SCORE_TOLERANCE,
) -> TaskResults:
    """Put every query that has a right answer to every method, with the whole gallery."""
    answerable = split.queries.filter(pl.col("targets").is_not_null())
    found: dict[str, list[TargetRanks]] = {method.name: [] for method in methods}
    precisions: dict[str, list[Floats]] = {method.name: [] for method in methods}
    for queries, batch, present in split_batches(split, answerable, features):
        positives = _positives(queries, batch.candidates[0])
        for method in methods:
            scores = method.scores(batch)
            found[method.name].append(rank_targets(scores, positives, present, tolerance))
            if split.precision_ks:
                values = average_precision(scores, positives, present, split.precision_ks, tolerance)
                precisions[method.name].append(values)
    if not any(found.values()):
        raise LikewiseError(
            f"{split.name} has no question with a known answer: use it with `likewise condition submit`."
        )
    results: TaskResults = {}
    for name, parts in found.items():
        ranks = concatenate_ranks(parts)
        more = _precisions(ranks, precisions[name], split.precision_ks)
        results[name] = {split.name: TaskResult(ranks, len(answerable), more)}
    return results


def with_subset_mean(found: TaskResults, subsets: TaskResults, *, official: bool = False) -> TaskResults:
    """CIRR's own summary beside its recalls: the mean of Recall@5 and of Recall@1 among a question's six pictures."""
    together: TaskResults = {}
    for method, tasks in found.items():
        [few] = subsets[method].values()
        together[method] = {}
        for name, task in tasks.items():
            whole, among = recall_at_k(task.ranks, 5, official=official), recall_at_k(few.ranks, 1, official=official)
            if len(whole) != len(among):  # some pictures have no features: the two are not about the same questions
                together[method][name] = task
                continue
            chance = float((chance_recall(task.ranks, 5).mean() + chance_recall(few.ranks, 1).mean()) / 2)
            more = dict(task.more) | {SUBSET_MEAN: QuestionValues((whole + among) / 2, chance)}
            together[method][name] = replace(task, more=more)
    return together


def _precisions(ranks: TargetRanks, parts: Sequence[Floats], ks: Sequence[int]) -> dict[str, QuestionValues]:
    if not ks:
        return {}
    values = np.concatenate(parts)
    pairs = np.stack([ranks.n_positives, ranks.n_candidates], axis=1)
    different, counts = np.unique(pairs[ranks.n_positives > 0], axis=0, return_counts=True)
    levels = np.stack([chance_precision(int(right), int(n), ks) for right, n in different])
    chance = np.average(levels, axis=0, weights=counts)
    return {f"mAP@{k}": QuestionValues(values[:, place], float(chance[place])) for place, k in enumerate(ks)}


def split_batches(
    split: SharedGalleryBenchmark, queries: pl.DataFrame, features: ImageTextFeatures
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
            if image in column_of and split.masks_reference:
                present[row, column_of[image]] = False
        batch = QueryBatch(
            features.image_features[features.image_rows(references)],
            features.text_features[[features.text_row_of[text] for text in part["condition"]]],
            shared,
            references,
            part["condition"].to_list(),
            [gallery],
            [split.name] * len(part),
            part["template"].to_list(),
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
