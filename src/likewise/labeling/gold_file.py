"""Gold pairs, whose answer the owner knows, from a table: query, candidate, answer, and a note if wished."""

from collections.abc import Set as AbstractSet
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.labeling.imports import ANSWER_SPELLINGS, read_table
from likewise.labeling.votes import CANNOT_TELL, PAIR
from likewise.untrusted import ColumnRule, check_columns

GOLD_COLUMNS = (*PAIR, "answer", "note")


def read_gold_file(path: Path, images: AbstractSet[str]) -> list[tuple[str, str, str, str]]:
    """(query, candidate, similar or not similar, note) for each row of a CSV file."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the gold pairs.")
    table = check_columns(
        read_table(path)[0], {name: ColumnRule(null=True, optional=True) for name in GOLD_COLUMNS}, str(path)
    )
    missing = [column for column in (*PAIR, "answer") if column not in table.columns]
    if missing:
        raise LikewiseError(f"{path} has no column {', '.join(missing)}: its header is query,candidate,answer,note.")
    if "note" not in table.columns:
        table = table.with_columns(note=pl.lit(""))
    gold = []
    for number, row in enumerate(table.select(*PAIR, "answer", pl.col("note").fill_null("")).iter_rows(), start=2):
        query, candidate, written, note = row
        answer = ANSWER_SPELLINGS.get("".join((written or "").split()).lower(), CANNOT_TELL)
        if answer == CANNOT_TELL:
            raise LikewiseError(f"{path}, row {number}: the answer {written!r} is not similar or not similar.")
        for image in (query, candidate):
            if image not in images:
                raise LikewiseError(f"{path}, row {number}: {image!r} is not in the catalog: use its image keys.")
        gold.append((query, candidate, answer, note))
    return gold
