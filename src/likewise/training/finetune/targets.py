"""What a network is fine-tuned to say about each image: its item (ID), its category (CAT), both (ID+C), or nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from likewise.catalog.table import select_catalog_rows
from likewise.errors import LikewiseError
from likewise.evaluation.auc import Ints

FinetuneTask = Literal["id", "cat", "id+c", "dino"]
TASKS: tuple[FinetuneTask, ...] = get_args(FinetuneTask)
TARGET_COLUMNS: dict[FinetuneTask, tuple[str, ...]] = {
    "id": ("item",),
    "cat": ("category",),
    "id+c": ("item", "category"),
    "dino": (),
}


@dataclass(frozen=True)
class ClassTargets:
    """The images to learn from and, for every head, the class number of each."""

    images: list[str]
    classes: dict[str, Ints]

    @property
    def n_classes(self) -> dict[str, int]:
        return {head: int(numbers.max()) + 1 for head, numbers in self.classes.items()}


def class_targets(
    catalog: pl.DataFrame, task: FinetuneTask, *, where: str | None = None, leave_out: Sequence[str] = ()
) -> ClassTargets:
    """The images that meet `where` and whose category is not one of `leave_out`, with their classes."""
    if task not in TARGET_COLUMNS:
        raise LikewiseError(f"there is no task {task!r}: use {', '.join(TASKS)}.")
    chosen = select_catalog_rows(catalog, where)
    if leave_out:
        unknown = set(leave_out) - set(chosen["category"].drop_nulls())
        if unknown:
            raise LikewiseError(
                f"no image has the category {min(unknown)!r} that is to be left out: check its spelling."
            )
        chosen = chosen.filter(~pl.col("category").is_in(leave_out).fill_null(False))
    for column in TARGET_COLUMNS[task]:
        chosen = chosen.filter(pl.col(column).is_not_null())
        n_classes = chosen[column].n_unique()
        if n_classes < 2:
            raise LikewiseError(
                f"{task} needs at least two values of {column}, and the images chosen have {n_classes}."
            )
        if column == "item" and n_classes == len(chosen):
            raise LikewiseError(
                f"every one of the {len(chosen)} images is an item of its own, so there are no ids to learn: "
                "use --task cat."
            )
    if len(chosen) < 2:
        raise LikewiseError(f"{len(chosen)} images are too few to learn from.")
    numbers = {column: (chosen[column].rank("dense") - 1).cast(pl.Int64).to_numpy() for column in TARGET_COLUMNS[task]}
    return ClassTargets(chosen["image"].to_list(), numbers)
