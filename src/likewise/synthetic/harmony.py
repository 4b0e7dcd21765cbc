"""The tables behind compatibility: which colours, words, materials and patterns go together, and how bulky a cut is.

Unlike kinship (what *looks alike*), harmony is what can be *worn together*: black and white are far apart and agree.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from likewise.synthetic.codes import Codes
from likewise.synthetic.colour import lab_table
from likewise.synthetic.vocabulary import ATTRIBUTES, CATEGORIES, COLOURS

Table = NDArray[np.float64]

NEUTRALS = ("black", "white", "grey", "beige", "navy", "brown")
WARM = ("yellow", "orange", "red", "burgundy", "pink", "brown", "beige")


def _colour_harmony() -> Table:
    lab = lab_table()
    hue = np.degrees(np.arctan2(lab[:, 2], lab[:, 1]))
    apart = np.abs((hue[:, None] - hue[None] + 180) % 360 - 180)
    near = np.exp(-((apart / 38) ** 2))
    contrast = 0.85 * np.exp(-(((apart - 180) / 32) ** 2))
    warm = np.array([name in WARM for name in COLOURS])
    neutral = np.array([name in NEUTRALS for name in COLOURS])
    tone = np.where(warm[:, None] == warm[None], 0.55, 0.22)
    score = np.maximum.reduce([0.95 * near, contrast, tone])
    either = neutral[:, None] | neutral[None]
    score = np.where(either, np.maximum(score, 0.82), score)
    score = np.where(neutral[:, None] & neutral[None], 0.9, score)
    np.fill_diagonal(score, 1.0)
    return score


def _words(attribute: str, good: Sequence[tuple[float, Sequence[str]]], other: float, same: float = 1.0) -> Table:
    values = ATTRIBUTES[attribute]
    table = np.full((len(values), len(values)), other)
    np.fill_diagonal(table, same)
    for score, names in good:
        for a in names:
            for b in names:
                if a != b:
                    table[values.index(a), values.index(b)] = score
    return table


COLOUR_HARMONY: Table = _colour_harmony()

WORD_HARMONY: dict[str, Table] = {
    "style": _words(
        "style",
        (
            (0.7, ("modern", "elegant")),
            (0.75, ("streetwear", "sporty")),
            (0.65, ("streetwear", "rock")),
            (0.7, ("vintage", "sweet")),
            (0.65, ("vintage", "boho")),
            (0.55, ("vintage", "elegant")),
            (0.5, ("modern", "streetwear")),
            (0.5, ("modern", "rock")),
            (0.45, ("sweet", "boho")),
        ),
        0.15,
    ),
    "occasion": _words(
        "occasion",
        (
            (0.7, ("formal", "cocktail")),
            (0.5, ("formal", "smart casual")),
            (0.55, ("cocktail", "smart casual")),
            (0.7, ("smart casual", "casual")),
            (0.7, ("casual", "outdoor")),
            (0.35, ("smart casual", "outdoor")),
        ),
        0.1,
    ),
    "season": _words(
        "season",
        ((0.65, ("spring", "summer")), (0.7, ("autumn", "winter")), (0.6, ("spring", "autumn"))),
        0.12,
    ),
    "material": _words(
        "material",
        (
            (0.9, ("denim", "cotton", "leather", "knit")),
            (0.9, ("wool", "leather", "knit", "suede")),
            (0.88, ("satin", "velvet", "lace", "pearl", "gold")),
            (0.88, ("linen", "straw", "canvas", "cotton", "wood")),
            (0.85, ("silver", "leather", "denim", "satin")),
            (0.85, ("fur", "velvet", "wool", "gold")),
            (0.8, ("gold", "suede", "leather", "silver")),
            (0.8, ("plastic", "cotton", "canvas", "quilted", "denim")),
            (0.3, ("gold", "silver")),
            (0.3, ("fur", "straw")),
            (0.3, ("fur", "linen")),
            (0.35, ("satin", "canvas")),
        ),
        0.6,
        same=0.85,
    ),
}


def _pattern_harmony() -> Table:
    values = ATTRIBUTES["pattern"]
    quiet = {"solid": 0.0, "pinstripes": 0.35, "stripes": 0.7, "checks": 0.85, "dots": 0.75}
    loud = np.array([quiet.get(name, 1.0) for name in values])
    table: Table = 1 - 0.8 * np.minimum(loud[:, None], loud[None])
    table[values.index("solid"), values.index("solid")] = 0.9
    np.fill_diagonal(table, np.maximum(np.diag(table), 0.75))
    return table


PATTERN_HARMONY: Table = _pattern_harmony()

_GARMENTS = ("tops", "skirts", "pants", "outwear", "dresses", "jumpsuits")
_BULK = {"fitted": -0.8, "skinny": -0.9, "pencil": -0.7, "tapered": -0.2, "straight": 0.0, "wrap": 0.1, "belted": 0.0}
_BULK |= {"a-line": 0.4, "flared": 0.5, "peplum": 0.3, "pleated": 0.5, "oversized": 1.0, "full": 1.0, "wide": 0.9}
_SLEEVE_BULK = {"puff": 0.3, "bell": 0.35}
_LOUD = {"chandelier", "collar", "cluster", "cuff", "wide-brim", "cat-eye", "butterfly", "gauntlet", "bow", "full"}
_LOUD_NECKS = {"hood"}


def garment_volume(codes: Codes) -> tuple[Table, Table]:
    """Per item: bulk (-1 slim .. 1.3 wide) and length class (0, 1, 2); NaN length for what is not a garment."""
    bulk = _lookup("silhouette", _BULK, codes) + _lookup("sleeve", _SLEEVE_BULK, codes)
    garment = np.isin(codes["category"], [CATEGORIES.index(name) for name in _GARMENTS])
    return bulk, np.where(garment, codes["length"].astype(np.float64), math.nan)


def statement_strength(codes: Codes) -> Table:
    """Per item: how much of a statement piece its shape is (0, 0.5 or 1)."""
    loud = _lookup("silhouette", dict.fromkeys(_LOUD, 1.0), codes)
    sleeves = 0.5 * (_lookup("sleeve", _SLEEVE_BULK, codes) > 0)
    necks = _lookup("neckline", dict.fromkeys(_LOUD_NECKS, 0.5), codes)
    strongest: Table = np.maximum.reduce([loud, sleeves, necks])
    return strongest


def _lookup(attribute: str, table: dict[str, float], codes: Codes) -> Table:
    values = np.array([table.get(name, 0.0) for name in ATTRIBUTES[attribute]] + [0.0])
    return np.asarray(values[codes[attribute]])
