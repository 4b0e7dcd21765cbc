"""Search on Ray: the gallery in parts, each searched exactly by a worker, and the parts merged.

A worker reads its part of the vectors from the workspace itself, so no machine ever holds the whole gallery.  Scores
are exact, so the pool is the same, byte for byte, as the one a single machine makes, whatever the number of parts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from likewise.discovery.engines import EngineResult, SearchEngine, SearchRequest
from likewise.encoders.storage.reading import VectorLocations, locate_vectors, read_locations
from likewise.neighbours import Neighbours, merge_neighbours, top_k
from likewise.neighbours.scores import Rows
from likewise.progress import ProgressCallback
from likewise.scale.cluster import cluster, cluster_cores
from likewise.scale.tasks import run_tasks
from likewise.workspace import WorkspaceFolder

MAX_PART_BYTES = 512 * 1024**2  # of vectors that one worker holds at a time


@dataclass(frozen=True)
class GalleryPart:
    """All queries and some of the gallery."""

    workspace: Path
    generator: str
    queries: VectorLocations
    query_items: Rows
    gallery: VectorLocations
    gallery_items: Rows
    k: int
    one_per_item: bool


def search_part(part: GalleryPart) -> Neighbours:
    """The best k of one part; runs on a worker."""
    workspace = WorkspaceFolder(part.workspace)
    return top_k(
        read_locations(workspace, part.generator, part.queries),
        read_locations(workspace, part.generator, part.gallery),
        part.k,
        query_groups=part.query_items,
        gallery_groups=part.gallery_items,
        one_per_group=part.one_per_item,
    )


def split_gallery(request: SearchRequest, n_at_least: int) -> tuple[list[GalleryPart], list[int]]:
    """The gallery in parts that fit a worker, at least `n_at_least`, and where each begins."""
    queries = locate_vectors(request.workspace, request.generator, request.query_gallery.queries)
    gallery = locate_vectors(request.workspace, request.generator, request.query_gallery.gallery)
    n_rows = len(request.query_gallery.gallery)
    rows = max(1, min(MAX_PART_BYTES // (4 * gallery.dim), -(-n_rows // n_at_least)))
    starts = list(range(0, n_rows, rows))
    parts = [
        GalleryPart(
            request.workspace.path.resolve(),
            request.generator,
            queries,
            request.query_gallery.query_items,
            gallery.part(start, start + rows),
            request.query_gallery.gallery_items[start : start + rows],
            request.k,
            request.one_per_item,
        )
        for start in starts
    ]
    return parts, starts


def search_on_ray(
    request: SearchRequest, on_progress: ProgressCallback | None = None, *, cores: int, address: str | None = None
) -> EngineResult:
    """Exact search over the whole gallery on the cluster."""
    parts, starts = split_gallery(request, cores)
    n_queries = len(request.query_gallery.queries)

    def report(stage: str, done: int, total: int) -> None:
        if on_progress:
            on_progress(stage, done * n_queries // total, n_queries)

    found = run_tasks(search_part, parts, address, on_progress=report)
    merged = merge_neighbours(
        found, starts, request.k, request.query_gallery.gallery_items, one_per_group=request.one_per_item
    )
    return EngineResult(merged)


@contextmanager
def ray_engine(address: str | None = None) -> Iterator[SearchEngine]:
    """An engine for `discovery.step.make_pool`; the cluster stays connected for all generators."""
    with cluster(address) as ray:
        yield partial(search_on_ray, cores=cluster_cores(ray), address=address)
