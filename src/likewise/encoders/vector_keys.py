"""Keys of vectors made elsewhere: which image each row belongs to, from a small file beside the numbers.

One key per line (.txt), a JSON list, one column of a table (.csv, .tsv, .parquet), or an npy array of strings.
"""

import json
from pathlib import Path

import numpy as np
import polars as pl

from likewise.errors import LikewiseError

KEY_NAMES = ("image", "images", "key", "keys", "path", "paths", "name", "names", "id", "ids")


def read_keys_file(path: Path) -> list[str]:
    """The keys of a file, in its order."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the keys file.")
    ending = path.suffix.lower()
    try:
        if ending == ".txt":
            keys = path.read_text(encoding="utf-8-sig").splitlines()
            return keys[:-1] if keys and not keys[-1].strip() else keys
        if ending == ".json":
            return keys_of_list(json.loads(path.read_text(encoding="utf-8-sig")), str(path))
        if ending == ".npy":
            return keys_of_array(np.load(path, allow_pickle=False), str(path))
        if ending in (".csv", ".tsv", ".parquet"):
            return _column(_table(path, ending), path)
    except (pl.exceptions.PolarsError, ValueError, OSError, EOFError) as error:
        reason = str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be read as keys ({reason}): write one key per line, UTF-8.") from error
    raise LikewiseError(f"{path} ends in {ending!r}: keys are read from .txt, .json, .npy, .csv, .tsv or .parquet.")


def keys_of_list(values: object, where: str) -> list[str]:
    if not isinstance(values, list) or not all(isinstance(value, str | int) for value in values):
        raise LikewiseError(f"{where} is not a list of keys: write a JSON list of strings, one per row.")
    return [str(value) for value in values]


def keys_of_array(values: "np.ndarray[tuple[int, ...], np.dtype[np.generic]]", where: str) -> list[str]:
    if values.ndim != 1 or values.dtype.kind not in "USiu":
        raise LikewiseError(
            f"{where} holds {values.dtype} {values.shape} where keys are expected: store one string per row."
        )
    return [value.decode() if isinstance(value, bytes) else str(value) for value in values.tolist()]


def _table(path: Path, ending: str) -> pl.DataFrame:
    if ending == ".parquet":
        return pl.read_parquet(path)
    return pl.read_csv(path, separator="\t" if ending == ".tsv" else ",", infer_schema=False)


def _column(table: pl.DataFrame, path: Path) -> list[str]:
    """The column with a key's name, or the only one there is."""
    named = [column for column in table.columns if column.lower() in KEY_NAMES]
    if not named and table.width != 1:
        raise LikewiseError(
            f"{path} has no column image (it has {', '.join(table.columns)}): name the keys' column so."
        )
    column = named[0] if named else table.columns[0]
    return ["" if key is None else str(key) for key in table[column]]
