"""Which relations may become triplets: things that can be seen, subjects that occur often enough.

Each filter is one line of the funnel: how many relations, captions and subjects are left after it, and why.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from likewise.conditional.mining.concreteness import Concreteness, singular
from likewise.conditional.mining.parts import captions_file
from likewise.errors import LikewiseError


@dataclass(frozen=True)
class Rules:
    """The thresholds of the paper, except `relation_concreteness`, for which it gives no number."""

    concreteness: float = 4.8
    """Of a triplet: the mean over subject and object of reference and target."""
    relation_concreteness: float = 4.0
    """Of a relation: the mean over its subject and its object."""
    min_images: int = 5
    """That a subject occurs in."""
    min_objects: int = 2
    """Different ones that a subject is related to."""


@dataclass(frozen=True)
class FunnelStep:
    """What one filter left."""

    step: str
    why: str
    n: int
    unit: str


@dataclass(frozen=True)
class Relations:
    """What survived, as arrays over relations, sorted by (subject, object, image); words are codes into `words`."""

    subject: np.ndarray[tuple[int], np.dtype[np.int64]]
    object: np.ndarray[tuple[int], np.dtype[np.int64]]
    image: np.ndarray[tuple[int], np.dtype[np.int64]]
    row: np.ndarray[tuple[int], np.dtype[np.int64]]
    subject_concreteness: np.ndarray[tuple[int], np.dtype[np.float64]]
    object_concreteness: np.ndarray[tuple[int], np.dtype[np.float64]]
    table: pl.DataFrame
    """The same rows with the words as written: row, subject, relation, object."""

    def __len__(self) -> int:
        return len(self.subject)


def survivors(folder: Path, ratings: Concreteness | None, rules: Rules) -> tuple[Relations, list[FunnelStep]]:
    """The relations of all parts that pass every rule, and the funnel that led to them."""
    captions = pl.scan_parquet(captions_file(folder), glob=False)
    images = (
        captions.select(
            pl.col("image").cast(pl.Categorical).to_physical().cast(pl.Int64).alias("image_code"),
            ok=pl.col("image").is_not_null() & (pl.col("caption").str.strip_chars() != ""),
        )
        .with_row_index("row")
        .with_columns(pl.col("row").cast(pl.Int64))
        .collect()
    )
    found = pl.scan_parquet(sorted((folder / "relations").glob("part-*.parquet"))).collect()
    funnel = [
        FunnelStep("captions", "read", images.height, "captions"),
        FunnelStep(
            "captions with an image",
            "a caption and an image are needed",
            int(images["ok"].fill_null(False).sum()),
            "captions",
        ),
        FunnelStep(
            "captions with a relation",
            "the parser found a subject, a relation and an object",
            found["row"].n_unique(),
            "captions",
        ),
        FunnelStep("relations", "all that were found", found.height, "relations"),
    ]
    found = found.join(images.filter("ok").drop("ok"), on="row", maintain_order="left")
    found = found.with_columns(*_keys_and_ratings(found, ratings))
    if ratings is not None:
        known = found.filter((pl.col("subject_rating") > 0) & (pl.col("object_rating") > 0))
        funnel.append(
            FunnelStep("rated relations", "subject and object have a concreteness rating", known.height, "relations")
        )
        mean = (pl.col("subject_rating") + pl.col("object_rating")) / 2
        found = found.filter(mean >= rules.relation_concreteness)
        why = f"subject and object average at least {rules.relation_concreteness:g} (unrated counts as -1)"
        funnel.append(FunnelStep("concrete relations", why, found.height, "relations"))
    found = found.filter(pl.col("subject_key") != pl.col("object_key"))
    funnel.append(FunnelStep("relations between two things", "subject and object differ", found.height, "relations"))
    found = found.filter(pl.col("image_code").n_unique().over("subject_key") >= rules.min_images)
    why = f"the subject occurs in at least {rules.min_images} images"
    funnel.append(FunnelStep("relations of frequent subjects", why, found.height, "relations"))
    found = found.filter(pl.col("object_key").n_unique().over("subject_key") >= rules.min_objects)
    why = f"the subject has at least {rules.min_objects} different objects"
    funnel.append(FunnelStep("relations of varied subjects", why, found.height, "relations"))
    if found.is_empty():
        raise LikewiseError("no relation survived the filters: mine more captions, or lower the thresholds.")
    return _arrays(found), funnel


def _keys_and_ratings(found: pl.DataFrame, ratings: Concreteness | None) -> list[pl.Expr]:
    """Per word once: its singular, which is what counts as the same thing, and its rating."""
    words = pl.concat([found["subject"], found["object"]]).unique()
    keys = pl.Series([singular(word) for word in words], dtype=pl.String)
    rated = pl.Series(ratings.of_all(words.to_list()) if ratings else [5.0] * len(words), dtype=pl.Float64)
    columns = []
    for side in ("subject", "object"):
        columns.append(pl.col(side).replace_strict(words, keys).cast(pl.Categorical).alias(f"{side}_key"))
        columns.append(pl.col(side).replace_strict(words, rated).alias(f"{side}_rating"))
    return columns


def _arrays(found: pl.DataFrame) -> Relations:
    words = pl.concat([found["subject_key"].cast(pl.String), found["object_key"].cast(pl.String)]).unique().sort()
    codes = pl.int_range(len(words), eager=True)
    coded = found.with_columns(
        pl.col("subject_key").cast(pl.String).replace_strict(words, codes),
        pl.col("object_key").cast(pl.String).replace_strict(words, codes),
    ).sort("subject_key", "object_key", "row", "relation", "subject", "object")
    return Relations(
        subject=coded["subject_key"].to_numpy(),
        object=coded["object_key"].to_numpy(),
        image=coded["image_code"].to_numpy(),
        row=coded["row"].to_numpy(),
        subject_concreteness=coded["subject_rating"].to_numpy(),
        object_concreteness=coded["object_rating"].to_numpy(),
        table=coded.select("row", "subject", "relation", "object"),
    )
