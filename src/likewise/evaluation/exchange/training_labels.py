"""Labels that a data set sets aside for learning (split `train`): stored beside the labels, never measured on.

A pair of items that is asked in both parts, by whichever images and either way round, stays with the part that models
are measured on: the guard takes an answer about two items for known to whoever learned it from other pictures of them.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from likewise.catalog import read_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_io import SPLIT, LabelsFile
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet

TRAIN = "train"


def set_apart(read: LabelsFile, path: Path, catalog: pl.DataFrame) -> tuple[LabelsFile, pl.DataFrame | None]:
    """The labels to measure on, and those to learn from; None where the file has no training part."""
    if SPLIT not in read.labels.columns:
        return read, None
    of_training = pl.col(SPLIT).eq_missing(TRAIN)
    measured, training = read.labels.filter(~of_training), read.labels.filter(of_training)
    if training.is_empty():
        return read, None
    if measured.is_empty():
        raise LikewiseError(f"all labels of {path} are of the split {TRAIN}: add those that models are measured on.")
    item_of = dict(catalog.select("image", pl.col("item").cast(pl.String)).iter_rows())
    asked = {_items(pair, item_of) for pair in measured.select(PAIR).iter_rows()}
    unasked = [_items(pair, item_of) not in asked for pair in training.select(PAIR).iter_rows()]
    return replace(read, labels=measured), training.filter(unasked).sort(PAIR)


def _items(pair: tuple[str, ...], item_of: Mapping[str, str | None]) -> frozenset[str]:
    """What a pair asks about; an image without an item is one."""
    return frozenset(item_of.get(image) or image for image in pair)


def read_training_labels(workspace: WorkspaceFolder) -> pl.DataFrame | None:
    """The labels to learn from, about images of the catalog; None where the labels have no such part."""
    if not workspace.training_labels_file.exists():
        return None
    labels = read_parquet(workspace.training_labels_file, f"likewise label import {workspace.quoted}")
    known = read_catalog(workspace)["image"].implode()
    return labels.filter(pl.col("query").is_in(known) & pl.col("candidate").is_in(known))
