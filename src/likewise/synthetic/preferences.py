"""What goes together when a designer invents a line: the reason style, season and occasion agree with the rest.

A style prefers materials, patterns and occasions; a material and a cut prefer seasons. Numbers are relative weights,
1 where nothing is said.
"""

from collections.abc import Mapping

import numpy as np

from likewise.synthetic.vocabulary import VALUES_OF

Weights = Mapping[str, float]

STYLE_PATTERN: dict[str, Weights] = {
    "modern": {"solid": 6, "pinstripes": 2, "leopard": 0.2, "floral": 0.3},
    "streetwear": {"solid": 3, "checks": 2, "leopard": 1.5, "floral": 0.4},
    "vintage": {"checks": 3, "dots": 3, "floral": 2},
    "sweet": {"dots": 3, "floral": 3, "checks": 1.5, "leopard": 0.2},
    "sporty": {"solid": 4, "stripes": 3, "zigzag": 1.5, "floral": 0.2},
    "elegant": {"solid": 5, "pinstripes": 2, "zigzag": 0.3},
    "rock": {"solid": 4, "leopard": 3, "checks": 2, "floral": 0.3, "dots": 0.4},
    "boho": {"floral": 3, "zigzag": 3, "solid": 1.5},
}
STYLE_MATERIAL: dict[str, Weights] = {
    "modern": {"cotton": 2, "leather": 2, "wool": 2, "silver": 3},
    "streetwear": {"cotton": 3, "denim": 3, "quilted": 3, "canvas": 3, "plastic": 3},
    "vintage": {"velvet": 3, "wool": 2, "suede": 2, "lace": 2, "gold": 3, "pearl": 2},
    "sweet": {"lace": 3, "satin": 2, "knit": 2, "pearl": 3, "fur": 1.5},
    "sporty": {"cotton": 4, "quilted": 3, "canvas": 4, "plastic": 4, "knit": 2, "lace": 0.2, "satin": 0.4},
    "elegant": {"satin": 4, "velvet": 2, "leather": 2, "gold": 3, "pearl": 3, "denim": 0.2, "canvas": 0.3},
    "rock": {"leather": 5, "denim": 3, "silver": 4, "fur": 1.5, "pearl": 0.3},
    "boho": {"linen": 4, "suede": 4, "straw": 4, "wood": 5, "lace": 2, "knit": 1.5},
}
STYLE_COLOUR: dict[str, Weights] = {
    "modern": {"black": 4, "white": 3, "grey": 3, "navy": 2, "beige": 2},
    "streetwear": {"black": 3, "orange": 2, "green": 1.5, "grey": 2, "red": 1.5},
    "vintage": {"burgundy": 3, "olive": 2.5, "brown": 2.5, "teal": 2, "beige": 2},
    "sweet": {"pink": 4, "light blue": 3, "white": 2.5, "yellow": 1.5, "black": 0.4},
    "sporty": {"blue": 3, "red": 2.5, "white": 2.5, "grey": 2, "black": 1.5},
    "elegant": {"black": 3, "navy": 2.5, "burgundy": 2.5, "beige": 2, "purple": 1.5},
    "rock": {"black": 5, "red": 2.5, "grey": 2, "burgundy": 1.5},
    "boho": {"brown": 3, "beige": 3, "olive": 2, "orange": 2, "teal": 1.5},
}
STYLE_OCCASION: dict[str, Weights] = {
    "modern": {"smart casual": 3, "formal": 2, "casual": 1, "outdoor": 0.3, "cocktail": 0.5},
    "streetwear": {"casual": 4, "outdoor": 2, "formal": 0.05, "cocktail": 0.1, "smart casual": 0.5},
    "vintage": {"smart casual": 2, "casual": 2, "cocktail": 1, "formal": 0.6, "outdoor": 0.3},
    "sweet": {"casual": 3, "cocktail": 1.5, "smart casual": 1, "formal": 0.2, "outdoor": 0.2},
    "sporty": {"outdoor": 4, "casual": 2.5, "smart casual": 0.3, "formal": 0.03, "cocktail": 0.03},
    "elegant": {"formal": 3, "cocktail": 3, "smart casual": 1, "casual": 0.2, "outdoor": 0.05},
    "rock": {"casual": 2.5, "cocktail": 1, "smart casual": 0.6, "outdoor": 0.6, "formal": 0.1},
    "boho": {"casual": 3, "outdoor": 1.5, "smart casual": 0.8, "cocktail": 0.3, "formal": 0.1},
}
MATERIAL_SEASON: dict[str, Weights] = {
    "knit": {"winter": 4, "autumn": 3, "spring": 1, "summer": 0.15},
    "wool": {"winter": 5, "autumn": 3, "spring": 0.5, "summer": 0.05},
    "fur": {"winter": 6, "autumn": 1.5, "spring": 0.1, "summer": 0.03},
    "quilted": {"winter": 4, "autumn": 2, "spring": 0.8, "summer": 0.1},
    "velvet": {"winter": 2.5, "autumn": 3, "spring": 0.5, "summer": 0.2},
    "leather": {"autumn": 3, "winter": 2, "spring": 1.5, "summer": 0.6},
    "suede": {"autumn": 4, "spring": 1.5, "winter": 1.2, "summer": 0.5},
    "linen": {"summer": 5, "spring": 2, "autumn": 0.4, "winter": 0.05},
    "straw": {"summer": 6, "spring": 1.5, "autumn": 0.2, "winter": 0.03},
    "lace": {"summer": 3, "spring": 3, "autumn": 0.7, "winter": 0.4},
    "cotton": {"spring": 3, "summer": 3, "autumn": 1.2, "winter": 0.5},
    "canvas": {"summer": 3, "spring": 3, "autumn": 1, "winter": 0.3},
    "satin": {"spring": 2, "summer": 2, "autumn": 1.2, "winter": 1},
    "denim": {"autumn": 2, "spring": 2, "summer": 1, "winter": 0.8},
}
CUT_SEASON: dict[str, Weights] = {
    "sleeveless": {"summer": 3, "spring": 1.5, "autumn": 0.5, "winter": 0.2},
    "short": {"summer": 2, "spring": 1.5, "autumn": 0.7, "winter": 0.4},
    "long": {"summer": 0.5, "spring": 1, "autumn": 1.6, "winter": 2},
    "turtleneck": {"summer": 0.1, "spring": 0.6, "autumn": 2, "winter": 4},
    "hood": {"summer": 0.3, "spring": 1, "autumn": 2, "winter": 2},
}


def draw_value(rng: np.random.Generator, category: str, attribute: str, chosen: Mapping[str, str | None]) -> str:
    """A legal value for the attribute, drawn by what is already chosen."""
    legal = VALUES_OF[category][attribute]
    tables: list[Weights] = []
    style = chosen.get("style") or ""
    if attribute == "pattern":
        tables = [STYLE_PATTERN.get(style, {})]
    elif attribute == "material":
        tables = [STYLE_MATERIAL.get(style, {})]
    elif attribute in ("colour", "second_colour"):
        tables = [STYLE_COLOUR.get(style, {})]
    elif attribute == "occasion":
        tables = [STYLE_OCCASION.get(style, {})]
    elif attribute == "season":
        tables = [MATERIAL_SEASON.get(chosen.get("material") or "", {})]
        tables += [CUT_SEASON.get(chosen.get(cut) or "", {}) for cut in ("sleeve", "neckline")]
    weights = np.ones(len(legal))
    for table in tables:
        weights *= [table.get(value, 1.0) for value in legal]
    return legal[int(rng.choice(len(legal), p=weights / weights.sum()))]
