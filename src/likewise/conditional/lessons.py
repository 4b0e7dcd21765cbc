"""What a Combiner learns from: rows of reference, condition, target, and images that are surely wrong.

Mined triplets, CIRR's own triplets and templates all become this one table; validation is on templates, or on some of
the lessons themselves that are held out.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog.readers.stored import read_stored_table
from likewise.conditional.judging import Validation
from likewise.conditional.mining.step import read_triplets
from likewise.conditional.protocol import TEMPLATE_SCHEMA, check_templates
from likewise.conditional.splits import SOURCES, whole_splits
from likewise.conditional.templates.files import OFFICIAL, read_templates
from likewise.errors import LikewiseError
from likewise.workspace import Workspace, read_parquet

LESSON_SCHEMA = {name: TEMPLATE_SCHEMA[name] for name in ("reference", "condition", "target", "gallery")}
HELD_OUT = "held out"
GALLERY = 15
LEAST_OWN = 5
"""Wrong answers with which a lesson is a template by itself."""


def read_lessons(source: str, workspace: Workspace) -> pl.DataFrame:
    """Lessons from a folder of `likewise mine`, a Parquet file, or a set of templates of the workspace.

    `official` is what a data set brought along, CIRR's own triplets for instance, of which the split `train` is used.
    """
    path = Path(source)
    if path.exists():
        return as_lessons(read_triplets(path))
    stored = workspace.tables_folder / "templates.parquet"
    if source == OFFICIAL and stored.exists():
        table = read_stored_table(workspace, "templates")
        return as_lessons(table.filter(split="train") if "split" in table.columns else table)
    return as_lessons(read_templates(workspace, source)[1])


def read_validation(source: str | None, workspace: Workspace) -> Validation | None:
    """Questions for early stopping: a set of templates, a file of them, or `official` for CIRR's validation split."""
    if source is None:
        return None
    if source == OFFICIAL and str(workspace.settings()["source"]) in SOURCES:
        return whole_splits(workspace)
    return read_questions(source, workspace)


def read_questions(source: str, workspace: Workspace) -> pl.DataFrame:
    """Templates, by the name of their set in the workspace or by a file."""
    if Path(source).is_file():
        return check_templates(read_parquet(Path(source), "likewise condition build"), source)
    return read_templates(workspace, source)[1]


def as_lessons(table: pl.DataFrame) -> pl.DataFrame:
    """Any table with reference, condition and target; `gallery`, or mined distractors, are kept as wrong answers."""
    if "gallery" in table.columns:
        wrong = pl.col("gallery")
    else:
        names = [name for name in ("same_subject", "same_object") if name in table.columns]
        empty = pl.lit([], dtype=pl.List(pl.String))
        wrong = pl.concat_list(names).list.drop_nulls() if names else empty
    lessons = table.with_columns(wrong.alias("gallery")).select(
        pl.col(name).cast(kind) for name, kind in LESSON_SCHEMA.items()
    )
    return lessons.drop_nulls(["reference", "condition", "target"])


def known_lessons(lessons: pl.DataFrame, images: Sequence[str]) -> pl.DataFrame:
    """Those whose reference and target have features; wrong answers without features are dropped."""
    known = pl.Series(images, dtype=pl.String).implode()
    found = lessons.filter(pl.col("reference").is_in(known) & pl.col("target").is_in(known)).with_columns(
        pl.col("gallery").list.eval(pl.element().filter(pl.element().is_in(known)))
    )
    if found.is_empty():
        raise LikewiseError(
            f"none of the {lessons.height:,} triplets names images of this catalog: mine the captions of the "
            "workspace itself, or encode the images that the triplets name."
        )
    return found


def held_out_templates(
    lessons: pl.DataFrame, share: float, seed: int, gallery: int = GALLERY
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Lessons without a part of their references, and that part as templates, with own wrong answers where it has."""
    rng = np.random.default_rng([seed, 5])
    references = lessons["reference"].unique().sort().to_numpy()
    chosen = pl.Series(rng.permutation(references)[: max(1, round(share * len(references)))], dtype=pl.String)
    held = lessons.filter(pl.col("reference").is_in(chosen.implode()))
    rest = lessons.filter(~pl.col("reference").is_in(chosen.implode()))
    targets = lessons["target"].unique().sort().to_numpy()
    if rest.is_empty() or len(targets) < 3:
        raise LikewiseError(f"{lessons.height} triplets are too few to hold some out: name templates to validate on.")
    galleries = []
    for reference, target, wrong in held.select("reference", "target", "gallery").iter_rows():
        if len(wrong) >= LEAST_OWN:
            galleries.append(wrong)
            continue
        drawn = rng.choice(targets, min(2 * gallery, len(targets)), replace=False)
        galleries.append([image for image in drawn if image not in (reference, target)][: gallery - 1])
    templates = held.with_columns(
        pl.Series("gallery", galleries, dtype=pl.List(pl.String)),
        pl.lit(HELD_OUT).alias("task"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("template"),
    )
    return rest, templates.select(*TEMPLATE_SCHEMA)
