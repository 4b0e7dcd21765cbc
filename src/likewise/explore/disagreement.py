"""Where two models differ: by what they find, and, with labels, by how well; and every mistake of one of them.

Before labels exist, two models differ on a query as far as their lists do: 1 - |A and B| / k over items. With labels,
by the difference of their average precision over the labelled candidates of the query.
"""

from dataclasses import dataclass

import numpy as np
import polars as pl

from likewise.discovery.step import read_pool
from likewise.errors import LikewiseError
from likewise.evaluation.auc import average_precision, sort_pairs
from likewise.evaluation.mistakes import all_mistakes
from likewise.evaluation.pairs import JudgedPairs, build_judged_pairs
from likewise.evaluation.screening import screen_labels
from likewise.explore.gallery import TOP_K, Gallery
from likewise.explore.labels import LabelReader
from likewise.neighbours import pair_scores
from likewise.neighbours.scores import Scores

MAX_QUERIES = 2000
SEED = 0
SORTS = {
    "lists": "different lists",
    "difference": "difference of AP",
    "worst": "worst AP",
    "split": "split experts",
}


@dataclass(frozen=True)
class Disagreement:
    """A row per query: query, shared (of k items), ap_a, ap_b, n_labels, n_split; AP is null without both classes."""

    first: str
    second: str
    k: int
    table: pl.DataFrame
    n_queries: int
    learned: tuple[str, ...]
    """Of the two, those that learned these labels: their AP says how well they remember."""

    def by(self, order: str) -> pl.DataFrame:
        """The queries on which they differ most come first."""
        worst = pl.min_horizontal("ap_a", "ap_b")
        keys = {
            "lists": pl.col("shared"),
            "difference": -(pl.col("ap_a") - pl.col("ap_b")).abs(),
            "worst": worst,
            "split": -pl.col("n_split").cast(pl.Int64),
        }
        if order not in keys:
            raise LikewiseError(f"queries cannot be sorted by {order!r}: choose {', '.join(keys)}.")
        table = self.table.filter(pl.col("n_split") > 0) if order == "split" else self.table
        if order in ("difference", "worst"):
            table = table.filter(pl.col("ap_a").is_not_null() & pl.col("ap_b").is_not_null())
        return table.sort(keys[order], pl.col("query"))


def find_disagreement(gallery: Gallery, labels: LabelReader, first: str, second: str, k: int = TOP_K) -> Disagreement:
    """How far two encoders differ on every query of the pool, or of the catalog where there is no pool."""
    if first == second:
        raise LikewiseError("two different encoders are needed: choose another one.")
    having = set(gallery.vectors(first).rows.tolist()) & set(gallery.vectors(second).rows.tolist())
    named = [gallery.row_of[image] for image in _queries(gallery) if image in gallery.row_of]
    queries = [row for row in named if row in having]
    lists = gallery.neighbours_of_many(queries, [first, second], k=k) if queries else []
    items = gallery.items
    shared = [len(set(items[a.rows].tolist()) & set(items[b.rows].tolist())) for a, b in lists]
    table = pl.DataFrame(
        {"query": [gallery.images[row] for row in queries], "shared": shared},
        schema={"query": pl.String, "shared": pl.Int64},
    )
    judged = labels.table()
    learned: tuple[str, ...] = ()
    if judged is None:
        empty = [pl.lit(None, pl.Float64).alias(name) for name in ("ap_a", "ap_b")]
        table = table.with_columns(*empty, pl.lit(0).alias("n_labels"), pl.lit(0).alias("n_split"))
    else:
        learned = tuple(screen_labels(gallery.workspace, [first, second]).learned)
        told = _label_columns(judged)
        for name, encoder in (("ap_a", first), ("ap_b", second)):
            told = told.join(_precision(gallery, judged, encoder, name), on="query", how="left")
        table = table.join(told, on="query", how="left", maintain_order="left")
        table = table.with_columns(pl.col("n_labels", "n_split").fill_null(0))
    return Disagreement(first, second, k, table, len(queries), learned)


def _queries(gallery: Gallery) -> list[str]:
    """Those of the pool; else images of the catalog, drawn by lot where there are many."""
    if gallery.workspace.pool_file.exists():
        return list(read_pool(gallery.workspace).query_gallery.queries)
    if len(gallery.images) <= MAX_QUERIES:
        return gallery.images
    drawn = np.random.default_rng(SEED).choice(len(gallery.images), MAX_QUERIES, replace=False)
    return [gallery.images[row] for row in sorted(drawn.tolist())]


def _label_columns(labels: pl.DataFrame) -> pl.DataFrame:
    both = pl.lit(False)
    if {"similar", "not_similar"} <= set(labels.columns):
        both = (pl.col("similar") > 0) & (pl.col("not_similar") > 0)
    return labels.group_by("query").agg(pl.len().alias("n_labels"), both.fill_null(False).sum().alias("n_split"))


def _judged_pairs(gallery: Gallery, labels: pl.DataFrame, encoder: str) -> tuple[JudgedPairs, Scores]:
    """The labelled pairs that an encoder has vectors of, and its scores."""
    there = gallery.vectors(encoder)
    images = [gallery.images[row] for row in there.rows.tolist()]
    named = labels.filter(pl.col("label").is_not_null())
    asked = sorted(set(named["query"]) & set(images))
    pairs = build_judged_pairs(gallery.catalog, named, asked, images)
    place = {image: position for position, image in enumerate(images)}
    queries = there.vectors[[place[image] for image in asked]]
    return pairs, pair_scores(queries, there.vectors, pairs.query, pairs.candidate)


def _precision(gallery: Gallery, labels: pl.DataFrame, encoder: str, name: str) -> pl.DataFrame:
    pairs, scores = _judged_pairs(gallery, labels, encoder)
    values = average_precision(sort_pairs(pairs.query, scores, pairs.label, len(pairs.queries)))
    return pl.DataFrame(
        {"query": pairs.queries, name: values}, schema={"query": pl.String, name: pl.Float64}
    ).with_columns(pl.col(name).fill_nan(None))


def find_mistakes(gallery: Gallery, labels: LabelReader, encoder: str) -> pl.DataFrame:
    """Every mistake of an encoder against the labels: kind, query, candidate, severity, score."""
    judged = labels.table()
    if judged is None:
        raise LikewiseError(
            "a mistake needs a label, and there are none yet: ask the experts about pairs on which models differ."
        )
    pairs, scores = _judged_pairs(gallery, judged, encoder)
    return all_mistakes(encoder, scores, pairs)
