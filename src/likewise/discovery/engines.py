"""How a generator's nearest candidates are found: exactly on this machine, or through an index with its recall.

An engine is a function, so that a command can bring another one (a cluster) without this room knowing of it.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from likewise.discovery.pool import Arena
from likewise.encoders.files import vectors_folder
from likewise.encoders.store import checked_meta, read_vectors
from likewise.errors import LikewiseError
from likewise.search import Neighbours, top_k
from likewise.search.index import KINDS, Recall, index_top_k
from likewise.workspace import Workspace

Listener = Callable[[int, int], None] | None


@dataclass(frozen=True)
class Hunt:
    """One generator looking for the k best candidates of every query."""

    workspace: Workspace
    generator: str
    arena: Arena
    k: int
    one_per_item: bool
    seed: int


@dataclass(frozen=True)
class Found:
    """The candidates, and what share of the true ones an index found; None for exact search."""

    neighbours: Neighbours
    recall: Recall | None = None


Engine = Callable[[Hunt, Listener], Found]


def search_here(hunt: Hunt, on_progress: Listener = None) -> Found:
    """Exact search on this machine."""
    found = top_k(
        read_vectors(hunt.workspace, hunt.generator, hunt.arena.queries),
        read_vectors(hunt.workspace, hunt.generator, hunt.arena.gallery),
        hunt.k,
        query_groups=hunt.arena.query_items,
        gallery_groups=hunt.arena.gallery_items,
        one_per_group=hunt.one_per_item,
        on_progress=on_progress,
    )
    return Found(found)


def search_through(kind: str) -> Engine:
    """An engine that goes through an index of this kind, which is kept beside the vectors for the next time."""
    if kind not in KINDS:
        raise LikewiseError(f"there is no index {kind!r}: use {' or '.join(KINDS)}.")

    def search(hunt: Hunt, on_progress: Listener = None) -> Found:
        neighbours, recall = index_top_k(
            read_vectors(hunt.workspace, hunt.generator, hunt.arena.queries),
            read_vectors(hunt.workspace, hunt.generator, hunt.arena.gallery),
            hunt.k,
            kind,
            query_groups=hunt.arena.query_items,
            gallery_groups=hunt.arena.gallery_items,
            one_per_group=hunt.one_per_item,
            seed=hunt.seed,
            file=_index_file(hunt, kind),
        )
        if on_progress:
            on_progress(len(hunt.arena.queries), len(hunt.arena.queries))
        return Found(neighbours, recall)

    return search


def _index_file(hunt: Hunt, kind: str) -> Path:
    """Named after everything that decides what is in it."""
    meta = checked_meta(hunt.workspace, hunt.generator)
    what = "\0".join([meta.version, meta.catalog, str(hunt.seed), *hunt.arena.gallery])
    digest = hashlib.blake2b(what.encode(), digest_size=6).hexdigest()
    return vectors_folder(hunt.workspace, hunt.generator) / f"index-{kind}-{digest}.faiss"
