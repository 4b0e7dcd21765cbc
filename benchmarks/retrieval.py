"""Class-based retrieval against pytorch-metric-learning's AccuracyCalculator, at the size of Stanford Online Products.

60,502 vectors of 128 dimensions in 11,316 classes of 2 to 12 images; P@1, R_Precision and MAP@R, and once more with
the rank of the first same-class image in the whole gallery, hence MRR and Recall@k, which the peer does not have. CPU
seconds stand beside the wall clock's, because a busy machine changes them less.
"""

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.retrieval import retrieval
from likewise.neighbours import as_unit, top_k

IMAGES, CLASSES, DIM, SMALLEST, LARGEST = 60_502, 11_316, 128, 2, 12
NOISE = 1.6
ROUNDS = 3
PEER = "pytorch-metric-learning, k=max_bin_count"
OURS = "likewise, the same measures"
OURS_AND_MRR = "likewise, and MRR over the whole gallery"
Vectors = NDArray[np.float32]
Labels = NDArray[np.int64]


def data() -> tuple[Vectors, Labels]:
    """Classes of uneven size around random centres, in random order."""
    rng = np.random.default_rng(0)
    sizes = np.full(CLASSES, SMALLEST)
    while (missing := IMAGES - int(sizes.sum())) > 0:
        grown = rng.choice(np.flatnonzero(sizes < LARGEST), min(missing, 2000))
        sizes[np.unique(grown)] += 1
    labels = rng.permutation(np.repeat(np.arange(CLASSES), sizes))
    vectors = rng.standard_normal((CLASSES, DIM), dtype=np.float32)[labels]
    vectors += NOISE * rng.standard_normal((IMAGES, DIM), dtype=np.float32)
    return as_unit(vectors), labels


def ours(vectors: Vectors, labels: Labels, with_mrr: bool = False) -> dict[str, float]:
    found = retrieval(vectors, labels, whole_rank=with_mrr)
    names = ("P@1", "R_Precision", "MAP@R", "MRR") if with_mrr else ("P@1", "R_Precision", "MAP@R")
    return {measure: found.value(measure) for measure in names}


def theirs(vectors: Vectors, labels: Labels, k: int | str = "max_bin_count", with_mrr: bool = False) -> Any:
    import torch
    from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

    names = {"precision_at_1": "P@1", "r_precision": "R_Precision", "mean_average_precision_at_r": "MAP@R"}
    names |= {"mean_reciprocal_rank": "MRR"} if with_mrr else {}
    calculator = AccuracyCalculator(include=tuple(names), k=k, device=torch.device("cpu"))
    found = calculator.get_accuracy(torch.from_numpy(vectors), torch.from_numpy(labels))
    return {names[name]: value for name, value in found.items()}


WAYS: dict[str, Callable[[Vectors, Labels], Any]] = {
    PEER: theirs,
    "faiss.knn alone, top 12": lambda vectors, _: faiss.knn(vectors, vectors, 12, metric=faiss.METRIC_INNER_PRODUCT),
    "likewise top_k alone, top 11": lambda vectors, _: top_k(vectors, vectors, 11, query_groups=np.arange(IMAGES)),
    OURS: ours,
    OURS_AND_MRR: partial(ours, with_mrr=True),
}


def one(name: str) -> dict[str, Any]:
    """One way in this process: seconds, what it found, and megabytes at their highest."""
    vectors, labels = data()
    if name == PEER:
        theirs(vectors[:64], labels[:64] % 2)  # torch is imported before the clock starts
    wall, cpu = time.perf_counter(), time.process_time()
    found = WAYS[name](vectors, labels)
    taken = time.perf_counter() - wall, time.process_time() - cpu
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    values = found if isinstance(found, dict) else {}
    return {"wall": taken[0], "cpu": taken[1], "megabytes": megabytes, "values": values}


def in_processes_of_their_own(rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Every way in turn, each in a new process: threads that one library keeps waiting slow the next one down."""
    runs: dict[str, list[dict[str, Any]]] = {name: [] for name in WAYS}
    for _ in range(rounds):
        for name, found in runs.items():
            command = [sys.executable, "-m", "benchmarks.retrieval", name]
            ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
            found.append(json.loads(ran.stdout.splitlines()[-1]))
    return runs


def where_they_disagree() -> None:
    """Small cases in which the definitions differ, not the arithmetic."""
    print("  where the two disagree, on small data:")
    rng = np.random.default_rng(1)
    labels = rng.permutation(np.repeat(np.arange(20), 15))
    vectors = as_unit(rng.standard_normal((300, 8), dtype=np.float32))
    exact = ours(vectors, labels, with_mrr=True)
    short = theirs(vectors, labels, k=5)
    print(f"    k = 5 below the largest class: MAP@R {short['MAP@R']:.4f} there (warned), {exact['MAP@R']:.4f} here")
    cut = theirs(vectors, labels, with_mrr=True)
    print(f"    MRR: {cut['MRR']:.4f} there (cut off at the largest class), {exact['MRR']:.4f} here (whole gallery)")
    cast = theirs(vectors, labels + 2**24)
    print(f"    labels above 2^24 (cast to float32): P@1 {cast['P@1']:.4f} there, {exact['P@1']:.4f} here")


def main() -> None:
    runs = in_processes_of_their_own(ROUNDS)
    seconds = {
        name: [statistics.median(run[clock] for run in found) for clock in ("wall", "cpu")]
        for name, found in runs.items()
    }
    print(f"\nretrieval: {IMAGES:,} x {DIM}, {CLASSES:,} classes of {SMALLEST}-{LARGEST} (medians of {ROUNDS})")
    for name, (wall, cpu) in seconds.items():
        print(f"  {name:<44}{wall:>8.1f} s {wall / seconds[OURS][0]:>6.2f} x   {cpu:>8.1f} CPU s")
    expected, found = runs[PEER][0]["values"], runs[OURS_AND_MRR][0]["values"]
    assert all(found[name] == value for name, value in runs[OURS][0]["values"].items())
    for measure, value in found.items():
        there = f"{expected[measure]:.6f} there" if measure in expected else "(whole gallery) not there"
        print(f"  {measure:<12}{value:.6f} here, {there}")
    for name in (PEER, OURS, OURS_AND_MRR):
        print(f"  peak memory of {name:<42}{max(run['megabytes'] for run in runs[name]):>8,.0f} MB")
    where_they_disagree()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(one(sys.argv[1])))
    else:
        main()
