"""How alike two values of one attribute look, as tables in [0, 1]: 1 on the diagonal, symmetric, less than 1 elsewhere.

Groups of kin are listed from close to loose; a pair not listed gets the table's floor.
"""

from collections.abc import Sequence

import numpy as np

from likewise.synthetic.colour import FloatArray, colour_distance
from likewise.synthetic.vocabulary import ATTRIBUTES, CATEGORIES

Groups = Sequence[tuple[float, Sequence[str]]]

# Lab distance at which two colours are half alike (about red against orange).
HALF_ALIKE_AT = 32.0

_PATTERNS: Groups = (
    (0.6, ("stripes", "pinstripes")),
    (0.45, ("stripes", "zigzag")),
    (0.35, ("stripes", "checks")),
    (0.35, ("dots", "leopard")),
    (0.35, ("dots", "floral")),
    (0.4, ("solid", "pinstripes")),
    (0.3, ("floral", "leopard")),
)
_MATERIALS: Groups = (
    (0.65, ("cotton", "linen", "canvas")),
    (0.55, ("knit", "wool")),
    (0.5, ("velvet", "suede")),
    (0.5, ("denim", "canvas")),
    (0.45, ("leather", "suede")),
    (0.45, ("wool", "fur")),
    (0.45, ("gold", "silver")),
    (0.4, ("satin", "velvet")),
    (0.4, ("cotton", "denim")),
    (0.35, ("leather", "satin", "plastic")),
    (0.35, ("pearl", "plastic")),
    (0.35, ("quilted", "leather")),
    (0.3, ("linen", "straw")),
)
_SILHOUETTES: Groups = (
    (0.6, ("fitted", "pencil", "skinny")),
    (0.6, ("a-line", "pleated")),
    (0.55, ("a-line", "full")),
    (0.55, ("pleated", "full")),
    (0.55, ("straight", "oversized")),
    (0.5, ("wrap", "pencil")),
    (0.5, ("wrap", "a-line")),
    (0.55, ("fitted", "peplum", "belted")),
    (0.6, ("wide", "flared")),
    (0.5, ("skinny", "tapered")),
    (0.45, ("straight", "tapered")),
    (0.45, ("straight", "fitted", "wide")),
    (0.5, ("loafer", "ballet flat")),
    (0.45, ("pump", "ballet flat")),
    (0.4, ("pump", "sandal")),
    (0.55, ("tote", "satchel")),
    (0.5, ("satchel", "crossbody")),
    (0.5, ("clutch", "crossbody")),
    (0.5, ("tote", "bucket")),
    (0.55, ("drop", "chandelier")),
    (0.5, ("chain", "pendant")),
    (0.5, ("solitaire", "cluster")),
    (0.5, ("bangle", "cuff")),
    (0.45, ("band", "signet")),
    (0.5, ("square", "tonneau")),
    (0.6, ("fedora", "wide-brim")),
    (0.45, ("fedora", "bucket")),
    (0.5, ("beanie", "beret")),
    (0.5, ("aviator", "round")),
    (0.45, ("square", "cat-eye")),
    (0.5, ("fitted", "gauntlet", "fingerless")),
    (0.6, ("smooth", "cuffed")),
    (0.55, ("scarf", "neckerchief")),
    (0.5, ("flower", "star", "butterfly")),
)
_LENGTHS: Groups = ((0.5, ("short", "medium")), (0.5, ("medium", "long")))
_SLEEVES: Groups = (
    (0.55, ("long", "bell")),
    (0.55, ("short", "puff")),
    (0.45, ("sleeveless", "short")),
)
_NECKLINES: Groups = (
    (0.55, ("round", "square")),
    (0.4, ("round", "v-neck")),
    (0.5, ("shirt collar", "lapel")),
    (0.35, ("v-neck", "lapel")),
)
_STYLES: Groups = (
    (0.5, ("streetwear", "sporty")),
    (0.45, ("modern", "elegant")),
    (0.45, ("vintage", "sweet")),
    (0.4, ("vintage", "boho")),
    (0.4, ("streetwear", "rock")),
)
_SEASONS: Groups = ((0.5, ("spring", "summer")), (0.5, ("autumn", "winter")), (0.35, ("spring", "autumn")))
_OCCASIONS: Groups = (
    (0.5, ("formal", "cocktail")),
    (0.45, ("smart casual", "formal")),
    (0.5, ("smart casual", "casual")),
    (0.45, ("casual", "outdoor")),
)
_CATEGORIES: Groups = (
    (0.6, ("dresses", "jumpsuits")),
    (0.55, ("skirts", "dresses")),
    (0.55, ("pants", "jumpsuits")),
    (0.55, ("tops", "outwear")),
    (0.5, ("tops", "dresses")),
    (0.5, ("necklaces", "bracelets")),
    (0.45, ("rings", "bracelets")),
    (0.45, ("earrings", "necklaces")),
    (0.4, ("rings", "earrings")),
    (0.45, ("watches", "bracelets")),
    (0.45, ("brooch", "earrings")),
    (0.35, ("skirts", "pants")),
    (0.35, ("gloves", "legwear")),
    (0.35, ("hats", "hair wear")),
    (0.35, ("hair wear", "brooch")),
    (0.35, ("shoes", "legwear")),
    (0.3, ("outwear", "dresses")),
    (0.3, ("tops", "jumpsuits")),
    (0.3, ("hair wear", "neckwear")),
)


def _table(values: Sequence[str], groups: Groups, floor: float) -> FloatArray:
    table = np.full((len(values), len(values)), floor, dtype=np.float32)
    for strength, names in groups:
        rows = [values.index(name) for name in names]
        block = np.ix_(rows, rows)
        table[block] = np.maximum(table[block], strength)
    np.fill_diagonal(table, 1.0)
    return table


def kinship_tables() -> dict[str, FloatArray]:
    """component -> [n_values, n_values], values in the vocabulary's order."""
    colour = (0.5 ** ((colour_distance() / HALF_ALIKE_AT) ** 1.5)).astype(np.float32)
    return {
        "category": _table(CATEGORIES, _CATEGORIES, 0.12),
        "colour": colour,
        "second_colour": colour,
        "pattern": _table(ATTRIBUTES["pattern"], _PATTERNS, 0.1),
        "material": _table(ATTRIBUTES["material"], _MATERIALS, 0.1),
        "silhouette": _table(ATTRIBUTES["silhouette"], _SILHOUETTES, 0.1),
        "length": _table(ATTRIBUTES["length"], _LENGTHS, 0.05),
        "sleeve": _table(ATTRIBUTES["sleeve"], _SLEEVES, 0.1),
        "neckline": _table(ATTRIBUTES["neckline"], _NECKLINES, 0.1),
        "style": _table(ATTRIBUTES["style"], _STYLES, 0.1),
        "season": _table(ATTRIBUTES["season"], _SEASONS, 0.1),
        "occasion": _table(ATTRIBUTES["occasion"], _OCCASIONS, 0.1),
    }
