"""The catalog of a workspace with the vectors of its encoders, loaded once and searched many times.

Vectors are held at unit length in memory (50,000 of 1,280 dimensions are 256 MB); when the next encoder would not fit
the limit, the one that was asked for the longest time ago is dropped.
"""

import threading
from collections import OrderedDict
from collections.abc import MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from PIL.Image import Image

from likewise.catalog import items_of, read_catalog
from likewise.catalog.images import open_picture
from likewise.catalog.table import select_all
from likewise.chain import digest_of
from likewise.encoders.model_cards import DEFAULT_ENCODERS
from likewise.encoders.running.pictures import encode_pictures
from likewise.encoders.storage.files import read_meta, vectors_folder
from likewise.encoders.storage.reading import encoded_images, read_vectors
from likewise.errors import LikewiseError
from likewise.machine import one_blas_thread, usable_cores
from likewise.neighbours import NO_INDEX, as_unit, top_k
from likewise.neighbours.exact import Mask
from likewise.neighbours.nearest import nearest_rows
from likewise.neighbours.scores import Floats, Rows
from likewise.workspace import WorkspaceFolder

PictureSource = str | Path | Image
"""The key of an image of the catalog, the path of any other picture, or a picture."""

MAX_SIDE_BY_SIDE = 4
TOP_K = 12
MEMORY_LIMIT_BYTES = 4 * 2**30


@dataclass(frozen=True)
class EncodedImages:
    """The images that one encoder has a vector of: rows of the catalog, unit vectors, and their items."""

    rows: Rows
    vectors: Floats
    items: Rows
    digest: str
    """Of the vectors stored when reading began, and of the images: what is made from them says what it rests on."""

    @cached_property
    def position_of(self) -> dict[int, int]:
        """From a row of the catalog to a row of the vectors."""
        return {row: position for position, row in enumerate(self.rows.tolist())}


@dataclass(frozen=True)
class NeighbourList:
    """What one encoder finds: rows of the catalog, best first, and their cosines."""

    encoder: str
    rows: Rows
    scores: list[float]


@dataclass
class Gallery:
    """Threads share it: everything is loaded under a lock, once."""

    workspace: WorkspaceFolder
    memory_limit: int = MEMORY_LIMIT_BYTES
    _loaded: OrderedDict[str, EncodedImages] = field(default_factory=OrderedDict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def catalog(self) -> pl.DataFrame:
        return read_catalog(self.workspace)

    @cached_property
    def images(self) -> list[str]:
        return self.catalog["image"].to_list()

    @cached_property
    def row_of(self) -> dict[str, int]:
        return {image: row for row, image in enumerate(self.images)}

    @cached_property
    def items(self) -> Rows:
        return items_of(self.catalog)

    @cached_property
    def encoders(self) -> list[str]:
        """Those whose vectors are here: the default ones first, in their order."""
        there = self.workspace.encoders()
        if not there:
            raise LikewiseError(
                f"{self.workspace.path} has no vectors yet: run `likewise encode {self.workspace.quoted}` first."
            )
        return [name for name in DEFAULT_ENCODERS if name in there] + [
            name for name in there if name not in DEFAULT_ENCODERS
        ]

    def choose_encoders(self, names: Sequence[str]) -> list[str]:
        """The encoders named, at most four; the first of those that are here for none."""
        chosen = list(dict.fromkeys(names)) or self.encoders[:MAX_SIDE_BY_SIDE]
        if len(chosen) > MAX_SIDE_BY_SIDE:
            raise LikewiseError(f"{len(chosen)} encoders do not fit side by side: name at most {MAX_SIDE_BY_SIDE}.")
        return chosen

    def find_picture(self, image: PictureSource) -> int | Image:
        """An image of the catalog by its key or its file, else any other file; a picture stays what it is."""
        if not isinstance(image, str | Path):
            return image
        row = self.row_of.get(str(image))
        if row is not None:
            return row
        path = Path(image).expanduser()
        if path.is_file():
            root, resolved = self.workspace.root, path.resolve()
            row = self.row_of.get(resolved.relative_to(root).as_posix()) if resolved.is_relative_to(root) else None
            if row is not None:
                return row
            return open_picture(path, str(path))
        raise LikewiseError(
            f"{image} is neither a file nor an image of {self.workspace.path}: give a picture, or a key as in the "
            f"catalog's column image (such as {self.images[0]})."
        )

    def vectors(self, encoder: str) -> EncodedImages:
        """One encoder's vectors, from memory after the first time."""
        with self._lock:
            if encoder not in self._loaded:
                meta = read_meta(vectors_folder(self.workspace, encoder))
                images = encoded_images(self.workspace, encoder)
                digest = digest_of([None if meta is None else meta.digest, images])
                rows = np.array([self.row_of[image] for image in images], dtype=np.int64)
                unit = as_unit(read_vectors(self.workspace, encoder, images), f"vectors of {encoder}")
                self._make_room(unit.nbytes)
                self._loaded[encoder] = EncodedImages(rows, unit, self.items[rows], digest)
            self._loaded.move_to_end(encoder)
            return self._loaded[encoder]

    def _make_room(self, nbytes: int) -> None:
        while self._loaded and nbytes + sum(each.vectors.nbytes for each in self._loaded.values()) > self.memory_limit:
            self._loaded.popitem(last=False)

    def allowed(self, conditions: Sequence[str]) -> Mask | None:
        """Which rows of the catalog meet every condition such as `category=shoes`; None for all."""
        if not conditions:
            return None
        mask = np.zeros(len(self.catalog), dtype=np.bool_)
        mask[[self.row_of[image] for image in select_all(self.catalog, conditions)["image"]]] = True
        return mask

    def find_images(self, text: str, allowed: Mask | None = None) -> Rows:
        """Rows whose key or any other text of the catalog holds `text`, in catalog order; all for an empty one."""
        found = np.ones(len(self.images), dtype=np.bool_) if allowed is None else allowed.copy()
        wanted = text.strip().lower()
        if wanted:
            found &= self._searchable.str.contains(wanted, literal=True).to_numpy()
        return np.flatnonzero(found)

    @cached_property
    def _searchable(self) -> pl.Series:
        texts = [name for name, kind in self.catalog.schema.items() if kind == pl.String and name != "digest"]
        joined = pl.concat_str([pl.col(name).fill_null("") for name in texts], separator="\n")
        return self.catalog.select(joined.str.to_lowercase()).to_series()

    def query_vector(self, encoder: str, picture: int | Image) -> Floats:
        """Of a row of the catalog, or of a picture that is not in it."""
        if not isinstance(picture, int):
            outside: Floats = as_unit(encode_pictures(self.workspace, encoder, [picture]))[0]
            return outside
        there = self.vectors(encoder)
        if picture not in there.position_of:
            raise LikewiseError(
                f"{encoder} has no vector of {self.images[picture]}: it was left out when encoding "
                f"(see {self.workspace.vectors_folder / encoder / 'meta.json'})."
            )
        stored: Floats = there.vectors[there.position_of[picture]]
        return stored

    def neighbours(
        self,
        picture: int | Image,
        encoders: Sequence[str],
        *,
        k: int = TOP_K,
        known: MutableMapping[str, NDArray[np.floating[Any]]] | None = None,
        allowed: Mask | None = None,
        one_per_item: bool = True,
    ) -> list[NeighbourList]:
        """The nearest items under every encoder, never an image of the query's own item.

        `known` keeps the vectors of a picture that is not in the catalog, for the next time it is asked with.
        """
        if k < 1:
            raise LikewiseError(f"k must be at least 1, not {k}.")
        own = int(self.items[picture]) if isinstance(picture, int) else NO_INDEX

        def find(encoder: str) -> NeighbourList:
            there = self.vectors(encoder)
            query = None if known is None else known.get(encoder)
            if query is None:
                query = self.query_vector(encoder, picture)
            if known is not None:
                known[encoder] = query
            rows, scores = nearest_rows(
                query,
                there.vectors,
                k,
                groups=there.items,
                own=own,
                allowed=None if allowed is None else allowed[there.rows],
                one_per_group=one_per_item,
            )
            return NeighbourList(encoder, there.rows[rows], scores.tolist())

        with ThreadPoolExecutor(usable_cores()) as pool, one_blas_thread():
            return list(pool.map(find, encoders))

    def neighbours_of_many(
        self, pictures: Sequence[int | Image], encoders: Sequence[str], *, k: int, allowed: Mask | None = None
    ) -> list[list[NeighbourList]]:
        """The same for many queries at once: a list per query and encoder."""
        if len(pictures) == 1:
            return [self.neighbours(pictures[0], encoders, k=k, allowed=allowed)]
        own = np.array([self.items[each] if isinstance(each, int) else NO_INDEX for each in pictures], np.int64)
        by_encoder = []
        for encoder in encoders:
            there = self.vectors(encoder)
            kept = slice(None) if allowed is None else np.flatnonzero(allowed[there.rows])
            rows = there.rows[kept]
            queries = np.stack([self.query_vector(encoder, picture) for picture in pictures])
            found = top_k(
                queries,
                there.vectors[kept],
                k,
                query_groups=own,
                gallery_groups=there.items[kept],
                one_per_group=True,
            )
            listed = zip(found.indices, found.scores, strict=True)
            by_encoder.append(
                [
                    NeighbourList(encoder, rows[each[each != NO_INDEX]], scores[each != NO_INDEX].tolist())
                    for each, scores in listed
                ]
            )
        return [list(lists) for lists in zip(*by_encoder, strict=True)]


def found_by_one(lists: Sequence[NeighbourList], items: Rows) -> list[list[bool]]:
    """For each list and place whether no other list has that item; nothing is, where there is one list only."""
    sets = [set(items[each.rows].tolist()) for each in lists]
    return [
        [
            len(lists) > 1 and all(item not in other for at, other in enumerate(sets) if at != number)
            for item in items[each.rows].tolist()
        ]
        for number, each in enumerate(lists)
    ]


def neighbours_table(gallery: Gallery, names: Sequence[str], lists: Sequence[Sequence[NeighbourList]]) -> pl.DataFrame:
    """A row per query, encoder and rank (from 1), with what the catalog knows of the candidate."""
    rows: list[tuple[object, ...]] = []
    for query, found in zip(names, lists, strict=True):
        only = found_by_one(found, gallery.items)
        for each, alone in zip(found, only, strict=True):
            places = zip(each.rows.tolist(), each.scores, alone, strict=True)
            rows += [(query, each.encoder, rank, row, score, one) for rank, (row, score, one) in enumerate(places, 1)]
    schema = {"query": pl.String, "encoder": pl.String, "rank": pl.Int64, "row": pl.UInt32, "score": pl.Float64}
    table = pl.DataFrame(rows, schema=schema | {"only_here": pl.Boolean}, orient="row")
    known = gallery.catalog.select(pl.col("image").alias("candidate"), "item", "category").with_row_index("row")
    joined = table.join(known, on="row", how="left", maintain_order="left")
    return joined.select("query", "encoder", "rank", "candidate", "item", "category", "score", "only_here")
