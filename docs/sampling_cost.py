"""The last proof of `sampling.md`: what choosing the next batch costs in a catalog of real size."""

import resource
import time

import numpy as np
from sampling_bench import Ints, Vectors

from likewise.discovery.designs.adaptive import RoundsSoFar, draw_round, list_depth
from likewise.discovery.designs.drawing import draw_pairs, inclusion_probabilities
from likewise.discovery.designs.pair_features import LabelledPairs, VectorView
from likewise.discovery.designs.sampled import sampled_weights
from likewise.discovery.designs.units import CatalogUnits
from likewise.neighbours import top_k

N_QUERIES, N_GALLERY, N_DIMENSIONS, N_ENCODERS, BATCH = 2000, 50_000, 128, 2, 5000


def cost_table(n_queries: int = N_QUERIES, n_gallery: int = N_GALLERY) -> str:
    """Made-up vectors in clumps; candidates are listed first, as for every pool, and then the batch is timed."""
    rng = np.random.default_rng(0)
    clump = rng.integers(0, n_gallery // 20, n_gallery)
    queries = np.arange(n_queries)
    units = CatalogUnits(np.arange(n_gallery), np.arange(n_gallery), queries)
    depth = list_depth(n_queries, N_ENCODERS, n_gallery)
    views, lists = [], []
    for _ in range(N_ENCODERS):
        gallery = _vectors(clump, rng)
        found = top_k(gallery[queries], gallery, depth, query_groups=queries, gallery_groups=np.arange(n_gallery))
        lists.append(found.indices)
        views.append(VectorView.of(gallery[queries], gallery, units))
    sizes = np.full(n_queries, BATCH // n_queries + 1)
    weights, unlisted = sampled_weights(lists, queries, units.unit_items, sizes)
    first = draw_pairs(weights, inclusion_probabilities(weights, sizes), unlisted, rng)
    label = (clump[first.query] == clump[first.candidate]).astype(np.float64)
    so_far = RoundsSoFar(first.query, first.candidate, LabelledPairs(first.query, first.candidate, label))
    before, started, wall = _peak(), time.process_time(), time.perf_counter()
    drawn = draw_round(views, units, lists, so_far, BATCH, "finding", rng)
    seconds, waited = time.process_time() - started, time.perf_counter() - wall
    return (
        f"{len(drawn):,} pairs for {n_queries:,} queries × {n_gallery:,} images ({N_ENCODERS} encoders of "
        f"{N_DIMENSIONS} dimensions, lists of {depth}, {len(first):,} labels so far): {seconds:.1f} s of processor "
        f"time "
        f"({waited:.1f} s on a shared machine); the largest memory of the whole process is "
        f"{_peak() / 1024:.2f} GB, {before / 1024:.2f} GB of it before the batch, with the vectors."
    )


def _vectors(clump: Ints, rng: np.random.Generator) -> Vectors:
    centres = rng.standard_normal((int(clump.max()) + 1, N_DIMENSIONS)).astype(np.float32)
    vectors = centres[clump] + rng.standard_normal((len(clump), N_DIMENSIONS)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def _peak() -> float:
    """In MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
