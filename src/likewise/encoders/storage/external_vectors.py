"""Reading a table of vectors and its keys from the formats other programs write."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.untrusted import (
    TEXT,
    check_columns,
    check_line,
    check_shape,
    parse_json,
    read_untrusted_csv,
    read_untrusted_parquet,
)
from likewise.untrusted.archives import read_npz

KEY_NAMES = ("image", "images", "key", "keys", "path", "paths", "file", "filename", "id", "ids")
READABLE = ".npy (with --keys), .npz, .parquet or .safetensors"


@dataclass(frozen=True)
class ExternalVectors:
    """One row of numbers per key."""

    images: Sequence[str]
    vectors: NDArray[Any]
    listed_in: str


def read_external_vectors(path: Path, keys: Path | None) -> ExternalVectors:
    """Vectors and keys, as many of each."""
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: give a file of vectors ({READABLE}).")
    reader = {".npy": _npy, ".npz": _npz, ".parquet": _parquet, ".safetensors": _safetensors}.get(path.suffix.lower())
    if reader is None:
        raise LikewiseError(f"{path} is of no kind that holds vectors: use {READABLE}.")
    try:
        vectors, images = reader(path)
    except LikewiseError:
        raise
    except Exception as error:  # every format has exceptions of its own
        first = next(iter(str(error).strip().split("\n")), "") or type(error).__name__
        raise LikewiseError(f"{path} cannot be read as {path.suffix} ({first}): write it again.") from error
    if vectors.ndim == 2 and vectors.shape[1] == 1:
        raise LikewiseError(f"{path} holds one number per image: two such vectors are alike or opposite, nothing else.")
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu" or not vectors.size:
        raise LikewiseError(f"{path} holds {vectors.dtype} {vectors.shape}, not one row of numbers per image.")
    listed_in = str(keys or path)
    if keys is not None:
        images = read_keys(keys)
    if images is None:
        raise LikewiseError(
            f"{path} does not say which image each row belongs to: give a file with one key per line with `--keys`."
        )
    if len(images) != len(vectors):
        raise LikewiseError(f"{listed_in} lists {len(images)} keys for {len(vectors)} vectors: both must be as long.")
    return ExternalVectors(_checked_keys(images, listed_in), vectors, listed_in)


def read_keys(path: Path) -> list[str]:
    """Keys from a CSV or Parquet column `image` (or the only column), a JSON list, an npy array, or lines of text."""
    return _checked_keys(_listed_keys(path), str(path))


def _checked_keys(keys: Sequence[str], where: str) -> list[str]:
    """Each key is a text of one line, and there is one for every row."""
    for number, key in enumerate(keys, start=1):
        if not key.strip():
            raise LikewiseError(f"{where}: key {number} is empty: write one for every row.")
        check_line(key, f"key {number},", where)
    if not keys:
        raise LikewiseError(f"{where} lists no keys: write one for every row.")
    return list(keys)


def _listed_keys(path: Path) -> list[str]:
    if not path.is_file():
        raise LikewiseError(f"{path} does not exist: give a file with one key per row.")
    ending = path.suffix.lower()
    try:
        if ending in (".csv", ".tsv", ".parquet"):
            is_parquet, separator = ending == ".parquet", "\t" if ending == ".tsv" else ","
            table = (
                read_untrusted_parquet(path, str(path))
                if is_parquet
                else read_untrusted_csv(path.read_text(encoding="utf-8-sig"), str(path), separator)
            )
            column = next((name for name in KEY_NAMES if name in table.columns), None)
            if column is None and table.width == 1 and not is_parquet:  # a list without a heading
                [first] = table.columns
                return [first, *check_columns(table, {first: TEXT}, str(path))[first].to_list()]
            if column is None:
                raise LikewiseError(f"{path} has no column `image` (it has {', '.join(table.columns)}): rename one.")
            return check_columns(table, {column: TEXT}, str(path))[column].to_list()
        if ending == ".json":
            check_shape(listed := parse_json(path.read_bytes(), str(path)), [(str, int)], str(path), "the list of keys")
            return [str(value) for value in listed]
        if ending == ".npy":
            stored = np.load(path, allow_pickle=False)
            if stored.ndim != 1 or stored.dtype.kind not in "UST":
                raise LikewiseError(f"{path} holds {stored.dtype} {stored.shape}, not one text per row.")
            return _texts(stored, path)
        lines = path.read_text(encoding="utf-8").split("\n")  # a key may hold what else Unicode calls the end of a line
        return [line.strip() for line in lines if line.strip()]
    except LikewiseError:
        raise
    except Exception as error:  # numpy parses a header as Python: damaged, it raises nearly anything
        why = next(iter(str(error).splitlines()), type(error).__name__)
        raise LikewiseError(f"{path} cannot be read as a list of keys ({why}): write it again.") from error


VectorsAndKeys = tuple[NDArray[Any], list[str] | None]


def _npy(path: Path) -> VectorsAndKeys:
    return np.load(path, mmap_mode="r", allow_pickle=False), None


def _npz(path: Path) -> VectorsAndKeys:
    arrays = read_npz(path)
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    lists = [name for name, array in arrays.items() if array.ndim == 1 and array.dtype.kind in "UST"]
    keys = next((name for name in KEY_NAMES if name in lists), lists[0] if lists else None)
    images = _texts(arrays[keys], path) if keys else None
    return arrays[_only(tables, path, "two-dimensional arrays")], images


def _texts(stored: NDArray[Any], path: Path) -> list[str]:
    """NumPy keeps four bytes for every character, and does not ask whether they are one."""
    if stored.dtype.kind == "U":
        letters = np.ascontiguousarray(stored).view(np.uint8).view(stored.dtype.byteorder.replace("=", "<") + "u4")
        if ((letters > 0x10FFFF) | ((letters >= 0xD800) & (letters < 0xE000))).any():
            raise LikewiseError(f"{path} holds keys with characters that do not exist: write it again.")
    return [value.decode() if isinstance(value, bytes) else str(value) for value in stored]


def _safetensors(path: Path) -> VectorsAndKeys:
    from safetensors import safe_open

    with safe_open(path, framework="numpy") as file:
        tables = [name for name in file.keys() if len(file.get_slice(name).get_shape()) == 2]  # noqa: SIM118
        listed = next((value for name, value in (file.metadata() or {}).items() if name in KEY_NAMES), None)
        images = [str(value) for value in json.loads(listed)] if listed else None
        return file.get_tensor(_only(tables, path, "two-dimensional tensors")), images


def _parquet(path: Path) -> VectorsAndKeys:
    table = read_untrusted_parquet(path, str(path))
    key = next((name for name in KEY_NAMES if name in table.columns), None)
    images = check_columns(table, {key: TEXT}, str(path))[key].to_list() if key else None
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List | pl.Array)]
    if not lists:
        numbers = [name for name, kind in table.schema.items() if kind.is_numeric() and name != key]
        return table.select(numbers).to_numpy(), images
    column = table[_only(lists, path, "columns of lists")]
    if column.is_empty():
        raise LikewiseError(f"{path} holds no vectors: write one row for every image.")
    if isinstance(column.dtype, pl.List):
        lengths = column.list.len()
        if len(empty := lengths.is_null().arg_true()):
            raise LikewiseError(
                f"row {empty[0] + 1} of {path} has no vector: write one for every row, or leave it out."
            )
        if len(odd := (lengths != lengths[0]).arg_true()):
            raise LikewiseError(
                f"row {odd[0] + 1} of {path} has {lengths[odd[0]]} numbers, the first row {lengths[0]}: "
                "all vectors must be equally long."
            )
        column = column.list.to_array(int(lengths[0]))
    return column.to_numpy(), images


def _only(names: list[str], path: Path, what: str) -> str:
    preferred = [name for name in names if name in ("vectors", "vector", "embeddings", "embedding", "features")]
    chosen = preferred[:1] or names
    if len(chosen) != 1:
        raise LikewiseError(f"{path} has {len(names)} {what}: call the one to use `vectors`.")
    return chosen[0]
