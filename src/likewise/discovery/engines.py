"""How a generator's nearest candidates are found: exactly on this machine, or through an index with its recall.

An engine is a function, so that a command can bring another one (a cluster) without this room knowing of it.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from likewise.discovery.pool import QueryGallery
from likewise.encoders.storage.files import vectors_folder
from likewise.encoders.storage.reading import read_checked_meta, read_vectors
from likewise.errors import LikewiseError
from likewise.neighbours import Neighbours, top_k
from likewise.neighbours.index import KINDS, IndexRecall, index_top_k
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class SearchRequest:
    """One generator looking for the k best candidates of every query."""

    workspace: WorkspaceFolder
    generator: str
    query_gallery: QueryGallery
    k: int
    one_per_item: bool
    seed: int


@dataclass(frozen=True)
class EngineResult:
    """The candidates, and what share of the true ones an index found; None for exact search."""

    neighbours: Neighbours
    recall: IndexRecall | None = None


SearchEngine = Callable[[SearchRequest, ProgressCallback | None], EngineResult]


def exact_search(request: SearchRequest, on_progress: ProgressCallback | None = None) -> EngineResult:
    """Exact search on this machine."""
    found = top_k(
        read_vectors(request.workspace, request.generator, request.query_gallery.queries),
        read_vectors(request.workspace, request.generator, request.query_gallery.gallery),
        request.k,
        query_groups=request.query_gallery.query_items,
        gallery_groups=request.query_gallery.gallery_items,
        one_per_group=request.one_per_item,
        on_progress=on_progress,
    )
    return EngineResult(found)


def index_search_engine(kind: str) -> SearchEngine:
    """An engine that goes through an index of this kind, which is kept beside the vectors for the next time."""
    if kind not in KINDS:
        raise LikewiseError(f"there is no index {kind!r}: use {' or '.join(KINDS)}.")

    def search(request: SearchRequest, on_progress: ProgressCallback | None = None) -> EngineResult:
        neighbours, recall = index_top_k(
            read_vectors(request.workspace, request.generator, request.query_gallery.queries),
            read_vectors(request.workspace, request.generator, request.query_gallery.gallery),
            request.k,
            kind,
            query_groups=request.query_gallery.query_items,
            gallery_groups=request.query_gallery.gallery_items,
            one_per_group=request.one_per_item,
            seed=request.seed,
            file=_index_file(request, kind),
        )
        if on_progress:
            on_progress("searching", len(request.query_gallery.queries), len(request.query_gallery.queries))
        return EngineResult(neighbours, recall)

    return search


def _index_file(request: SearchRequest, kind: str) -> Path:
    """Named after everything that decides what is in it."""
    meta = read_checked_meta(request.workspace, request.generator)
    what = "\0".join([meta.version, meta.digest, str(request.seed), *request.query_gallery.gallery])
    digest = hashlib.blake2b(what.encode(), digest_size=6).hexdigest()
    return vectors_folder(request.workspace, request.generator) / f"index-{kind}-{digest}.faiss"
