"""What became of a catalog: rows of now beside those of a source, compared by the content of the pictures.

An image is the same where key and content are; the same content under another key was renamed or moved; another content
under the same key is another picture. What was there before and comes back is known again by its content.
"""

from dataclasses import dataclass

import polars as pl

from likewise.catalog.table import MADE_COLUMNS
from likewise.catalog.versions import HISTORY_COLUMNS, copy_number, keys_at, rows_at


@dataclass(frozen=True)
class CatalogChanges:
    """Keys of images, sorted; `returned` were there in an earlier version, `attributes` have other columns only."""

    added: tuple[str, ...] = ()
    returned: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    attributes: tuple[str, ...] = ()

    @property
    def nothing(self) -> bool:
        return not any(self.counts().values())

    def counts(self) -> dict[str, int]:
        return {name: len(getattr(self, name)) for name in self.__dataclass_fields__}


@dataclass(frozen=True)
class ComparedCatalog:
    """The changes, and every row of every version up to the next one.

    `other_category` are renamed images that have another category by that: key, category before, category now.
    """

    changes: CatalogChanges
    history: pl.DataFrame
    other_category: tuple[tuple[str, str | None, str | None], ...] = ()


def compare_catalog(history: pl.DataFrame, version: int, fresh: pl.DataFrame) -> ComparedCatalog:
    """Compare the rows of `version` with those of a source, and put the differences down as the version after it."""
    now = rows_at(history, version)
    history = with_contents_of(history, fresh)
    same = fresh.join(now.select("image", "digest", "picture"), on=["image", "digest"], how="left")
    kept, rest = same.filter(pl.col("picture").is_not_null()), same.filter(pl.col("picture").is_null())
    left = now.join(kept, on="picture", how="anti")
    moved = _match_copies(rest.drop("picture"), left)
    renamed = rest.drop("picture").join(moved, on="image")
    rest, left = rest.join(moved, on="image", how="anti"), left.join(moved, on="picture", how="anti")
    gone = (
        keys_at(history, version)
        .join(now, on="picture", how="anti")
        .join(history.group_by("picture").agg(pl.col("digest").first()), on="picture")
    )
    back = _match_copies(rest.drop("picture"), gone.select("picture", "digest", image="key"))
    returned = rest.drop("picture").join(back, on="image")
    new = _with_new_pictures(rest.join(back, on="image", how="anti").drop("picture"), history)
    other = kept.join(_attributes_differ(kept, now), on="image", how="semi")
    names = now.select("picture", before="image", category_before="category")
    renamed_from = renamed.join(names, on="picture").sort("before", "image")
    changes = CatalogChanges(
        added=_keys(set(new["image"]) - set(left["image"])),
        returned=_keys(set(returned["image"])),
        removed=_keys(set(left["image"]) - set(new["image"])),
        changed=_keys(set(left["image"]) & set(new["image"])),
        renamed=tuple(renamed_from.select("before", "image").iter_rows()),
        attributes=_keys(set(other["image"])),
    )
    entering = pl.concat([renamed, returned, new, other], how="diagonal")
    leaving = pl.concat([left.select("picture"), renamed.select("picture"), other.select("picture")])
    ends = pl.col("went").is_null() & pl.col("picture").is_in(leaving["picture"].implode())
    after = pl.lit(version + 1, pl.Int32)
    ended = history.with_columns(went=pl.when(ends).then(after).otherwise("went"))
    entering = entering.drop("row", strict=False).with_columns(came=after, went=pl.lit(None, pl.Int32))
    together = pl.concat([ended, entering], how="diagonal_relaxed") if len(entering) else ended
    others = [name for name in together.columns if name not in (*MADE_COLUMNS, *HISTORY_COLUMNS)]
    recategorised = renamed_from.filter(pl.col("category_before").ne_missing(pl.col("category")))
    return ComparedCatalog(
        changes,
        together.select(*others, *MADE_COLUMNS, *HISTORY_COLUMNS).sort("image", "came"),
        tuple(recategorised.select("image", "category_before", "category").sort("image").iter_rows()),
    )


def match_contents(fresh: pl.DataFrame, history: pl.DataFrame) -> pl.DataFrame:
    """`fresh` (image, digest, content_digest) with the digest that a picture had in the history, where it is known.

    First the same picture under the same key, then the same file, then the same picture in a file that is nowhere else
    (in the order of keys, where there are several), and at last any file with that picture.
    """
    states = history.sort("went", descending=True, nulls_last=False)  # what is there now comes first
    known = states.filter(pl.col("content_digest").is_not_null()).select(
        "image", "content_digest", "went", old="digest"
    )
    alive = known.filter(pl.col("went").is_null()).drop("went")
    same = fresh.join(alive, on=["image", "content_digest"])
    rest = fresh.join(same, on="image", how="anti")
    files = rest.join(history, on="digest", how="semi").with_columns(old="digest")
    rest = rest.join(files, on="image", how="anti")
    contents = known.unique("old", keep="first", maintain_order=True)
    free = contents.join(same, on="old", how="anti").join(files, on="old", how="anti")
    copy = pl.int_range(pl.len()).over("content_digest").alias("copy")
    free = free.sort(pl.col("went").is_not_null(), "image").select("content_digest", "old", copy)
    moved = rest.sort("image").with_columns(copy).join(free, on=["content_digest", "copy"])
    rest = rest.join(moved, on="image", how="anti")
    copied = rest.join(contents.drop("image").unique("content_digest", keep="first"), on="content_digest")
    found = pl.concat([each.select("image", "old") for each in (same, files, moved, copied)])
    joined = fresh.join(found, on="image", how="left", maintain_order="left")
    return joined.with_columns(digest=pl.coalesce("old", "digest")).drop("old")


def with_contents_of(history: pl.DataFrame, fresh: pl.DataFrame) -> pl.DataFrame:
    """The history with the content digests that are known now (`fresh`: digest, content_digest)."""
    known = fresh.select("digest", now="content_digest").unique("digest")
    filled = history.join(known, on="digest", how="left", maintain_order="left")
    return filled.with_columns(content_digest=pl.coalesce("content_digest", "now")).drop("now")


def _match_copies(rows: pl.DataFrame, pictures: pl.DataFrame) -> pl.DataFrame:
    """image, picture: rows and pictures of equal content; where there are several, in the order of their keys."""
    number = pl.int_range(pl.len()).over("digest").alias("copy")
    ours = rows.sort("image").select("image", "digest", number)
    theirs = pictures.sort("image").select("picture", "digest", number)
    return ours.join(theirs, on=["digest", "copy"]).select("image", "picture")


def _with_new_pictures(rows: pl.DataFrame, history: pl.DataFrame) -> pl.DataFrame:
    known = history.group_by("digest").agg(known=pl.col("picture").n_unique())
    rows = rows.sort("image").join(known, on="digest", how="left", maintain_order="left")
    copy = pl.int_range(pl.len()).over("digest") + pl.col("known").fill_null(0)
    return rows.with_columns(picture=copy_number(pl.col("digest"), copy)).drop("known")


def _attributes_differ(kept: pl.DataFrame, now: pl.DataFrame) -> pl.DataFrame:
    """The images (column `image`) whose further columns are not what they were."""
    passed = ("image", "row", *MADE_COLUMNS, *HISTORY_COLUMNS)
    columns = [name for name in dict.fromkeys((*kept.columns, *now.columns)) if name not in passed]

    def as_text(table: pl.DataFrame) -> pl.DataFrame:
        there = [pl.col(name) if name in table.columns else pl.lit(None).alias(name) for name in columns]
        return table.select("image", pl.struct(there).struct.json_encode().alias("text"))

    both = as_text(kept).join(as_text(now), on="image")
    return both.filter(pl.col("text") != pl.col("text_right")).select("image")


def _keys(images: set[str]) -> tuple[str, ...]:
    return tuple(sorted(images))
