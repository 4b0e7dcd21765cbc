"""Vectors made elsewhere, read as an array and, where the file tells, the key of each row.

.npy           one table, rows x dimensions; keys come from a keys file, or the rows are in an order both sides know
.npz           one such table and, under `image` or `keys`, an array of strings
.parquet       a column of keys (`image`) and either one column of lists or one numeric column per dimension
.safetensors   one table, keys as a JSON list in the metadata under `keys`; or one vector per key, named by it
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.encoders.protocol import Vectors
from likewise.encoders.vector_keys import KEY_NAMES, keys_of_array, keys_of_list, read_keys_file
from likewise.errors import LikewiseError

Read = tuple[list[str] | None, NDArray[Any]]


def read_vector_file(path: Path, keys: Path | None = None) -> tuple[list[str] | None, Vectors]:
    """Keys (None where neither the file nor `keys` tells them) and float32 vectors, one row each, all finite."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: check the path of the vectors.")
    readers = {".npy": _npy, ".npz": _npz, ".parquet": _parquet, ".safetensors": _safetensors}
    ending = path.suffix.lower()
    if ending not in readers:
        raise LikewiseError(f"{path} ends in {ending!r}: vectors are read from {', '.join(readers)}.")
    try:
        own_keys, values = readers[ending](path)
    except LikewiseError:
        raise
    except Exception as error:  # four libraries, each with its own words for a damaged file
        reason = str(error).split("\n")[0]
        raise LikewiseError(f"{path} cannot be read as {ending[1:]} ({reason}): write it again.") from error
    named = read_keys_file(keys) if keys is not None else own_keys
    return named, checked_vectors(values, named, str(path))


def checked_vectors(values: NDArray[Any], keys: list[str] | None, where: str) -> Vectors:
    """A table of finite numbers as float32, as many rows as keys, every key once; or one sentence."""
    if values.dtype.name == "bfloat16":  # numpy knows it only through ml_dtypes, and not as a number
        values = values.astype(np.float32)
    if values.ndim != 2 or values.dtype.kind not in "fiu" or not values.size:
        raise LikewiseError(
            f"{where} holds {values.dtype} of shape {values.shape}: vectors are a table of numbers, one row per image."
        )
    if keys is not None:
        _check_keys(keys, len(values), where)
    with np.errstate(over="ignore"):
        vectors = np.ascontiguousarray(values, dtype=np.float32)
    finite = np.isfinite(vectors).all(axis=1)
    if not finite.all():
        row = int(np.argmin(finite))
        name = f", {keys[row]}" if keys is not None else ""
        raise LikewiseError(
            f"{where} holds NaN or infinite numbers in {int((~finite).sum())} of {len(vectors)} rows "
            f"(first: row {row + 1}{name}): encode those images again."
        )
    return vectors


def _check_keys(keys: list[str], n_rows: int, where: str) -> None:
    if len(keys) != n_rows:
        raise LikewiseError(f"{where} has {n_rows} rows but {len(keys)} keys: each row needs exactly one.")
    seen: set[str] = set()
    for row, key in enumerate(keys, start=1):
        if not key.strip():
            raise LikewiseError(f"{where}: the key of row {row} is empty: fill it, or leave the row out.")
        if key in seen:
            raise LikewiseError(f"{where}: two rows have the key {key} (the second is row {row}): keep one of them.")
        seen.add(key)


def _npy(path: Path) -> Read:
    return None, np.load(path, mmap_mode="r", allow_pickle=False)


def _npz(path: Path) -> Read:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
        arrays = {name: stored[name] for name in stored.files}
    keys = [name for name in arrays if name.lower() in KEY_NAMES]
    table = _only_table({name: array for name, array in arrays.items() if name not in keys}, path)
    return keys_of_array(arrays[keys[0]], f"{path}, {keys[0]}") if keys else None, table


def _parquet(path: Path) -> Read:
    table = pl.read_parquet(path)
    named = [column for column in table.columns if column.lower() in KEY_NAMES]
    keys = ["" if key is None else str(key) for key in table[named[0]]] if named else None
    rest = table.drop(named[:1])
    lists = [column for column, kind in rest.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if len(lists) == 1:
        return keys, _from_lists(rest[lists[0]], path)
    odd = [column for column, kind in rest.schema.items() if not kind.is_numeric()]
    if odd or not rest.width:
        raise LikewiseError(
            f"{path} has columns {', '.join(table.columns)}: vectors need a column `image` and either one column of "
            "lists or numeric columns only."
        )
    return keys, rest.cast(pl.Float64).fill_null(float("nan")).to_numpy()


def _from_lists(column: pl.Series, path: Path) -> NDArray[Any]:
    lengths = column.cast(pl.List(pl.Float64)).list.len()
    if lengths.null_count() or lengths.n_unique() > 1:
        usual = lengths.drop_nulls().mode().sort()[0]
        row = int((lengths.fill_null(0) != usual).arg_max() or 0)
        raise LikewiseError(
            f"{path}, row {row + 1}: the vector has {lengths[row] or 0} numbers, most have {usual}: "
            "all must come from one encoder."
        )
    flat = column.cast(pl.List(pl.Float64)).explode().fill_null(float("nan")).to_numpy()
    return flat.reshape(len(column), -1)


def _safetensors(path: Path) -> Read:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as stored:
        arrays = {name: stored.get_tensor(name) for name in stored.keys()}  # noqa: SIM118 (not a mapping)
        metadata = stored.metadata() or {}
    if arrays and all(array.ndim == 1 for array in arrays.values()):
        if len({len(array) for array in arrays.values()}) > 1:
            raise LikewiseError(f"{path} holds vectors of different lengths: all must come from one encoder.")
        names = sorted(arrays)
        return names, np.stack([arrays[name] for name in names])
    keys = keys_of_list(json.loads(metadata["keys"]), f"{path}, metadata") if "keys" in metadata else None
    return keys, _only_table(arrays, path)


def _only_table(arrays: dict[str, NDArray[Any]], path: Path) -> NDArray[Any]:
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if len(tables) != 1:
        found = ", ".join(f"{name} {array.shape}" for name, array in arrays.items()) or "nothing"
        raise LikewiseError(f"{path} holds {found}: it needs exactly one table of vectors, rows x dimensions.")
    return arrays[tables[0]]
