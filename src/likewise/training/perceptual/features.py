"""From the stored vectors of several encoders to a few coordinates that a metric can be learned in.

Every encoder's vectors are centred and scaled to mean square length one, put side by side and turned to their principal
axes; a hidden layer, where there is one, adds max(0, z R + b) with random R and b, and the whole is turned again.
All of it is fitted on the images named in training answers and on no others. It folds into the layers of a `run:`
encoder, so nothing has to be done to new vectors but multiply.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from likewise.encoders.families.run_files import Layer
from likewise.encoders.protocol import Vectors
from likewise.evaluation.auc import Floats, Ints

LEAST = 1e-6  # of the largest spread: directions that vary less say nothing
MOST_COORDINATES = 128
OFFSET_SPREAD = 0.7  # of the hidden units' offsets, in standard deviations of what comes in


@dataclass(frozen=True)
class Pictures:
    """The vectors of all images, one array per encoder, and the thing each image shows, -1 for none."""

    encoders: tuple[str, ...]
    vectors: tuple[Vectors, ...]
    thing: Ints

    @property
    def widths(self) -> list[int]:
        return [each.shape[1] for each in self.vectors]

    @property
    def side_by_side(self) -> Floats:
        return np.concatenate([each.astype(np.float64) for each in self.vectors], axis=1)

    def only(self, things: Ints) -> "Pictures":
        """The images of some things, which are numbered from 0 in their order."""
        place = np.full(int(max(self.thing.max(initial=-1), things.max(initial=-1))) + 2, -1)
        place[things] = np.arange(len(things))
        kept = np.flatnonzero(place[self.thing] >= 0)
        return Pictures(self.encoders, tuple(each[kept] for each in self.vectors), place[self.thing[kept]])

    def means(self, rows: Floats, n_things: int | None = None) -> Floats:
        """Mean over the images of each thing; zero for a thing without images."""
        n_things = int(self.thing.max()) + 1 if n_things is None else n_things
        shown = self.thing >= 0
        total = np.zeros((n_things, rows.shape[1]))
        np.add.at(total, self.thing[shown], rows[shown])
        return total / np.maximum(1, np.bincount(self.thing[shown], minlength=n_things))[:, None]


@dataclass(frozen=True)
class Affine:
    """x @ matrix + offset."""

    matrix: Floats
    offset: Floats

    def __call__(self, rows: NDArray[np.floating]) -> Floats:
        return np.asarray(rows @ self.matrix + self.offset)


@dataclass(frozen=True)
class Features:
    """The fitted map from vectors side by side to coordinates: one affine map, or two with a rectifier between."""

    first: Affine
    second: Affine | None = None

    @property
    def dim(self) -> int:
        return len((self.second or self.first).offset)

    def __call__(self, vectors: Sequence[Vectors]) -> Floats:
        rows = self.first(np.concatenate([each.astype(np.float64) for each in vectors], axis=1))
        return rows if self.second is None else self.second(np.maximum(rows, 0.0))

    def layers(self, matrix: Floats, constant: float) -> list[Layer]:
        """The layers of an encoder whose output is [coordinates @ matrix, constant]."""
        last = self.second or self.first
        folded = np.concatenate([last.matrix @ matrix, np.zeros((len(last.matrix), 1))], axis=1)
        offset = np.append(last.offset @ matrix, constant)
        maps = [(folded, offset)] if self.second is None else [(self.first.matrix, self.first.offset), (folded, offset)]
        return [(matrix.astype(np.float32), offset.astype(np.float32)) for matrix, offset in maps]


def fit_features(
    pictures: Pictures, things: Ints, *, hidden: int = 0, most: int = MOST_COORDINATES, seed: int = 0
) -> Features:
    """Fit on the images of some things; axes are those along which the things differ, not the images of one."""
    shown = pictures.only(things)
    first = _join(shown, most)
    if not hidden:
        return Features(first)
    side_by_side = shown.side_by_side
    seen = first(side_by_side)
    rng = np.random.default_rng(seed)
    directions = rng.normal(size=(seen.shape[1], hidden)) * np.sqrt(np.mean(seen**2, axis=0))[:, None]
    directions /= np.maximum((seen @ directions).std(axis=0), 1e-12)
    offsets = OFFSET_SPREAD * rng.normal(size=hidden)
    # the coordinates themselves pass through a rectifier as max(0, z) and max(0, -z)
    wide = np.concatenate([np.eye(seen.shape[1]), -np.eye(seen.shape[1]), directions], axis=1)
    opened = Affine(
        first.matrix @ wide, np.concatenate([first.offset, -first.offset, first.offset @ directions + offsets])
    )
    rectified = np.maximum(opened(side_by_side), 0.0)
    n = seen.shape[1]
    units = rectified[:, 2 * n :]
    mean = units.mean(axis=0)
    scale = np.sqrt(np.mean(((units - mean) ** 2).sum(axis=1))) or 1.0
    both = np.concatenate([seen, (units - mean) / scale], axis=1) / np.sqrt(2.0)
    axes = _axes(shown.means(both), most)
    back = np.concatenate([axes[:n], -axes[:n], axes[n:] / scale]) / np.sqrt(2.0)
    return Features(opened, Affine(back, -(mean / scale) @ axes[n:] / np.sqrt(2.0)))


def _join(shown: Pictures, most: int) -> Affine:
    """Centred, scaled, side by side, turned to principal axes."""
    rows = shown.side_by_side
    centre = rows.mean(axis=0)
    squares = ((rows - centre) ** 2).mean(axis=0)
    starts = np.cumsum([0, *shown.widths[:-1]])
    lengths = np.sqrt(np.add.reduceat(squares, starts))
    lengths[lengths == 0.0] = 1.0
    stretch = np.repeat(1.0 / (lengths * np.sqrt(len(lengths))), shown.widths)
    turned = stretch[:, None] * _axes(shown.means(rows - centre) * stretch, most)
    return Affine(turned, -centre @ turned)


def _axes(rows: Floats, most: int) -> Floats:
    """Directions of largest spread, as columns; signs are fixed so that the same rows give the same directions."""
    from scipy.linalg import eigh

    n, dim = rows.shape
    if n < dim:
        values, left = eigh(rows @ rows.T)
        keep = _kept(values, most)
        directions = rows.T @ left[:, keep] / np.sqrt(values[keep])
    else:
        values, directions = eigh(rows.T @ rows)
        directions = directions[:, _kept(values, most)]
    largest = np.abs(directions).argmax(axis=0)
    return np.asarray(directions * np.sign(directions[largest, np.arange(directions.shape[1])]))


def _kept(values: Floats, most: int) -> Ints:
    """The largest eigenvalues, from large to small, without those that are noise."""
    order = np.argsort(values)[::-1][:most]
    return order[values[order] > LEAST**2 * max(float(values[order[0]]), 1e-300)]
