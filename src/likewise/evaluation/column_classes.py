"""A catalog column as the truth: which encoders and images it can be compared on."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from likewise.catalog import read_catalog
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class ColumnClasses:
    """Images that have a value in the column and vectors of every encoder, with their values."""

    encoders: list[str]
    images: list[str]
    values: list[str]


def read_column_classes(workspace: WorkspaceFolder, column: str, encoders: Sequence[str] = ()) -> ColumnClasses:
    """The encoders named, or all that have vectors, and what they can be compared on."""
    catalog = read_catalog(workspace)
    if column not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {column!r}: choose one of {', '.join(catalog.columns)}.")
    chosen = list(encoders) or workspace.encoders()
    if not chosen:
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.path}`.")
    known = catalog.filter(pl.col(column).is_not_null())
    images = common_images(workspace, chosen, known["image"].to_list())
    values = known.filter(pl.col("image").is_in(images))[column].cast(pl.String).to_list()
    return ColumnClasses(chosen, images, values)
