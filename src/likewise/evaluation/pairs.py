"""Labels of a workspace turned into arrays: which queries, which gallery, which pairs are judged."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog import items_of
from likewise.errors import LikewiseError
from likewise.evaluation.auc import Floats, Ints
from likewise.labeling.grades import GRADE


@dataclass(frozen=True)
class JudgedPairs:
    """Judged (query, candidate) pairs as row numbers into `queries` and `gallery`, both sorted by key."""

    queries: list[str]
    gallery: list[str]
    query_items: Ints
    gallery_items: Ints
    query: Ints
    candidate: Ints
    label: NDArray[np.int8]
    grade: Floats | None = None  # how similar each pair is, where labels are graded

    def __len__(self) -> int:
        return len(self.label)

    @property
    def has_positive(self) -> NDArray[np.bool_]:
        return self.n_positive > 0

    @property
    def n_positive(self) -> Ints:
        """Labelled positives of each query."""
        return np.bincount(self.query[self.label == 1], minlength=len(self.queries))


def build_judged_pairs(
    catalog: pl.DataFrame, labels: pl.DataFrame, queries: Sequence[str], gallery: Sequence[str]
) -> JudgedPairs:
    """Line up labels (query, candidate, label, perhaps grade) with the images in use; unknown images are an error.

    A pair of two images of one item says nothing about similar items: like pairs of other images it is left out.
    """
    named = pl.concat([labels["query"], labels["candidate"].alias("query")]).unique(maintain_order=True)
    unknown = named.filter(~named.is_in(catalog["image"].implode()))
    if len(unknown):
        raise LikewiseError(
            f"the labels name {len(unknown)} images that are not in the catalog "
            f"({', '.join(unknown.head(3))}{', …' if len(unknown) > 3 else ''}): use the catalog they belong to."
        )
    items = dict(zip(catalog["image"], items_of(catalog).tolist(), strict=True))
    query_of = {image: row for row, image in enumerate(queries)}
    candidate_of = {image: row for row, image in enumerate(gallery)}
    graded = GRADE in labels.columns
    grades = labels[GRADE].cast(pl.Float64).fill_null(0.0).to_list() if graded else [0.0] * len(labels)
    rows, kept_grades = [], []
    for (query, candidate, label), one in zip(
        labels.select("query", "candidate", "label").iter_rows(), grades, strict=True
    ):
        if query in query_of and candidate in candidate_of:
            rows.append((query_of[query], candidate_of[candidate], label))
            kept_grades.append(one)
    columns = np.array(rows, dtype=np.int64).reshape(-1, 3)
    query_items = np.array([items[image] for image in queries], dtype=np.int64)
    gallery_items = np.array([items[image] for image in gallery], dtype=np.int64)
    other_item = query_items[columns[:, 0]] != gallery_items[columns[:, 1]]
    columns = columns[other_item]
    return JudgedPairs(
        list(queries),
        list(gallery),
        query_items,
        gallery_items,
        columns[:, 0],
        columns[:, 1],
        columns[:, 2].astype(np.int8),
        np.array(kept_grades, np.float64)[other_item] if graded else None,
    )


def refuse_queries_without_candidates(pairs: JudgedPairs) -> None:
    """Raise if a query has no candidate at all: the gallery shows nothing but its own item."""
    items = set(pairs.gallery_items.tolist())
    if len(items) > 1:
        return
    own = zip(pairs.queries, pairs.query_items.tolist(), strict=True)
    without_candidates = [query for query, item in own if items <= {item}]
    if without_candidates:
        more = "" if len(without_candidates) == 1 else f" (and {len(without_candidates) - 1} more queries)"
        raise LikewiseError(
            f"the query {without_candidates[0]}{more} has no candidate: every gallery image shows its own item; "
            "leave it out."
        )


def select_pairs(pairs: JudgedPairs, kept: NDArray[np.bool_]) -> JudgedPairs:
    """Only the judged pairs where `kept` is true; queries and gallery stay."""
    return replace(
        pairs,
        query=pairs.query[kept],
        candidate=pairs.candidate[kept],
        label=pairs.label[kept],
        grade=None if pairs.grade is None else pairs.grade[kept],
    )


def against_negatives(pairs: JudgedPairs, query: Ints, candidate: Ints) -> JudgedPairs:
    """The labelled positives, in their order, and after them these pairs as negatives in place of the labelled ones."""
    positive = pairs.label == 1
    return replace(
        pairs,
        query=np.concatenate([pairs.query[positive], query]),
        candidate=np.concatenate([pairs.candidate[positive], candidate]),
        label=np.concatenate([pairs.label[positive], np.zeros(len(query), np.int8)]),
        grade=None,
    )
