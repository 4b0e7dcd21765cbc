"""Labels that a data set sets aside for learning (split `train`): stored beside the labels, never measured on.

A pair that is asked in both parts, either way round, stays with the part that models are measured on.
"""

from dataclasses import replace
from pathlib import Path

import polars as pl

from likewise.catalog import read_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.exchange.labels_io import SPLIT, LabelsFile
from likewise.labeling.votes import PAIR
from likewise.workspace import WorkspaceFolder, read_parquet

TRAIN = "train"


def set_apart(read: LabelsFile, path: Path) -> tuple[LabelsFile, pl.DataFrame | None]:
    """The labels to measure on, and those to learn from; None where the file has no training part."""
    if SPLIT not in read.labels.columns:
        return read, None
    of_training = pl.col(SPLIT).eq_missing(TRAIN)
    measured, training = read.labels.filter(~of_training), read.labels.filter(of_training)
    if training.is_empty():
        return read, None
    if measured.is_empty():
        raise LikewiseError(f"all labels of {path} are of the split {TRAIN}: add those that models are measured on.")
    turned = measured.select(query="candidate", candidate="query")
    apart = training.join(measured, on=PAIR, how="anti").join(turned, on=PAIR, how="anti")
    return replace(read, labels=measured), apart.sort(PAIR)


def read_training_labels(workspace: WorkspaceFolder) -> pl.DataFrame | None:
    """The labels to learn from, about images of the catalog; None where the labels have no such part."""
    if not workspace.training_labels_file.exists():
        return None
    labels = read_parquet(workspace.training_labels_file, f"likewise label import {workspace.path}")
    known = read_catalog(workspace)["image"].implode()
    return labels.filter(pl.col("query").is_in(known) & pl.col("candidate").is_in(known))
