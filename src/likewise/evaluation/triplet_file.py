"""Human triplet answers from CSV ("this looks more like the anchor than that"), in an order that must be stated.

Public files disagree on whether the second or the third column is the similar one, and getting it wrong turns 80 %
agreement into 20 % without a sound. So the order is never guessed, and a header that contradicts it is an error.
"""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.untrusted import ColumnRule, check_columns, read_untrusted_csv, tidy_headers

ROLES = ("anchor", "close", "far")
ROLE_NAMES = {
    "anchor": ("anchor", "reference", "ref", "query", "probe"),
    "close": ("close", "closer", "chosen", "positive", "similar", "winner"),
    "far": ("far", "farther", "other", "negative", "dissimilar", "loser"),
}
ROLE_OF_NAME = {name: role for role, names in ROLE_NAMES.items() for name in names}
TRIPLET_SCHEMA = pl.Schema(
    {
        "anchor": pl.String,
        "close": pl.String,
        "far": pl.String,
        "votes_close": pl.Int64,
        "votes_far": pl.Int64,
    }
)


def read_triplets(
    path: Path,
    order: str,
    *,
    columns: Sequence[str] | None = None,
    votes: Sequence[str] | None = None,
    only: str | None = None,
    without: str | None = None,
) -> pl.DataFrame:
    """The triplets of a CSV file (comma, semicolon or tab), each once, with the votes for either side.

    `order` says what the three columns mean from left to right, such as "anchor close far". The columns are found by
    their names (anchor, reference; close, chosen, positive; far, other, negative, ...) or given as `columns`, in
    the stated order. Vote counts are `votes` (close, far), or columns named votes_<column>; a row without counts
    is one vote. Repeated triplets, either way round, are added up. Other columns are ignored, but `only` and `without`
    (`split=test`) read only the rows where a column has a value, or all but those.
    """
    roles = _roles(order)
    table = _read(path)
    for condition, wanted in ((only, True), (without, False)):
        table = table if condition is None else _where(table, condition, wanted, path)
    item_columns = _columns(table, roles, columns, path)
    vote_columns = _vote_columns(table, item_columns, votes, path)
    items = [pl.col(item_columns[role]).str.strip_chars().alias(role) for role in ROLES]
    counts = [pl.lit(1, pl.Int64).alias("votes_close"), pl.lit(0, pl.Int64).alias("votes_far")]
    if vote_columns:
        counts = [
            pl.col(column).str.strip_chars().cast(pl.Int64, strict=False).alias(f"votes_{role}")
            for role, column in vote_columns.items()
        ]
    triplets = table.select(*items, *counts)
    _refuse_bad_rows(triplets, path)
    return sum_votes(triplets)


def sum_votes(triplets: pl.DataFrame) -> pl.DataFrame:
    """One row per anchor and pair; `close` is the side with more votes, and the first by name where they are equal."""
    swapped = pl.col("close") > pl.col("far")
    by_name = triplets.select(
        "anchor",
        pl.when(swapped).then("far").otherwise("close").alias("close"),
        pl.when(swapped).then("close").otherwise("far").alias("far"),
        pl.when(swapped).then("votes_far").otherwise("votes_close").alias("votes_close"),
        pl.when(swapped).then("votes_close").otherwise("votes_far").alias("votes_far"),
    )
    summed = by_name.group_by("anchor", "close", "far").agg(pl.col("votes_close", "votes_far").sum())
    turned = pl.col("votes_far") > pl.col("votes_close")
    return (
        summed.select(
            "anchor",
            pl.when(turned).then("far").otherwise("close").alias("close"),
            pl.when(turned).then("close").otherwise("far").alias("far"),
            pl.max_horizontal("votes_close", "votes_far").alias("votes_close"),
            pl.min_horizontal("votes_close", "votes_far").alias("votes_far"),
        )
        .sort("anchor", "close", "far")
        .cast(TRIPLET_SCHEMA)
    )


def _roles(order: str) -> tuple[str, ...]:
    roles = tuple(order.lower().replace(",", " ").split())
    if sorted(roles) != sorted(ROLES):
        raise LikewiseError(
            f"the order {order!r} must name anchor, close and far once each, such as 'anchor close far'."
        )
    return roles


def _read(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the triplets file.")
    try:
        text = path.read_text(encoding="utf-8-sig")
        table = read_untrusted_csv(text, str(path))
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise LikewiseError(f"{path} cannot be read as CSV in UTF-8 ({str(error).splitlines()[0]}).") from error
    if table.is_empty():
        raise LikewiseError(f"{path} holds no triplets: it needs a header and one row per triplet.")
    table.columns = tidy_headers(table.columns, str(path))
    return check_columns(table, dict.fromkeys(table.columns, ColumnRule(null=True)), str(path))


def _where(table: pl.DataFrame, condition: str, wanted: bool, path: Path) -> pl.DataFrame:
    """The rows that meet a condition such as `split=test`, or those that do not."""
    column, equals, value = condition.partition("=")
    if not equals or column not in table.columns:
        raise LikewiseError(
            f"{path} has no rows with {condition!r}: write COLUMN=VALUE with one of {', '.join(table.columns)}."
        )
    chosen = table.filter((pl.col(column).str.strip_chars() == value).fill_null(False) == wanted)
    if chosen.is_empty():
        raise LikewiseError(f"{path} has no rows {'with' if wanted else 'without'} {condition!r}: check the spelling.")
    return chosen


def _columns(table: pl.DataFrame, roles: tuple[str, ...], named: Sequence[str] | None, path: Path) -> dict[str, str]:
    """The column of each role."""
    if named is not None:
        missing = [column for column in named if column not in table.columns]
        if missing or len(set(named)) != 3:
            raise LikewiseError(
                f"{path} has the columns {', '.join(table.columns)}: name three of them, not {', '.join(named)}."
            )
        return dict(zip(roles, named, strict=True))
    found = [(ROLE_OF_NAME[column.lower()], column) for column in table.columns if column.lower() in ROLE_OF_NAME]
    if sorted(role for role, _ in found) != sorted(ROLES):
        raise LikewiseError(
            f"{path} has the header {', '.join(table.columns)}, which does not say which three columns are the "
            f"{', '.join(roles)} of a triplet: add such a header, or name the columns."
        )
    if tuple(role for role, _ in found) != roles:
        raise LikewiseError(
            f"{path} has its columns in the order {', '.join(column for _, column in found)}, which reads as "
            f"'{' '.join(role for role, _ in found)}', but the stated order is '{' '.join(roles)}': "
            "correct the order, or name the columns if the header is wrong."
        )
    return dict(found)


def _vote_columns(
    table: pl.DataFrame, item_columns: dict[str, str], named: Sequence[str] | None, path: Path
) -> dict[str, str]:
    """The vote-count columns of close and far; empty where the file has none."""
    sides = ROLES[1:]
    chosen = list(named) if named is not None else [f"votes_{item_columns[role]}" for role in sides]
    missing = [column for column in chosen if column not in table.columns]
    if named is None and len(missing) == 2:
        if stray := [column for column in table.columns if "vote" in column.lower()]:
            raise LikewiseError(
                f"{path} has {', '.join(stray)}, but vote counts are expected as {' and '.join(chosen)}: "
                "rename them, or name the two columns."
            )
        return {}
    if missing or len(chosen) != 2:
        raise LikewiseError(f"{path} has no column {', '.join(missing) or 'pair'} for the votes of close and far.")
    return dict(zip(sides, chosen, strict=True))


def _refuse_bad_rows(triplets: pl.DataFrame, path: Path) -> None:
    """The first row (as a spreadsheet numbers it) that is not a triplet of three different items with counts."""
    problems = {
        "an empty name": pl.any_horizontal(pl.col(ROLES).is_null() | (pl.col(ROLES) == "")),
        "a vote count that is not a whole number": pl.any_horizontal(pl.col("votes_close", "votes_far").is_null()),
        "a vote count below 0": pl.min_horizontal("votes_close", "votes_far") < 0,
        "the same item twice": (pl.col("anchor") == pl.col("close"))
        | (pl.col("anchor") == pl.col("far"))
        | (pl.col("close") == pl.col("far")),
    }
    for problem, is_bad in problems.items():
        bad = triplets.select(is_bad.arg_true()).to_series()
        if len(bad):
            raise LikewiseError(
                f"{path}, row {bad[0] + 2} has {problem} ({len(bad)} such rows): correct or delete them."
            )
