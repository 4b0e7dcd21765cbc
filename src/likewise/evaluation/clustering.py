"""Clustering measures of metric-learning papers: k-means, then NMI, AMI and F1, beside what chance would score.

NMI is high for no reason when there are many small classes: random vectors with C classes of S images score about
1 - log S / log C (Reality Check, sec. 3.1: 10,000 x 4 gives 84.9 %). Every NMI here comes with that figure, and with
the NMI expected if the same clusters were filled at random. AMI subtracts the latter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.evaluation.auc import Ints
from likewise.evaluation.partition import (
    adjusted_mutual_information,
    expected_nmi,
    normalised_mutual_information,
    pairwise_f1,
    partition,
)
from likewise.evaluation.retrieval import Labels, encode_labels
from likewise.neighbours import as_unit
from likewise.neighbours.scores import Floats as Vectors

ITERATIONS = 20
RANDOM_VECTORS = "random vectors"
CLUSTERING_SCHEMA = pl.Schema(
    {
        "encoder": pl.String,
        "measure": pl.String,
        "value": pl.Float64,
        "chance": pl.Float64,
        "random_formula": pl.Float64,
        "n_images": pl.Int64,
        "n_classes": pl.Int64,
    }
)


@dataclass(frozen=True)
class Clustering:
    """The k-means clusters of one encoder (as many as classes) against the classes."""

    nmi: float
    ami: float
    f1: float
    expected_nmi: float  # these clusters, filled at random
    nmi_of_random_vectors: float  # by the formula
    n_images: int
    n_classes: int


def clustering(
    vectors: NDArray[np.floating[Any]], labels: Labels, *, n_iterations: int = ITERATIONS, seed: int = 0
) -> Clustering:
    """Cluster unit vectors into as many groups as there are classes and compare; every image counts, also lone ones."""
    unit = as_unit(vectors)
    if len(unit) != len(labels):
        raise LikewiseError(f"there are {len(unit)} vectors but {len(labels)} labels.")
    classes = encode_labels(labels)
    n_classes = int(classes.max()) + 1 if len(classes) else 0
    if not n_classes:
        raise LikewiseError("there is nothing to cluster: give at least one vector.")
    parts = partition(classes, k_means(unit, n_classes, n_iterations, seed))
    return Clustering(
        nmi=normalised_mutual_information(parts),
        ami=adjusted_mutual_information(parts),
        f1=pairwise_f1(parts),
        expected_nmi=expected_nmi(parts),
        nmi_of_random_vectors=random_nmi(len(unit), n_classes),
        n_images=len(unit),
        n_classes=n_classes,
    )


def random_clustering(labels: Labels, dim: int, *, n_iterations: int = ITERATIONS, seed: int = 0) -> Clustering:
    """The same, measured on random vectors of `dim` dimensions: what an encoder that knows nothing scores."""
    vectors = np.random.default_rng(seed).standard_normal((len(labels), dim), dtype=np.float32)
    return clustering(vectors, labels, n_iterations=n_iterations, seed=seed)


def random_nmi(n_images: int, n_classes: int) -> float:
    """1 - log S / log C for C classes of S = n_images / n_classes, not below 0; NaN for a single class."""
    if n_classes < 2:
        return float("nan")
    return max(0.0, 1.0 - float(np.log(n_images / n_classes) / np.log(n_classes)))


def k_means(vectors: Vectors, n_clusters: int, n_iterations: int = ITERATIONS, seed: int = 0) -> Ints:
    """The cluster of every row (Lloyd's algorithm of faiss, Euclidean, one seeded start, all rows used)."""
    import faiss

    means = faiss.Kmeans(
        vectors.shape[1],
        n_clusters,
        niter=n_iterations,
        seed=seed,
        min_points_per_centroid=1,
        max_points_per_centroid=len(vectors),
    )
    means.train(vectors)
    _, cluster = means.index.search(vectors, 1)
    return np.asarray(cluster[:, 0], np.int64)


def clustering_table(measured: Mapping[str, Clustering]) -> pl.DataFrame:
    """One row per encoder and measure; `chance` and `random_formula` stand beside NMI, AMI's chance is 0."""
    rows: list[tuple[str, str, float, float | None, float | None, int, int]] = []
    for encoder, one in measured.items():
        counts = one.n_images, one.n_classes
        rows.append((encoder, "NMI", one.nmi, one.expected_nmi, one.nmi_of_random_vectors, *counts))
        rows.append((encoder, "AMI", one.ami, 0.0, None, *counts))
        rows.append((encoder, "F1", one.f1, None, None, *counts))
    table = pl.DataFrame(rows, schema=CLUSTERING_SCHEMA, orient="row")
    return table.with_columns(pl.col("value", "chance", "random_formula").fill_nan(None))
