"""Parquet files, one or a folder of them, with a column of keys and one of lists of numbers."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from likewise.chain import digest_of
from likewise.encoders.storage.external_vectors import KEY_NAMES
from likewise.encoders.storage.tables.table import VECTOR_NAMES, FetchedVectors, as_rows, choose_column
from likewise.errors import LikewiseError


class ParquetTable:
    """Scanned once per batch; only the rows asked for are held."""

    def __init__(self, path: Path, key: str | None, vector: str | None) -> None:
        files = sorted(path.rglob("*.parquet")) if path.is_dir() else [path]
        if not files:
            raise LikewiseError(f"{path} holds no Parquet files: give a folder of them, or one file.")
        self.path, self.files = path, files
        self._scan = pl.scan_parquet(files, glob=False)
        schema = self._scan.collect_schema()
        lists = [name for name, kind in schema.items() if isinstance(kind, pl.List | pl.Array)]
        self._key = choose_column(str(path), schema.names(), key, KEY_NAMES, "key")
        self._vector = choose_column(str(path), lists, vector, (*VECTOR_NAMES, *lists[:1]), "vector")
        first = self._scan.select(self._vector).drop_nulls().head(1).collect()
        self.dim = len(first[0, 0]) if len(first) else 0
        stamps = [(file.name, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        self.identity = f"{path.name}@{digest_of(stamps)[:12]} by {self._key}"

    def fetch(self, keys: Sequence[str]) -> FetchedVectors:
        key = pl.col(self._key).cast(pl.String)
        wanted = pl.Series(list(keys), dtype=pl.String).implode()
        found = self._scan.filter(key.is_in(wanted)).select(key.alias("key"), pl.col(self._vector).alias("vector"))
        rows = found.collect()
        return as_rows(str(self.path), rows["key"].to_list(), rows["vector"].to_list(), self.dim)
