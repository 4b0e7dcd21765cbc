"""A Qdrant collection: `qdrant://HOST:6333/COLLECTION`, `qdrant+https://...`, or `qdrant:///FOLDER/COLLECTION` (local).

The key of a point is a field of its payload. An API key is read from the environment, QDRANT_API_KEY.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from likewise.encoders.storage.external_vectors import KEY_NAMES
from likewise.encoders.storage.tables.table import FetchedVectors, as_rows, choose_column
from likewise.errors import LikewiseError
from likewise.optional_dependencies import import_optional

POINTS_PER_REQUEST = 512
SECONDS_TO_WAIT = 60


class QdrantTable:
    """Points are asked for by the values of a payload field, which is fast where the collection has an index on it."""

    def __init__(self, url: str, key: str | None, vector: str | None) -> None:
        library = import_optional("qdrant_client", "reading a Qdrant collection")
        self._models: Any = library.models
        parts = urlsplit(url)
        place, _, self.collection = parts.path.rpartition("/")
        if not self.collection:
            raise LikewiseError(f"{url} names no collection: write qdrant://HOST:6333/COLLECTION.")
        self.url = f"{parts.hostname or place}/{self.collection}"
        try:
            self._client: Any = _connect(library, parts.scheme, parts.hostname, parts.port, place)
            described = self._client.get_collection(self.collection).config.params.vectors
            some, _ = self._client.scroll(self.collection, limit=1, with_payload=True)
        except Exception as error:  # the client has an exception for every layer below it
            first = next(iter(str(error).strip().split("\n")), "") or type(error).__name__
            raise LikewiseError(
                f"{url} cannot be read ({first}): check host, collection and QDRANT_API_KEY."
            ) from error
        self._vector = None
        if isinstance(described, dict):
            self._vector = choose_column(self.url, list(described), vector, list(described)[:1], "vector")
            described = described[self._vector]
        self.dim = int(described.size)
        fields = list(some[0].payload or {}) if some else []
        self._key = choose_column(self.url, fields, key, (*KEY_NAMES, "item"), "key")
        self.identity = f"qdrant {self.url} {self._vector or 'vector'} by {self._key}"

    def fetch(self, keys: Sequence[str]) -> FetchedVectors:
        found: list[str] = []
        rows: list[Any] = []
        for start in range(0, len(keys), POINTS_PER_REQUEST):
            some = list(keys[start : start + POINTS_PER_REQUEST])
            condition = self._models.FieldCondition(key=self._key, match=self._models.MatchAny(any=some))
            offset = None
            while True:
                points, offset = self._client.scroll(
                    self.collection,
                    scroll_filter=self._models.Filter(must=[condition]),
                    limit=POINTS_PER_REQUEST,
                    offset=offset,
                    with_payload=[self._key],
                    with_vectors=True if self._vector is None else [self._vector],
                )
                found += [str(point.payload[self._key]) for point in points]
                rows += [point.vector if self._vector is None else point.vector.get(self._vector) for point in points]
                if offset is None:
                    break
        return as_rows(self.url, found, rows, self.dim)


def _connect(library: Any, scheme: str, host: str | None, port: int | None, place: str) -> Any:
    if host is None:
        if not Path(place).is_dir():  # the client would make it
            raise LikewiseError(f"there is no folder {place}")
        return library.QdrantClient(path=place)
    return library.QdrantClient(
        host=host,
        port=port or 6333,
        https=scheme.endswith("https"),
        api_key=os.environ.get("QDRANT_API_KEY"),
        timeout=SECONDS_TO_WAIT,
    )
