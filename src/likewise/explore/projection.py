"""The map: vectors in two dimensions, computed once per encoder and kept in the workspace.

With openTSNE (the extra `explore`) a t-SNE of the first principal components (van der Maaten & Hinton 2008; the
FFT-accelerated form of Linderman et al. 2019), otherwise the first two principal components themselves. t-SNE keeps
who is near whom; distances between far groups and the sizes of groups mean nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.encoders.families.projection import fit_projection
from likewise.encoders.storage.files import vectors_folder
from likewise.errors import LikewiseError
from likewise.explore.gallery import Gallery
from likewise.files import finish_writing, written_together
from likewise.neighbours.scores import Floats
from likewise.optional_dependencies import import_optional
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, write_json, write_parquet

TSNE, PCA = "t-SNE", "PCA"
MAX_IMAGES = 100_000
FITTED_ROWS = 20_000
COMPONENTS = 50
PERPLEXITY = 30
EARLY_ITERATIONS, ITERATIONS, EVERY = 250, 500, 10
SEED = 0
VERSION = 1
N_CLUSTERS = 11
Points = NDArray[np.float32]


@dataclass(frozen=True)
class ImageMap:
    """`table` has image, x, y (each within -1 and 1) and cluster; `n_images` may be more, where a sample was drawn."""

    encoder: str
    method: str
    table: pl.DataFrame
    n_images: int


def best_method() -> str:
    """t-SNE where openTSNE is installed."""
    return TSNE if find_spec("openTSNE") is not None else PCA


def make_map(
    gallery: Gallery,
    encoder: str,
    method: str | None = None,
    *,
    sample: bool = False,
    on_progress: ProgressCallback | None = None,
) -> ImageMap:
    """The stored map, or a new one where the vectors changed; `sample` draws by lot where images are too many."""
    method = method or best_method()
    there = gallery.vectors(encoder)
    n_images = len(there.rows)
    if n_images > MAX_IMAGES and not sample:
        raise LikewiseError(
            f"{n_images:,} images are more than the map draws ({MAX_IMAGES:,}): draw a sample of them, "
            "or make a workspace of the part you want to see."
        )
    stored = read_map(gallery, encoder, method)
    if stored is not None:
        return stored
    rows = np.arange(n_images)
    if n_images > MAX_IMAGES:
        rows = np.sort(np.random.default_rng(SEED).choice(n_images, MAX_IMAGES, replace=False))
    reduced = reduce_vectors(there.vectors[rows], on_progress)
    points = reduced[:, :2] if method == PCA else embed_tsne(reduced, on_progress)
    images = [gallery.images[row] for row in there.rows[rows].tolist()]
    table = pl.DataFrame(
        {"image": images, "x": _scaled(points[:, 0]), "y": _scaled(points[:, 1]), "cluster": _clusters(reduced)}
    )
    made = ImageMap(encoder, method, table, n_images)
    _store(gallery.workspace, made, there.digest)
    return made


def reduce_vectors(vectors: Floats, on_progress: ProgressCallback | None) -> Points:
    """The first principal components, fitted on at most FITTED_ROWS rows drawn by lot."""
    if on_progress:
        on_progress("principal components", 0, 1)
    components = min(COMPONENTS, vectors.shape[1], max(1, len(vectors) - 1))
    fitted = vectors
    if len(vectors) > FITTED_ROWS:
        fitted = vectors[np.sort(np.random.default_rng(SEED).choice(len(vectors), FITTED_ROWS, replace=False))]

    def blocks() -> Iterator[Floats]:
        yield fitted

    projected: Points = fit_projection(blocks, components, whiten=False).apply(vectors)
    if projected.shape[1] < 2:
        projected = np.pad(projected, ((0, 0), (0, 2 - projected.shape[1])))
    return projected


def embed_tsne(reduced: Points, on_progress: ProgressCallback | None) -> Points:
    """t-SNE, started from the first two components, with exact neighbours."""
    tsne = import_optional("openTSNE", "the t-SNE map")
    if len(reduced) < 10:
        return reduced[:, :2]
    total = EARLY_ITERATIONS + ITERATIONS
    perplexity = min(PERPLEXITY, (len(reduced) - 1) // 3)
    affinities = tsne.affinity.PerplexityBasedNN(
        knn_index=_neighbours(tsne, reduced, 3 * perplexity), perplexity=perplexity, random_state=SEED
    )
    embedding = tsne.TSNEEmbedding(
        tsne.initialization.rescale(reduced[:, :2]),
        affinities,
        negative_gradient_method="fft" if len(reduced) > 10_000 else "bh",
        random_state=SEED,
    )

    def tell(iteration: int, _error: float, _points: Any) -> None:
        if on_progress:
            on_progress("t-SNE", offset + iteration, total)

    options = {"callbacks": tell, "callbacks_every_iters": EVERY, "inplace": True, "learning_rate": "auto"}
    offset = 0
    embedding = embedding.optimize(n_iter=EARLY_ITERATIONS, exaggeration=12, momentum=0.5, **options)
    offset = EARLY_ITERATIONS
    embedding = embedding.optimize(n_iter=ITERATIONS, momentum=0.8, **options)
    return np.asarray(embedding, np.float32)


def _neighbours(tsne: Any, reduced: Points, k: int) -> Any:
    """Euclidean neighbours by an exact search: |a - b|^2 = |a|^2 + |b|^2 - 2 a.b, the row itself left out."""
    import faiss

    distances, rows = faiss.knn(np.ascontiguousarray(reduced), np.ascontiguousarray(reduced), int(k) + 1)
    return tsne.nearest_neighbors.PrecomputedNeighbors(rows[:, 1:], np.sqrt(np.maximum(distances[:, 1:], 0.0)))


def _clusters(reduced: Points) -> list[int]:
    from likewise.evaluation.clustering import k_means

    clusters: list[int] = k_means(np.ascontiguousarray(reduced), min(N_CLUSTERS, len(reduced)), seed=SEED).tolist()
    return clusters


def _scaled(values: Points) -> Points:
    """Within -1 and 1; a few far outliers do not squeeze all others together."""
    low, high = np.quantile(values, [0.001, 0.999])
    middle, half = (low + high) / 2, max(float(high - low) / 2, 1e-9)
    within: Points = np.clip((values - middle) / half, -1.0, 1.0).astype(np.float32)
    return within


def _map_file(workspace: WorkspaceFolder, encoder: str, method: str) -> Path:
    return workspace.path / "maps" / vectors_folder(workspace, encoder).name / f"{method}.parquet"


def _basis(digest: str) -> dict[str, Any]:
    return {"version": VERSION, "vectors": digest}


def read_map(gallery: Gallery, encoder: str, method: str) -> ImageMap | None:
    """A map that was made from the same vectors of the same images."""
    workspace = gallery.workspace
    file = _map_file(workspace, encoder, method)
    finish_writing(file.parent)
    note = file.with_suffix(".json")
    if not file.exists() or not note.exists():
        return None
    about = read_json(note)
    if about.get("rests_on") != _basis(gallery.vectors(encoder).digest):
        return None
    return ImageMap(encoder, method, read_parquet(file, f"likewise explore {workspace.quoted}"), about["n_images"])


def _store(workspace: WorkspaceFolder, made: ImageMap, digest: str) -> None:
    """`digest` is of what it was made from; that may have been replaced meanwhile."""
    file = _map_file(workspace, made.encoder, made.method)
    about = {"rests_on": _basis(digest), "n_images": made.n_images, "seed": SEED}
    with written_together(file.parent) as staged:
        write_parquet(made.table, staged.place(file))
        write_json(about, staged.place(file.with_suffix(".json")))
