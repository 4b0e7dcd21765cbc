"""How well the items of an outfit go together, in [0, 1] per dimension, and how people differ about it.

Each dimension looks at its own attributes only, so a change of colour moves ``color`` and nothing else:

- color: colour and second_colour: near hues, neutrals, one temperature or a true contrast agree, other mixtures clash;
- style, occasion, season: the kinship of the items' words (season and its neighbours in the year);
- material: materials that suit each other (gold beside silver does not), and at most one busy pattern;
- balance: silhouette, length, sleeve and neckline: volume against volume, short above long, one statement piece.

A dimension is 0.6 * mean + 0.4 * worst of its pairs of items (balance: see ``_balance``); where fewer than two items
have the attribute it is 1. overall is the weighted geometric mean, so that one bad dimension spoils an outfit; a
person's ``Taste`` is the weights and the noise of their judgement.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.synthetic.codes import Codes, encode_items
from likewise.synthetic.harmony import COLOUR_HARMONY, PATTERN_HARMONY, WORD_HARMONY, garment_volume, statement_strength

DIMENSIONS: tuple[str, ...] = ("color", "style", "occasion", "season", "material", "balance")
BASE_TASTE: dict[str, float] = {
    "color": 1.3,
    "style": 1.2,
    "occasion": 0.9,
    "season": 0.7,
    "material": 0.8,
    "balance": 0.9,
}

Plane = NDArray[np.float64]
_FLOOR = 0.02


@dataclass(frozen=True)
class Compatibility:
    """An outfit's agreement per dimension, and overall by some person's weights."""

    color: float
    style: float
    occasion: float
    season: float
    material: float
    balance: float
    overall: float


@dataclass(frozen=True)
class Taste:
    """A person: how much each dimension counts for them, and the spread of their ratings (in units of overall)."""

    weights: Mapping[str, float] = field(default_factory=lambda: dict(BASE_TASTE))
    noise: float = 0.0

    def rate(self, scores: pl.DataFrame, rng: np.random.Generator) -> Plane:
        """This person's rating in [0, 1] of outfits scored by ``compatibility_many``."""
        planes = np.stack([scores[name].to_numpy() for name in DIMENSIONS])
        return np.clip(_overall(planes, self.weights) + rng.normal(0, self.noise, planes.shape[1]), 0, 1)


def sample_taste(rng: np.random.Generator) -> Taste:
    """A person at random: weights spread around BASE_TASTE by a factor of about 1.6, noise around 0.05."""
    weights = {name: base * float(np.exp(rng.normal(0, 0.5))) for name, base in BASE_TASTE.items()}
    return Taste(weights, float(rng.gamma(4.0, 0.0125)))


def compatibility(
    items: pl.DataFrame, rows: Sequence[int], weights: Mapping[str, float] | None = None
) -> Compatibility:
    """The outfit made of the given row numbers of ``items``."""
    return Compatibility(**compatibility_many(items, [rows], weights).row(0, named=True))


def compatibility_many(
    items: pl.DataFrame, outfits: Sequence[Sequence[int]], weights: Mapping[str, float] | None = None
) -> pl.DataFrame:
    """One row per outfit: the dimensions and ``overall``."""
    return compatibility_of_codes(encode_items(items), outfits, weights)


def compatibility_of_codes(
    codes: Codes, outfits: Sequence[Sequence[int]], weights: Mapping[str, float] | None = None
) -> pl.DataFrame:
    """The same, of items that were encoded before."""
    table, there = _pad(outfits, len(codes["category"]))
    first, second = np.triu_indices(table.shape[1], 1)
    left, right = table[:, first], table[:, second]
    both = there[:, first] & there[:, second]
    planes = np.stack(
        [
            _pairs(_colour(codes, left, right), both),
            *(_pairs(_words(name, codes, left, right), both) for name in ("style", "occasion", "season")),
            _pairs(_material(codes, left, right), both),
            _balance(codes, table, there, left, right, both),
        ]
    )
    columns = dict(zip(DIMENSIONS, planes, strict=True)) | {"overall": _overall(planes, weights)}
    return pl.DataFrame(columns)


def _pad(outfits: Sequence[Sequence[int]], n_items: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    if not outfits or any(len(outfit) == 0 for outfit in outfits):
        raise LikewiseError("an outfit needs at least one item")
    lengths = np.fromiter(map(len, outfits), np.int64, len(outfits))
    there = np.arange(max(2, int(lengths.max()))) < lengths[:, None]
    table = np.zeros(there.shape, dtype=np.int64)
    table[there] = np.fromiter(chain.from_iterable(outfits), np.int64, int(lengths.sum()))
    if table.min() < 0 or table.max() >= n_items:
        raise LikewiseError(f"an outfit names row {table.max()}, but there are {n_items} items")
    return table, there


def _pairs(scores: Plane, both: NDArray[np.bool_]) -> Plane:
    """0.6 * mean + 0.4 * worst over the pairs that count (score not NaN)."""
    valid = both & ~np.isnan(scores)
    count = valid.sum(axis=1)
    mean = np.where(valid, scores, 0).sum(axis=1) / np.maximum(count, 1)
    worst = np.where(valid, scores, 1).min(axis=1)
    return np.where(count > 0, 0.6 * mean + 0.4 * worst, 1.0)


def _words(name: str, codes: Codes, left: NDArray[np.int64], right: NDArray[np.int64]) -> Plane:
    a, b = codes[name][left], codes[name][right]
    return np.where((a >= 0) & (b >= 0), WORD_HARMONY[name][a, b], np.nan)


def _colour(codes: Codes, left: NDArray[np.int64], right: NDArray[np.int64]) -> Plane:
    main = COLOUR_HARMONY[codes["colour"][left], codes["colour"][right]]
    echo = COLOUR_HARMONY[codes["second_colour"][left], codes["second_colour"][right]]
    return np.asarray(0.8 * main + 0.2 * echo)


def _material(codes: Codes, left: NDArray[np.int64], right: NDArray[np.int64]) -> Plane:
    touch = WORD_HARMONY["material"][codes["material"][left], codes["material"][right]]
    a, b = codes["pattern"][left], codes["pattern"][right]
    print_score = np.where((a >= 0) & (b >= 0), PATTERN_HARMONY[a, b], 0.9)
    return np.asarray(0.55 * touch + 0.45 * print_score)


def _balance(
    codes: Codes,
    table: NDArray[np.int64],
    there: NDArray[np.bool_],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
    both: NDArray[np.bool_],
) -> Plane:
    """Pairs of garments: slim balances wide, equal lengths count less; then one statement piece is best."""
    bulk, reach = garment_volume(codes)
    pair = 1 - 0.25 * np.clip(np.abs(bulk[left] + bulk[right]), 0, 2)
    pair = pair - 0.3 * (reach[left] == reach[right]) * (~np.isnan(reach[left]))
    garment = ~np.isnan(reach)
    pair = np.where(garment[left] & garment[right], pair, np.nan)
    loud = (statement_strength(codes)[table] * there).sum(axis=1)
    calm: Plane = 1 - 0.18 * np.clip(np.abs(loud - 1.0), 0, 3)
    return np.asarray(np.clip(_pairs(pair, both) * calm, 0, 1))


def _overall(planes: Plane, weights: Mapping[str, float] | None) -> Plane:
    chosen = dict(BASE_TASTE) | dict(weights or {})
    unknown = sorted(set(chosen) - set(BASE_TASTE))
    if unknown:
        raise LikewiseError(f"unknown dimension {unknown[0]!r}; the dimensions are {', '.join(DIMENSIONS)}")
    w = np.array([chosen[name] for name in DIMENSIONS])
    if w.min() < 0 or w.sum() == 0:
        raise LikewiseError("weights of dimensions are 0 or more, and not all 0")
    return np.asarray(np.exp(w @ np.log(np.maximum(planes, _FLOOR)) / w.sum()))
