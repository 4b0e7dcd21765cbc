"""Spaces whose truth is known (Reality Check, Figs. 1, 2): three toy spaces that P@1 calls perfect, random vectors."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.evaluation.clustering import clustering, k_means, random_nmi
from likewise.evaluation.partition import (
    adjusted_mutual_information,
    normalised_mutual_information,
    pairwise_f1,
    partition,
)
from likewise.evaluation.retrieval import Labels, retrieval

Array = NDArray[np.float32]
Ints = NDArray[np.int64]
RANKED = ("P@1", "R_Precision", "MAP@R")
MEASURES = (*RANKED, "NMI", "AMI", "F1")
GAPS = (("a", 0.25), ("b", 1.2), ("c", 3.6))
LENGTH, PER_CLASS = 10.0, 120
RANDOM_DIM = 64
CLASS_COUNTS = (2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)


def score_space(vectors: Array, labels: Labels) -> dict[str, float]:
    """Every measure of one space, by the functions that the commands use."""
    found, groups = retrieval(vectors, labels), clustering(vectors, labels)
    ranked = {measure: found.value(measure) for measure in RANKED}
    return ranked | {"NMI": groups.nmi, "AMI": groups.ami, "F1": groups.f1}


def toy_space(gap: float) -> tuple[Array, Ints]:
    """Two long, thin classes beside each other."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0.0, LENGTH, 2 * PER_CLASS)
    labels = np.repeat([0, 1], PER_CLASS)
    y = labels * gap + rng.normal(0.0, 0.02, 2 * PER_CLASS)
    return np.stack([x - LENGTH / 2, y - gap / 2], axis=1).astype(np.float32), labels


def lift_to_sphere(points: Array) -> Array:
    """A flat space on a small cap of the sphere: the order by cosine is the order by distance."""
    flat = 0.002 * points.astype(np.float64)
    up = np.concatenate([flat, np.ones((len(flat), 1))], axis=1)
    unit: Array = (up / np.linalg.norm(up, axis=1, keepdims=True)).astype(np.float32)
    return unit


def toy_scores(points: Array, labels: Ints) -> dict[str, float]:
    """Retrieval on the lifted points; k-means on the flat ones, as faiss would see any Euclidean space."""
    found = retrieval(lift_to_sphere(points), labels)
    parts = partition(labels, k_means(points, 2))
    return {measure: found.value(measure) for measure in RANKED} | {
        "NMI": normalised_mutual_information(parts),
        "AMI": adjusted_mutual_information(parts),
        "F1": pairwise_f1(parts),
    }


def toy_table() -> pl.DataFrame:
    """The three spaces, a row each."""
    return pl.DataFrame([{"space": name} | toy_scores(*toy_space(gap)) for name, gap in GAPS])


def random_table(n_points: int, seed: int = 0) -> pl.DataFrame:
    """Every measure on random vectors by the number of classes, and the NMI that the formula expects."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n_points, RANDOM_DIM), dtype=np.float32)
    rows = []
    for n_classes in CLASS_COUNTS:
        if n_classes <= n_points // 2:
            labels = rng.permutation(np.arange(n_points) % n_classes)
            rows.append(
                {"n_classes": n_classes} | score_space(vectors, labels) | {"formula": random_nmi(n_points, n_classes)}
            )
    return pl.DataFrame(rows)
