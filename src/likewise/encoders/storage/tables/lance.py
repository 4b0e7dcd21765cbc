"""A Lance table: a folder `.lance` here, or in a store that the library reaches (`s3://...`)."""

from collections.abc import Sequence
from typing import Any

from likewise.encoders.storage.external_vectors import KEY_NAMES
from likewise.encoders.storage.tables.table import VECTOR_NAMES, FetchedVectors, as_rows, choose_column
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional


class LanceTable:
    """Filtered by key, which is fast where the table has a scalar index on it."""

    def __init__(self, uri: str, key: str | None, vector: str | None) -> None:
        lance = import_optional("lance", "reading a Lance table")
        try:
            self._dataset: Any = lance.dataset(uri)
        except Exception as error:  # every store has exceptions of its own
            first = next(iter(str(error).strip().split("\n")), "")
            raise LikewiseError(f"{uri} cannot be opened as a Lance table ({first}): check the path.") from error
        self.uri = uri
        schema = self._dataset.schema
        lists = [field.name for field in schema if str(field.type).startswith(("fixed_size_list", "list"))]
        self._key = choose_column(uri, schema.names, key, KEY_NAMES, "key")
        self._vector = choose_column(uri, lists, vector, (*VECTOR_NAMES, *lists[:1]), "vector")
        self._text = str(schema.field(self._key).type) in ("string", "large_string")
        first = self._dataset.head(1, columns=[self._vector])[self._vector].to_pylist()
        self.dim = len(first[0] or ()) if first else 0
        self.identity = f"{uri.rstrip('/').rpartition('/')[2]}@version {self._dataset.version} by {self._key}"

    def fetch(self, keys: Sequence[str]) -> FetchedVectors:
        known = [key for key in keys if self._text or key.lstrip("-").isdecimal()]
        if not known:
            return as_rows(self.uri, [], [], self.dim)
        values = ", ".join("'" + key.replace("'", "''") + "'" if self._text else key for key in known)
        rows = self._dataset.to_table(columns=[self._key, self._vector], filter=f"`{self._key}` IN ({values})")
        found = [str(key) for key in rows[self._key].to_pylist()]
        return as_rows(self.uri, found, rows[self._vector].to_pylist(), self.dim)
