"""Pairs to label from a file, such as results/next_pairs.parquet."""

from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.labeling.imports import read_table, refuse_unknown_images
from likewise.labeling.votes import PAIR
from likewise.untrusted import ColumnRule, check_columns


def read_pairs_file(path: Path, images: set[str]) -> pl.DataFrame:
    """The pairs (query, candidate) of a .parquet, .csv, .tsv or .jsonl file, each once, in the file's order."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the pairs file.")
    table, first_row = read_table(path)
    missing = [column for column in PAIR if column not in table.columns]
    if missing:
        raise LikewiseError(f"{path} has no column {', '.join(missing)}: it needs query and candidate.")
    table = check_columns(table, dict.fromkeys(PAIR, ColumnRule(null=True)), str(path))
    empty = table.select(pl.any_horizontal(pl.col(PAIR).is_null() | (pl.col(PAIR).str.strip_chars() == "")).arg_true())
    if len(empty):
        raise LikewiseError(f"{path}, row {empty.item(0, 0) + first_row} names one image only: fill it, or delete it.")
    pairs = table.select(PAIR).unique(maintain_order=True)
    alone = pairs.filter(pl.col("query") == pl.col("candidate"))
    if len(alone):
        raise LikewiseError(f"{path} compares {alone['query'][0]} with itself: delete such rows.")
    if pairs.is_empty():
        raise LikewiseError(f"{path} holds no pairs.")
    refuse_unknown_images(pairs, images, f"{path} names")
    return pairs
