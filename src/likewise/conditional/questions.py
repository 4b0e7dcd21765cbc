"""Questions of one's own about a whole catalog: reference, condition and all right answers, as a table.

JSON lines or Parquet with `reference`, `condition` and `targets` (a list), or `target` where there is one; pictures are
named by key or file name. `question` numbers them, otherwise their order does.
"""

from pathlib import Path

import polars as pl

from likewise.catalog.readers.table import read_table
from likewise.conditional.picture_names import PictureNames
from likewise.conditional.splits import QUERY_SCHEMA
from likewise.errors import LikewiseError
from likewise.untrusted import TEXT, ColumnRule, check_columns

COLUMNS = {
    "question": ColumnRule("whole", optional=True, low=0, high=2**53),
    "reference": TEXT,
    "condition": TEXT,
    "targets": ColumnRule("texts"),
}


def read_questions(path: Path, catalog: pl.DataFrame) -> pl.DataFrame:
    """The questions with the catalog's keys; a picture that it does not have is a mistake."""
    if not path.is_file() or path.suffix not in (".jsonl", ".parquet"):
        raise LikewiseError(f"{path} is no table of questions: give JSON lines (.jsonl) or Parquet.")
    table = read_table(path)
    if "targets" not in table.columns and "target" in table.columns:
        table = check_columns(table, {"target": TEXT}, str(path))
        table = table.with_columns(pl.concat_list("target").alias("targets"))
    table = check_columns(table, COLUMNS, str(path))
    if table.is_empty():
        raise LikewiseError(f"{path} asks no question: write one row for each.")
    numbers = table["question"] if "question" in table.columns else pl.int_range(table.height, eager=True)
    if numbers.is_duplicated().any():
        raise LikewiseError(f"{path} numbers two questions alike: `question` must be different for each.")
    names = PictureNames.of(catalog)
    rows = []
    for number, reference, condition, targets in zip(
        numbers, table["reference"], table["condition"], table["targets"], strict=True
    ):
        keys = [_key(names, image, path) for image in (reference, *targets)]
        if len(keys) < 2 or not condition:
            raise LikewiseError(f"{path}: question {number} needs a condition and at least one right answer.")
        rows.append((number, str(condition), keys[0], list(dict.fromkeys(keys[1:]))))
    return pl.DataFrame(rows, schema=QUERY_SCHEMA, orient="row")


def _key(names: PictureNames, image: object, path: Path) -> str:
    key = names.key(str(image))
    if key is None:
        raise LikewiseError(f"{path} names {image}, which is not in the catalog: name images by key or file name.")
    return key
