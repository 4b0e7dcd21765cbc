"""Exact search with same-item exclusion and batch-independent scores, against bare `faiss.knn` and other exact ways.

2,000 queries, a gallery of 52,712 vectors of 768 dimensions (the size of the published VSD run), top 100.
"""

import sys
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import medians, print_beside
from likewise.neighbours import top_k

QUERIES, GALLERY, DIM, K, IMAGES_PER_ITEM = 2000, 52_712, 768, 100, 6
ROUNDS = 7


def data() -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.int64], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    gallery = rng.standard_normal((GALLERY, DIM), dtype=np.float32)
    gallery /= np.linalg.norm(gallery, axis=1, keepdims=True)
    chosen = rng.choice(GALLERY, QUERIES, replace=False)
    items = np.arange(GALLERY) // IMAGES_PER_ITEM
    return np.ascontiguousarray(gallery[chosen]), gallery, items[chosen], items


def numpy_blocks(queries: NDArray[np.float32], gallery: NDArray[np.float32]) -> None:
    for start in range(0, len(queries), 256):
        scores = queries[start : start + 256] @ gallery.T
        best = np.argpartition(-scores, K, axis=1)[:, :K]
        np.argsort(-np.take_along_axis(scores, best, 1), axis=1)


def extra_memory(ours: bool) -> float:
    """Megabytes that one search adds at its peak, read from the kernel's high-water mark."""
    queries, gallery, query_items, items = data()
    if ours:
        top_k(queries[:8], gallery, K)  # libraries loaded, threads started
    else:
        faiss.knn(queries[:8], gallery, K, metric=faiss.METRIC_INNER_PRODUCT)
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmHWM")
    if ours:
        top_k(queries, gallery, K, query_groups=query_items, gallery_groups=items)
    else:
        faiss.knn(queries, gallery, K, metric=faiss.METRIC_INNER_PRODUCT)
    return (_status("VmHWM") - before) / 1024


def _status(field: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def main() -> None:
    from sklearn.neighbors import NearestNeighbors

    queries, gallery, query_items, items = data()
    neighbours = NearestNeighbors(n_neighbors=K, algorithm="brute", metric="cosine").fit(gallery)
    fast = medians(
        {
            "faiss.knn, bare": lambda: faiss.knn(queries, gallery, K, metric=faiss.METRIC_INNER_PRODUCT),
            "likewise, same item excluded, exact order": lambda: top_k(
                queries, gallery, K, query_groups=query_items, gallery_groups=items
            ),
        },
        ROUNDS,
    )
    slow = medians(
        {
            "NumPy blocks, nothing excluded": lambda: numpy_blocks(queries, gallery),
            "scikit-learn, nothing excluded": lambda: neighbours.kneighbors(queries),
        },
        1,
    )
    title = f"search: {QUERIES:,} x {GALLERY:,} x {DIM}, top {K} (medians of {ROUNDS})"
    print_beside(title, fast | slow, "faiss.knn, bare")
    if Path("/proc/self/clear_refs").exists():
        import subprocess

        for name, flag in (("faiss.knn", "faiss"), ("likewise", "likewise")):
            ran = subprocess.run(
                [sys.executable, "-m", "benchmarks.search", flag], capture_output=True, text=True, check=True
            )
            print(f"  peak memory added by {name:<24}{float(ran.stdout):>12.0f} MB")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(extra_memory(sys.argv[1] == "likewise"))
    else:
        main()
