"""Ways to get rows: one file per data-set layout, each a function from a path to a `Reading`."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from likewise.catalog.readers.reading import Reading
from likewise.errors import LikewiseError

READERS = {
    "folder": "a folder of pictures; its first level of sub-folders are the categories",
    "table": "a CSV, Parquet or JSONL file with a column `image`, paths relative to the file or to --root",
    "inshop": "DeepFashion In-shop Clothes Retrieval (Eval/list_eval_partition.txt and img/)",
}


def read(path: Path, reader: str | None = None, root: Path | None = None) -> Reading:
    """Rows of `path` by the named reader; without a name, a folder or a table is recognised by what it is."""
    if not path.exists():
        raise LikewiseError(f"{path} does not exist: give a folder of pictures, or a CSV, Parquet or JSONL file.")
    name = reader or ("folder" if path.is_dir() else "table")
    if name not in READERS:
        raise LikewiseError(f"there is no reader {name!r}: choose one of {', '.join(sorted(READERS))}.")
    read_rows: Callable[[Path, Path | None], Reading] = import_module(f"{__name__}.{name}").read
    return read_rows(path, root)


__all__ = ["READERS", "Reading", "read"]
