"""Items by file names: `shoe12_1.jpg` and `shoe12_2.jpg` show one shoe, if a pattern says so.

A pattern is a regular expression over an image's key without its ending; its first group is the item.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath

import polars as pl

from likewise.errors import LikewiseError

NUMBERED = r"(.+)[-_ ]\d{1,2}"
VIEWS = r"(.+)[-_ ](?:front|back|side|left|right|top|bottom|detail|full|[a-h])"
LEAST_SHARE = 0.5  # of images that share their item, for a pattern to be offered
MOST_PER_ITEM = 20


def items_by_name(rows: pl.DataFrame, pattern: str) -> pl.DataFrame:
    """The rows with a column `item` from the names; a name that does not match is an item of its own."""
    try:
        compiled = re.compile(pattern)
    except re.error as error:
        raise LikewiseError(f"--item-pattern {pattern!r} is no regular expression: {error}.") from error
    if compiled.groups < 1:
        raise LikewiseError(f"--item-pattern {pattern!r} has no group: put the item in brackets, as in {NUMBERED!r}.")
    items = [_item(compiled, image) for image in rows["image"]]
    if len(set(items)) == len(items):
        raise LikewiseError(
            f"--item-pattern {pattern!r} joins no two of {len(items):,} images (the first is {rows['image'][0]!r}): "
            "its first group must match what pictures of one item have in common."
        )
    return rows.with_columns(pl.Series("item", items, dtype=pl.String))


def suggest_pattern(images: Iterable[str]) -> str | None:
    """A pattern by which at least half of the images share their item with few others, or nothing."""
    names = list(images)
    for pattern in (NUMBERED, VIEWS):
        sizes = Counter(_item(re.compile(pattern), name) for name in names)
        shared = sum(size for size in sizes.values() if 1 < size <= MOST_PER_ITEM)
        if names and shared >= LEAST_SHARE * len(names):
            return pattern
    return None


def _item(pattern: re.Pattern[str], image: str) -> str:
    name = PurePosixPath(image).with_suffix("").as_posix()
    found = pattern.fullmatch(name)
    return found[1] if found and found[1] else name
