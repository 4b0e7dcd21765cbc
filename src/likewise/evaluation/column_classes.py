"""A catalog column as the truth: which encoders and images it can be compared on."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from likewise.catalog import read_catalog
from likewise.encoders.storage.reading import common_images
from likewise.errors import LikewiseError
from likewise.evaluation.screening import class_set, copy_notes, screen_encoders, triplet_set
from likewise.lineage.guard import Screening
from likewise.lineage.halves import select_half
from likewise.lineage.states import earlier_states
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class ColumnClasses:
    """Images that have a value in the column and vectors of every encoder, with their values."""

    encoders: list[str]
    images: list[str]
    values: list[str]
    screening: Screening
    """What the guard found about the encoders."""
    notes: list[str]
    """The same in sentences, and which encoders learned from copies of these images."""


def read_column_classes(
    workspace: WorkspaceFolder,
    column: str,
    encoders: Sequence[str] = (),
    *,
    triplets: pl.DataFrame | None = None,
    half: str | None = None,
) -> ColumnClasses:
    """The encoders named, or all that have vectors and did not learn the answers, and what they can be compared on.

    The answers are the classes themselves or, where given, `triplets` about them.
    """
    catalog = select_half(read_catalog(workspace), half)
    if column not in catalog.columns:
        raise LikewiseError(f"the catalog has no column {column!r}: choose one of {', '.join(catalog.columns)}.")
    if not encoders and not workspace.encoders():
        raise LikewiseError(f"there are no vectors in {workspace.path} yet: run `likewise encode {workspace.quoted}`.")
    known = catalog.filter(pl.col(column).is_not_null())
    earlier = earlier_states(workspace)
    asked = class_set(catalog, known["image"], f"the classes of {column}", earlier)
    if triplets is not None:
        asked = triplet_set(catalog, triplets, column, earlier)
    screening = screen_encoders(workspace, encoders or workspace.encoders(), asked)
    chosen = screening.choose(encoders)
    images = common_images(workspace, chosen, known["image"].to_list())
    values = known.filter(pl.col("image").is_in(images))[column].cast(pl.String).to_list()
    if triplets is None and len(set(values)) == len(values):
        usable = [
            name for name in catalog.columns if name != "image" and catalog[name].drop_nulls().is_duplicated().any()
        ]
        hint = f"choose a column whose values recur ({', '.join(usable)})" if usable else "add a column with classes"
        raise LikewiseError(f"no two images have the same {column}, so there is nothing to find: {hint}.")
    unlearned = [name for name in chosen if name not in screening.learned]
    notes = [*screening.notes(chosen), *copy_notes(workspace, unlearned, images)]
    return ColumnClasses(chosen, images, values, screening, notes)
