"""Search on Ray: the gallery in parts, each searched exactly by a worker, and the parts merged.

A worker reads its part of the vectors from the workspace itself, so no machine ever holds the whole gallery.  Scores
are exact, so the pool is the same, byte for byte, as the one a single machine makes, whatever the number of parts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from likewise.discovery.engines import Engine, Found, Hunt, Listener
from likewise.encoders.store import Places, locate, read_places
from likewise.scale.cluster import cluster, n_cores
from likewise.scale.tasks import run_tasks
from likewise.search import Neighbours, merge, top_k
from likewise.search.scores import Rows
from likewise.workspace import Workspace

PART_BYTES = 512 * 1024**2  # of vectors that one worker holds at a time


@dataclass(frozen=True)
class Part:
    """All queries and some of the gallery."""

    workspace: Path
    generator: str
    queries: Places
    query_items: Rows
    gallery: Places
    gallery_items: Rows
    k: int
    one_per_item: bool


def search_part(part: Part) -> Neighbours:
    """The best k of one part; runs on a worker."""
    workspace = Workspace(part.workspace)
    return top_k(
        read_places(workspace, part.generator, part.queries),
        read_places(workspace, part.generator, part.gallery),
        part.k,
        query_groups=part.query_items,
        gallery_groups=part.gallery_items,
        one_per_group=part.one_per_item,
    )


def parts_of(hunt: Hunt, n_at_least: int) -> tuple[list[Part], list[int]]:
    """The gallery in parts that fit a worker, at least `n_at_least`, and where each begins."""
    queries = locate(hunt.workspace, hunt.generator, hunt.arena.queries)
    gallery = locate(hunt.workspace, hunt.generator, hunt.arena.gallery)
    n_rows = len(hunt.arena.gallery)
    rows = max(1, min(PART_BYTES // (4 * gallery.dim), -(-n_rows // n_at_least)))
    starts = list(range(0, n_rows, rows))
    parts = [
        Part(
            hunt.workspace.path.resolve(),
            hunt.generator,
            queries,
            hunt.arena.query_items,
            gallery.part(start, start + rows),
            hunt.arena.gallery_items[start : start + rows],
            hunt.k,
            hunt.one_per_item,
        )
        for start in starts
    ]
    return parts, starts


def search_on_ray(hunt: Hunt, on_progress: Listener = None, *, cores: int, address: str | None = None) -> Found:
    """Exact search over the whole gallery on the cluster."""
    parts, starts = parts_of(hunt, cores)
    n_queries = len(hunt.arena.queries)

    def tell(done: int, total: int) -> None:
        if on_progress:
            on_progress(done * n_queries // total, n_queries)

    found = run_tasks(search_part, parts, address, on_done=tell)
    merged = merge(found, starts, hunt.k, hunt.arena.gallery_items, one_per_group=hunt.one_per_item)
    return Found(merged)


@contextmanager
def ray_engine(address: str | None = None) -> Iterator[Engine]:
    """An engine for `discovery.step.make_pool`; the cluster stays connected for all generators."""
    with cluster(address) as ray:
        yield partial(search_on_ray, cores=n_cores(ray), address=address)
