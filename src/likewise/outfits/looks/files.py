"""Looks as a table `outfit, item, image, category, position`: what `outfits train --outfits` reads."""

from collections.abc import Sequence
from pathlib import Path

from likewise.errors import LikewiseError
from likewise.outfits.protocol import Item, Outfit
from likewise.outfits.tables import outfit_table
from likewise.spreadsheets import csv_text
from likewise.workspace import write_parquet, write_text


def write_looks(looks: Sequence[Sequence[Item]], path: Path) -> None:
    """As .csv or .parquet, by the ending of the name."""
    table = outfit_table(Outfit(f"look-{number}", tuple(items)) for number, items in enumerate(looks, 1))
    if path.suffix == ".parquet":
        write_parquet(table, path)
    elif path.suffix == ".csv":
        write_text(csv_text(table), path)
    else:
        raise LikewiseError(f"looks are written as .csv or .parquet, not {path.name}.")
