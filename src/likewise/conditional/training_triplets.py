"""What a Combiner learns from: rows of reference, condition, target, and images that are surely wrong.

Mined triplets, CIRR's own triplets and templates all become this one table; validation is on templates, or on some
of the triplets themselves that are held out.
"""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from likewise.catalog.readers.stored_tables import read_stored_table
from likewise.catalog.table import read_catalog
from likewise.conditional.mining.step import read_triplets
from likewise.conditional.protocol import TEMPLATE_SCHEMA, check_templates
from likewise.conditional.splits import SOURCES, load_split_benchmarks
from likewise.conditional.templates.files import OFFICIAL, read_templates
from likewise.conditional.validation import ValidationSet
from likewise.errors import LikewiseError
from likewise.lineage.halves import select_half
from likewise.workspace import WorkspaceFolder, read_parquet

TRAINING_TRIPLET_SCHEMA = {name: TEMPLATE_SCHEMA[name] for name in ("reference", "condition", "target", "gallery")}
HELD_OUT = "held out"
GALLERY_SIZE = 15
MIN_OWN_NEGATIVES = 5
"""Negatives with which a triplet is a template by itself."""


def read_training_triplets(source: str, workspace: WorkspaceFolder) -> pl.DataFrame:
    """Triplets from a folder of `likewise condition mine`, a Parquet file, or a set of templates of the workspace.

    `official` is what a data set brought along, CIRR's own triplets for instance, of which the split `train` is used.
    """
    path = Path(source)
    if path.exists():
        return to_training_triplets(read_triplets(path))
    stored = workspace.tables_folder / "templates.parquet"
    if source == OFFICIAL and stored.exists():
        table = read_stored_table(workspace, "templates")
        return to_training_triplets(table.filter(split="train") if "split" in table.columns else table)
    return to_training_triplets(read_templates(workspace, source)[1])


def is_mined(source: str) -> bool:
    """Whether a source of `read_training_triplets` is a folder of `likewise condition mine`."""
    return Path(source).is_dir()


def triplets_of_half(triplets: pl.DataFrame, workspace: WorkspaceFolder, half: str | None) -> pl.DataFrame:
    """Those whose reference and target are in one half of the catalog; negatives outside of it are dropped."""
    if half is None:
        return triplets
    return keep_encoded_triplets(triplets, select_half(read_catalog(workspace), half)["image"].to_list())


def read_validation(source: str | None, workspace: WorkspaceFolder) -> ValidationSet | None:
    """Questions for early stopping: a set of templates, a file of them, or `official` for CIRR's validation split."""
    if source is None:
        return None
    if source == OFFICIAL and str(workspace.settings()["source"]) in SOURCES:
        return load_split_benchmarks(workspace)
    return load_templates(source, workspace)


def load_templates(source: str, workspace: WorkspaceFolder) -> pl.DataFrame:
    """Templates, by the name of their set in the workspace or by a file."""
    if Path(source).is_file():
        return check_templates(read_parquet(Path(source), "likewise condition build"), source)
    return read_templates(workspace, source)[1]


def to_training_triplets(table: pl.DataFrame) -> pl.DataFrame:
    """Any table with reference, condition and target; `gallery`, or mined distractors, are kept as negatives."""
    if "gallery" in table.columns:
        negatives = pl.col("gallery")
    else:
        names = [name for name in ("same_subject", "same_object") if name in table.columns]
        empty = pl.lit([], dtype=pl.List(pl.String))
        negatives = pl.concat_list(names).list.drop_nulls() if names else empty
    triplets = table.with_columns(negatives.alias("gallery")).select(
        pl.col(name).cast(kind) for name, kind in TRAINING_TRIPLET_SCHEMA.items()
    )
    return triplets.drop_nulls(["reference", "condition", "target"])


def keep_encoded_triplets(triplets: pl.DataFrame, images: Sequence[str]) -> pl.DataFrame:
    """Those whose reference and target have features; negatives without features are dropped."""
    known = pl.Series(images, dtype=pl.String).implode()
    found = triplets.filter(pl.col("reference").is_in(known) & pl.col("target").is_in(known)).with_columns(
        pl.col("gallery").list.eval(pl.element().filter(pl.element().is_in(known)))
    )
    if found.is_empty():
        raise LikewiseError(
            f"none of the {triplets.height:,} triplets names images of this catalog: mine the captions of the "
            "workspace itself, or encode the images that the triplets name."
        )
    return found


def train_validation_split(
    triplets: pl.DataFrame, share: float, seed: int, gallery: int = GALLERY_SIZE
) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Triplets without a part of their references, and that part as templates, with own negatives where it has."""
    rng = np.random.default_rng([seed, 5])
    references = triplets["reference"].unique().sort().to_numpy()
    chosen = pl.Series(rng.permutation(references)[: max(1, round(share * len(references)))], dtype=pl.String)
    held = triplets.filter(pl.col("reference").is_in(chosen.implode()))
    rest = triplets.filter(~pl.col("reference").is_in(chosen.implode()))
    targets = triplets["target"].unique().sort().to_numpy()
    if rest.is_empty() or len(targets) < 3:
        raise LikewiseError(f"{triplets.height} triplets are too few to hold some out: name templates to validate on.")
    galleries = []
    for reference, target, negatives in held.select("reference", "target", "gallery").iter_rows():
        if len(negatives) >= MIN_OWN_NEGATIVES:
            galleries.append(negatives)
            continue
        drawn = rng.choice(targets, min(2 * gallery, len(targets)), replace=False)
        galleries.append([image for image in drawn if image not in (reference, target)][: gallery - 1])
    templates = held.with_columns(
        pl.Series("gallery", galleries, dtype=pl.List(pl.String)),
        pl.lit(HELD_OUT).alias("task"),
        pl.int_range(pl.len(), dtype=pl.Int64).alias("template"),
    )
    return rest, templates.select(*TEMPLATE_SCHEMA)
