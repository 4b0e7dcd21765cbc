"""Two ways of cutting the same images into groups, compared: NMI, AMI and the pairwise F1.

With the entropies H(U), H(V) of both partitions and their mutual information I:

    NMI = I / mean(H(U), H(V))
    AMI = (I - E[I]) / (mean(H(U), H(V)) - E[I])     E over all shufflings that keep the group sizes
    F1  = 2 TP / (pairs together in U + pairs together in V),  TP = pairs together in both

(Strehl & Ghosh 2002; Vinh, Epps & Bailey 2010, eq. 24a; scikit-learn gives the same numbers.)
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.evaluation.auc import Floats, Ints


@dataclass(frozen=True)
class Partition:
    """How two partitions meet: sizes of the groups of each, and of every overlap that is not empty."""

    true_sizes: Ints
    found_sizes: Ints
    overlap_true: Ints  # of each overlap, its group in either partition
    overlap_found: Ints
    overlap_sizes: Ints

    @property
    def n(self) -> int:
        return int(self.true_sizes.sum())


def partition(true: NDArray[np.integer], found: NDArray[np.integer]) -> Partition:
    """Group numbers of the same images, in the same order."""
    _, true_group, true_sizes = np.unique(true, return_inverse=True, return_counts=True)
    _, found_group, found_sizes = np.unique(found, return_inverse=True, return_counts=True)
    width = max(1, len(found_sizes))
    cells, sizes = np.unique(true_group.astype(np.int64) * width + found_group, return_counts=True)
    return Partition(true_sizes, found_sizes, cells // width, cells % width, sizes)


def normalised_mutual_information(parts: Partition) -> float:
    """NMI: 1 for equal partitions, also where both are a single group; not corrected for chance, see AMI."""
    return 1.0 if _equal(parts) else mutual_information(parts) / _mean_entropy(parts)


def adjusted_mutual_information(parts: Partition) -> float:
    """AMI: 0 for what chance gives, 1 for equal partitions; may be a little below 0."""
    if _equal(parts):
        return 1.0  # also where chance could not have done worse (one group, or every image its own)
    expected = expected_mutual_information(parts)
    return (mutual_information(parts) - expected) / (_mean_entropy(parts) - expected)


def pairwise_f1(parts: Partition) -> float:
    """F1 over pairs of images (the same group, or not); NaN where neither partition puts any two together."""
    together = _pairs(parts.true_sizes) + _pairs(parts.found_sizes)
    return 2.0 * _pairs(parts.overlap_sizes) / together if together else float("nan")


def mutual_information(parts: Partition) -> float:
    n, both = parts.n, parts.overlap_sizes
    expected = parts.true_sizes[parts.overlap_true] * parts.found_sizes[parts.overlap_found].astype(np.float64)
    return max(0.0, float((both / n * np.log(n * both / expected)).sum()))


def expected_mutual_information(parts: Partition) -> float:
    """E[I] over all shufflings: a hypergeometric sum for every pair of group sizes, equal sizes taken together."""
    from scipy.special import gammaln

    n = parts.n
    true_sizes, true_count = np.unique(parts.true_sizes, return_counts=True)
    found_sizes, found_count = np.unique(parts.found_sizes, return_counts=True)
    log_factorial: Floats = gammaln(np.arange(n + 1) + 1.0)
    total = 0.0
    for a, n_a in zip(true_sizes.tolist(), true_count.tolist(), strict=True):
        for b, n_b in zip(found_sizes.tolist(), found_count.tolist(), strict=True):
            both = np.arange(max(1, a + b - n), min(a, b) + 1)
            fixed = log_factorial[a] + log_factorial[b] + log_factorial[n - a] + log_factorial[n - b] - log_factorial[n]
            free = log_factorial[both] + log_factorial[a - both] + log_factorial[b - both]
            chance = np.exp(fixed - free - log_factorial[n - a - b + both])
            total += n_a * n_b * float((both / n * np.log(n * both / (a * b)) * chance).sum())
    return total


def expected_nmi(parts: Partition) -> float:
    """The NMI to expect if these very groups were filled at random."""
    mean = _mean_entropy(parts)
    return expected_mutual_information(parts) / mean if mean > 0 else 1.0


def _equal(parts: Partition) -> bool:
    return len(parts.true_sizes) == len(parts.found_sizes) == len(parts.overlap_sizes)


def _mean_entropy(parts: Partition) -> float:
    shares = [sizes / parts.n for sizes in (parts.true_sizes, parts.found_sizes)]
    return float(sum(-(share * np.log(share)).sum() for share in shares)) / 2.0


def _pairs(sizes: Ints) -> float:
    return float((sizes.astype(np.float64) * (sizes - 1) / 2.0).sum())
