"""The items of a wardrobe, in lines: a designer's series fixes most attributes, its items vary one to three of them.

So every item has a natural neighbourhood (its line's other items), a gradual fall-off beyond it (cousin lines: the
same designer's next season), and chance relatives in other lines of its category.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl

from likewise.errors import LikewiseError
from likewise.synthetic.captions import caption
from likewise.synthetic.colour import colour_distance
from likewise.synthetic.preferences import draw_value
from likewise.synthetic.vocabulary import ATTRIBUTE_NAMES, ATTRIBUTES_OF, CATEGORIES, COLOURS

ITEMS_PER_LINE = 10
COUSIN_LINES = 0.6
NEAR_COLOUR = 0.65
Attributes = dict[str, str | None]

_VARIED = {
    "colour": 3.0,
    "second_colour": 2.0,
    "pattern": 1.2,
    "material": 0.9,
    "silhouette": 0.5,
    "length": 0.9,
    "sleeve": 0.9,
    "neckline": 0.9,
    "style": 0.35,
    "season": 0.6,
    "occasion": 0.6,
}
_HOW_MANY = np.array([0.58, 0.29, 0.10, 0.02, 0.01])
_ORDER = (
    "style",
    "material",
    "silhouette",
    "pattern",
    "colour",
    "second_colour",
    "length",
    "sleeve",
    "neckline",
    "season",
    "occasion",
)


def folder_of(category: str) -> str:
    """The category as a file name."""
    return category.replace(" ", "-")


def make_items(n_items: int = 600, seed: int = 0) -> pl.DataFrame:
    """One row per item: ``item``, ``category``, ``line``, the attributes (null where not applicable), ``caption``."""
    if n_items < len(CATEGORIES):
        raise LikewiseError(f"n_items is {n_items}; a wardrobe needs at least {len(CATEGORIES)}, one per category")
    rows: list[Attributes] = []
    for index, category in enumerate(CATEGORIES):
        count = n_items // len(CATEGORIES) + (index < n_items % len(CATEGORIES))
        rows += _make_category(category, count, np.random.default_rng([seed, index]))
    columns = ["item", "category", "line", *ATTRIBUTE_NAMES, "caption"]
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String))


def _make_category(category: str, count: int, rng: np.random.Generator) -> list[Attributes]:
    n_lines = max(1, round(count / ITEMS_PER_LINE))
    share = rng.dirichlet(np.full(n_lines, 30.0))
    sizes = np.maximum(1, np.floor(share * count).astype(int))
    while sizes.sum() < count:
        sizes[int(rng.integers(n_lines))] += 1
    while sizes.sum() > count:
        sizes[int(np.argmax(sizes))] -= 1
    rows: list[Attributes] = []
    seen: set[tuple[str | None, ...]] = set()
    lines: list[Attributes] = []
    for number, size in enumerate(sizes.tolist()):
        cousin = bool(lines) and rng.random() < COUSIN_LINES
        line = _cousin(category, lines[int(rng.integers(len(lines)))], rng) if cousin else _make_line(category, rng)
        lines.append(line)
        for position in range(size):
            values = line if position == 0 else _vary(category, line, rng)
            for _ in range(50):
                if tuple(values.values()) not in seen:
                    break
                values = _vary(category, values, rng)
            seen.add(tuple(values.values()))
            item = f"{folder_of(category)}-{len(rows):04d}"
            row: Attributes = {"item": item, "category": category, "line": f"{folder_of(category)}-line-{number:03d}"}
            row |= {name: values.get(name) for name in ATTRIBUTE_NAMES}
            row["caption"] = caption(row)
            rows.append(row)
    return rows


def _make_line(category: str, rng: np.random.Generator) -> Attributes:
    chosen: Attributes = {}
    for name in _ORDER:
        if name in ATTRIBUTES_OF[category]:
            chosen[name] = draw_value(rng, category, name, chosen)
    if chosen["second_colour"] == chosen["colour"]:
        chosen["second_colour"] = draw_value(rng, category, "second_colour", {})
    return {name: chosen[name] for name in ATTRIBUTES_OF[category]}


def _cousin(category: str, line: Attributes, rng: np.random.Generator) -> Attributes:
    """The next season's line of the same designer: the older one with a few more attributes changed."""
    return _vary(category, _vary(category, _vary(category, line, rng), rng), rng)


def _vary(category: str, line: Mapping[str, str | None], rng: np.random.Generator) -> Attributes:
    """The line's attributes with one to five of them drawn again; a new material or cut may move
    the season, a new style the occasion."""
    values = dict(line)
    names = ATTRIBUTES_OF[category]
    weights = np.array([_VARIED[name] for name in names])
    how_many = 1 + int(rng.choice(len(_HOW_MANY), p=_HOW_MANY))
    picked = rng.choice(len(names), size=min(how_many, len(names)), replace=False, p=weights / weights.sum())
    changed = [names[i] for i in sorted(picked.tolist())]
    for name, causes in (("season", {"material", "sleeve"}), ("occasion", {"style"})):
        if name in names and name not in changed and causes & set(changed) and rng.random() < 0.6:
            changed.append(name)
    for name in changed:
        for _ in range(20):
            if name in ("colour", "second_colour") and rng.random() < NEAR_COLOUR:
                value = _near(rng, line[name] or "")
            else:
                value = draw_value(rng, category, name, values)
            if value != line[name]:
                values[name] = value
                break
    return values


def _near(rng: np.random.Generator, colour: str) -> str:
    """One of the four colours nearest in Lab."""
    order = np.argsort(colour_distance()[COLOURS.index(colour)])
    return COLOURS[int(order[1 + int(rng.integers(4))])]
