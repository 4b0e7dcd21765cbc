"""Which classes train, validate and test (Reality Check, sec. 3.2).

Classes are sorted; the first half is for cross-validation, the second half is the test.  The first half is cut into
contiguous parts of the same share of all classes (four parts: 0-12.5 %, 12.5-25 %, ...); each part validates once
while the others train.  No class is on two sides, which is asserted when a split is made.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import items_of
from likewise.errors import LikewiseError

Rows = NDArray[np.int64]
MIN_CLASSES = 16  # two for each part of four folds


@dataclass(frozen=True)
class ClassFold:
    """Rows of the split's images that train and that validate."""

    number: int
    train: Rows
    validation: Rows


@dataclass(frozen=True)
class ClassSplit:
    """Images with their class (a number in sorted order), and the rows of every part."""

    images: tuple[str, ...]
    labels: Rows
    classes: tuple[str, ...]
    folds: tuple[ClassFold, ...]
    test: Rows
    n_without_class: int
    items: Rows | None = None
    """Of each image a number that is equal for images of one item, where items are known."""

    @property
    def development(self) -> Rows:
        """The rows of the first half, which everything is fitted on."""
        return np.flatnonzero(self.labels < len(self.classes) // 2)

    def keys(self, rows: Rows) -> list[str]:
        return [self.images[row] for row in rows]


def split_catalog(catalog: pl.DataFrame, column: str, n_folds: int = 4) -> ClassSplit:
    """Split the images whose `column` says a class."""
    if column not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {column!r}: choose one of {', '.join(catalog.columns)}.")
    named = catalog.filter(pl.col(column).is_not_null())
    values = named[column].cast(pl.String).to_list()
    split = split_classes(named["image"].to_list(), values, n_folds, n_without_class=len(catalog) - len(named))
    return replace(split, items=items_of(named)) if "item" in named.columns else split


def split_classes(
    images: Sequence[str], values: Sequence[str], n_folds: int = 4, n_without_class: int = 0
) -> ClassSplit:
    """The same from keys and class names."""
    classes = sort_class_names(set(values))
    if len(classes) < max(MIN_CLASSES, 4 * n_folds):
        raise LikewiseError(
            f"{len(classes)} classes are too few for {n_folds} folds and a test: a check needs at least "
            f"{max(MIN_CLASSES, 4 * n_folds)}; choose another --column."
        )
    number = {name: place for place, name in enumerate(classes)}
    labels = np.array([number[value] for value in values], np.int64)
    edges = fold_boundaries(len(classes), n_folds)
    test_start = edges[-1]
    folds = []
    for fold in range(n_folds):
        validates = (labels >= edges[fold]) & (labels < edges[fold + 1])
        trains = (labels < test_start) & ~validates
        folds.append(ClassFold(fold, np.flatnonzero(trains), np.flatnonzero(validates)))
    split = ClassSplit(
        tuple(images), labels, tuple(classes), tuple(folds), np.flatnonzero(labels >= test_start), n_without_class
    )
    assert_disjoint(split)
    _refuse_lone_images(split)
    return split


def _refuse_lone_images(split: ClassSplit) -> None:
    """Of a class with one image nothing can be found: a part that has only such classes measures nothing."""
    n_images = np.bincount(split.labels, minlength=len(split.classes))
    parts = {f"fold {fold.number + 1} validates": fold.validation for fold in split.folds}
    for where, rows in (parts | {"the test is": split.test}).items():
        if not (n_images[split.labels[rows]] > 1).any():
            raise LikewiseError(
                f"{int((n_images > 1).sum()):,} of {len(split.classes):,} classes have more than one image, and none "
                f"of them is where {where}: nothing can be found there; choose another --column."
            )


def fold_boundaries(n_classes: int, n_folds: int) -> list[int]:
    """Where the parts of the first half start, and where it ends: part i starts at i / (2 folds) of all classes."""
    return [n_classes * part // (2 * n_folds) for part in range(n_folds + 1)]


def sort_class_names(names: set[str]) -> list[str]:
    """Whole numbers by value, anything else as text."""
    if all(name.isdecimal() for name in names):
        return sorted(names, key=int)
    return sorted(names)


def assert_disjoint(split: ClassSplit) -> None:
    """No class trains and validates, or is seen before the test."""
    test = set(split.labels[split.test])
    for fold in split.folds:
        train, validation = set(split.labels[fold.train]), set(split.labels[fold.validation])
        assert not train & validation, f"fold {fold.number}: a class trains and validates"
        assert not (train | validation) & test, f"fold {fold.number}: a class of the test is in it"
