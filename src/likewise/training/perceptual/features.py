"""From the stored vectors of several encoders to a few coordinates that a metric can be learned in.

Every encoder's vectors are centred and scaled to mean square length one, put side by side and turned to their principal
axes; a hidden layer, where there is one, adds max(0, z R + b) with random R and b, and the whole is turned again.
All of it is fitted on the images named in training answers and on no others. It folds into the layers of a `run:`
encoder, so nothing has to be done to new vectors but multiply.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.families.run_files import Layer
from likewise.encoders.protocol import Vectors
from likewise.evaluation.auc import Floats, Ints

MIN_RELATIVE_SPREAD = 1e-6  # of the largest spread: directions that vary less say nothing
MAX_DIM = 128
MAX_EXACT_DIM = 1024  # above it, and with more stimuli still, the principal axes are found by power iteration
MAX_KEPT_PROJECTIONS = 16
OVERSAMPLING, POWER_ITERATIONS = 32, 12

_KEEPING = threading.Lock()
OFFSET_SPREAD = 0.7  # of the hidden units' offsets, in standard deviations of what comes in


@dataclass(frozen=True)
class ImageVectors:
    """The vectors of all images, one array per encoder, and the stimulus each image shows, -1 for none."""

    encoders: tuple[str, ...]
    vectors: tuple[Vectors, ...]
    stimulus: Ints

    @property
    def dims(self) -> list[int]:
        return [each.shape[1] for each in self.vectors]

    @cached_property
    def concatenated(self) -> Floats:
        """All encoders side by side, a row per image."""
        return np.concatenate([each.astype(np.float64) for each in self.vectors], axis=1)

    @cached_property
    def projections(self) -> "dict[bytes, AffineMap]":
        """The last first layers that were fitted, by the stimuli they were fitted on: folds and settings share them."""
        return {}

    def shown(self, stimuli: Ints) -> "ShownImages":
        """The images of some stimuli, which are numbered from 0 in their order."""
        place = np.full(int(max(self.stimulus.max(initial=-1), stimuli.max(initial=-1))) + 2, -1)
        place[stimuli] = np.arange(len(stimuli))
        kept = np.flatnonzero(place[self.stimulus] >= 0)
        return ShownImages(self.concatenated[kept], place[self.stimulus[kept]])

    def stimulus_means(self, rows: Floats, n_stimuli: int) -> Floats:
        """Mean over the images of each stimulus; zero for one without images."""
        return _means(rows, self.stimulus, n_stimuli)


@dataclass(frozen=True)
class ShownImages:
    """Rows of some images, and the stimulus each shows."""

    rows: Floats
    stimulus: Ints

    def stimulus_means(self, rows: Floats) -> Floats:
        return _means(rows, self.stimulus, int(self.stimulus.max()) + 1)


def _means(rows: Floats, stimulus: Ints, n_stimuli: int) -> Floats:
    from scipy.sparse import csr_array

    known = stimulus >= 0
    n_known = int(known.sum())
    places = (stimulus[known], np.flatnonzero(known))
    membership = csr_array((np.ones(n_known), places), shape=(n_stimuli, len(rows)))
    total: Floats = membership @ rows
    total /= np.maximum(1, np.bincount(stimulus[known], minlength=n_stimuli))[:, None]
    return total


@dataclass(frozen=True)
class AffineMap:
    """x @ matrix + offset."""

    matrix: Floats
    offset: Floats

    def __call__(self, rows: NDArray[np.floating]) -> Floats:
        return np.asarray(rows @ self.matrix + self.offset)


@dataclass(frozen=True)
class FeatureMap:
    """The fitted map from vectors side by side to coordinates: one affine map, or two more with a rectifier between."""

    first: AffineMap
    hidden: AffineMap | None = None
    last: AffineMap | None = None

    @property
    def dim(self) -> int:
        return len((self.last or self.first).offset)

    def __call__(self, rows: Floats) -> Floats:
        coordinates = self.first(rows)
        if self.hidden is None or self.last is None:
            return coordinates
        return self.last(np.maximum(self.hidden(coordinates), 0.0))

    def layers(self, matrix: Floats, constant: float) -> list[Layer]:
        """The layers of an encoder whose output is [coordinates @ matrix, constant]."""
        last = self.last or self.first
        folded = np.concatenate([last.matrix @ matrix, np.zeros((len(last.matrix), 1))], axis=1)
        maps = [(folded, np.append(last.offset @ matrix, constant))]
        if self.hidden is not None:
            maps.insert(0, (self.first.matrix @ self.hidden.matrix, self.hidden(self.first.offset)))
        return [(matrix.astype(np.float32), offset.astype(np.float32)) for matrix, offset in maps]


def fit_feature_map(image_vectors: ImageVectors, stimuli: Ints, *, hidden: int = 0, seed: int = 0) -> FeatureMap:
    """Fit on the images of some stimuli; axes are those along which the stimuli differ, not the images of one."""
    kept, key = image_vectors.projections, stimuli.tobytes()
    first = kept.get(key)
    if first is not None and not hidden:
        return FeatureMap(first)
    shown = image_vectors.shown(stimuli)
    if first is None:
        first = _project(shown, image_vectors.dims)
        with _KEEPING:
            kept[key] = first
            if len(kept) > MAX_KEPT_PROJECTIONS:
                del kept[next(iter(kept))]
    return add_hidden_layer(first, shown, hidden, seed) if hidden else FeatureMap(first)


def add_hidden_layer(first: AffineMap, shown: ShownImages, hidden: int, seed: int) -> FeatureMap:
    """Random units over the coordinates of `first`, and both together turned to their principal axes."""
    coordinates = first(shown.rows)
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(coordinates.shape[1], hidden)) * np.sqrt(np.mean(coordinates**2, axis=0))[:, None]
    directions /= np.maximum((coordinates @ directions).std(axis=0), 1e-12)
    offsets = OFFSET_SPREAD * rng.normal(size=hidden)
    n = coordinates.shape[1]
    # the coordinates themselves pass through a rectifier as max(0, z) and max(0, -z)
    hidden_layer = AffineMap(
        np.concatenate([np.eye(n), -np.eye(n), directions], axis=1), np.concatenate([np.zeros(2 * n), offsets])
    )
    units = np.maximum(coordinates @ directions + offsets, 0.0)
    mean = units.mean(axis=0)
    scale = np.sqrt(np.mean(((units - mean) ** 2).sum(axis=1))) or 1.0
    both = np.concatenate([coordinates, (units - mean) / scale], axis=1) / np.sqrt(2.0)
    axes = _principal_axes(shown.stimulus_means(both))
    back = np.concatenate([axes[:n], -axes[:n], axes[n:] / scale]) / np.sqrt(2.0)
    return FeatureMap(first, hidden_layer, AffineMap(back, -(mean / scale) @ axes[n:] / np.sqrt(2.0)))


def _project(shown: ShownImages, dims: Sequence[int]) -> AffineMap:
    """Centred, scaled by encoder, turned to principal axes."""
    centre = shown.rows.mean(axis=0)
    centred = shown.rows - centre
    variances = np.einsum("nd,nd->d", centred, centred) / len(centred)
    lengths = np.sqrt(np.add.reduceat(variances, np.cumsum([0, *dims[:-1]])))
    lengths[lengths == 0.0] = 1.0
    stretch = np.repeat(1.0 / (lengths * np.sqrt(len(lengths))), dims)
    means = shown.stimulus_means(centred)
    del centred  # as large as all vectors
    means *= stretch
    turned = stretch[:, None] * _principal_axes(means)
    return AffineMap(turned, -centre @ turned)


def _principal_axes(rows: Floats) -> Floats:
    """Directions of largest spread, as columns; signs are fixed so that the same rows give the same directions."""
    from scipy.linalg import eigh

    n, dim = rows.shape
    if n < dim:
        values, left = eigh(rows @ rows.T)
        keep = _leading_eigenvalues(values)
        directions = rows.T @ left[:, keep] / np.sqrt(values[keep])
    elif dim > MAX_EXACT_DIM:
        values, directions = _leading_subspace(rows)
        directions = directions[:, _leading_eigenvalues(values)]
    else:
        values, directions = eigh(rows.T @ rows)
        directions = directions[:, _leading_eigenvalues(values)]
    largest = np.abs(directions).argmax(axis=0)
    return np.asarray(directions * np.sign(directions[largest, np.arange(directions.shape[1])]))


def _leading_subspace(rows: Floats) -> tuple[Floats, Floats]:
    """The largest eigenvalues of rows.T @ rows, in rising order, and their vectors, by power iteration on a subspace.

    All of thousands of eigenvectors would take minutes, and a few are wanted.
    """
    from scipy.linalg import eigh, qr

    products = rows.T @ rows
    subspace = np.random.default_rng(0).normal(size=(len(products), MAX_DIM + OVERSAMPLING))
    for _ in range(POWER_ITERATIONS):
        subspace = qr(products @ subspace, mode="economic", overwrite_a=True, check_finite=False)[0]
    values, turn = eigh(subspace.T @ products @ subspace)
    return values, subspace @ turn


def _leading_eigenvalues(values: Floats) -> Ints:
    """The largest eigenvalues, from large to small, without those that are noise."""
    order = np.argsort(values)[::-1][:MAX_DIM]
    return order[values[order] > MIN_RELATIVE_SPREAD**2 * max(float(values[order[0]]), 1e-300)]
