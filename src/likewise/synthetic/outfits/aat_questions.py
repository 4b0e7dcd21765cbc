"""AAT questions of the drawn wardrobe: five choices, one item drawn again and again with exactly one attribute changed.

An attribute with fewer than five values (the season has four) brings a wrong value twice, on two drawings that differ
in nothing that any dimension looks at.

Every sub-dimension has a theme that the outfit is dressed in (all items of one colour, one style, one season, ...), the
attribute that is asked for, which values may be right and which wrong. The wardrobe's own compatibility decides: the
right choice must beat every other one in the question's dimension by a margin, and no other dimension can move, because
each looks at its own attributes only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.outfits.dimensions import AAT_PLAN, scale_plan
from likewise.outfits.generate import sample_outfits
from likewise.outfits.protocol import Item, OutfitQuestion
from likewise.outfits.rules import GROUPS
from likewise.synthetic import ATTRIBUTES, VALUES_OF, compatibility_many
from likewise.synthetic.harmony import NEUTRALS, WARM
from likewise.synthetic.items import folder_of

Attributes = dict[str, str | None]
Scores = NDArray[np.float64]
N_CHOICES = 5
FEWEST_VALUES = 3  # of the attribute that is asked for: the right one and two wrong ones
MARGIN = 0.06
N_BASES = 1500
MOST_ROUNDS, SKETCHES = 400, 4
LONGEST_OUTFIT = 5

GARMENTS = ("tops", "skirts", "pants", "outwear", "dresses", "jumpsuits")
JEWELLERY = ("earrings", "necklaces", "rings", "bracelets", "brooch")
BRIGHT = tuple(colour for colour in ATTRIBUTES["colour"] if colour not in NEUTRALS)
WARM_BRIGHT = tuple(colour for colour in BRIGHT if colour in WARM)
COOL_BRIGHT = tuple(colour for colour in BRIGHT if colour not in WARM)


@dataclass(frozen=True)
class Sketch:
    """An outfit dressed in a theme, and what is asked about it."""

    items: list[Attributes]
    blank: int
    attribute: str
    right: Sequence[str]
    wrong: Sequence[str]


Theme = Callable[[list[Attributes], str, np.random.Generator], Sketch | None]


def make_aat(
    items: pl.DataFrame, n_questions: int, seed: int, only: Sequence[str] = ()
) -> tuple[list[OutfitQuestion], dict[str, Attributes]]:
    """Questions by the plan of sub-dimensions, and the attributes of every item that was drawn for them.

    `only` some dimensions where they are named: a closer look at a weakness than the plan's few questions allow.
    """
    if unknown := [name for name in only if name not in AAT_PLAN]:
        raise LikewiseError(f"there is no dimension {unknown[0]!r}: use {', '.join(AAT_PLAN)}.")
    bases = _bases(items, seed)
    questions: list[OutfitQuestion] = []
    drawn: dict[str, Attributes] = {}
    plan = {name: quotas for name, quotas in AAT_PLAN.items() if name in only or not only}
    for dimension, quotas in scale_plan(n_questions, plan).items():
        for sub, quota in quotas.items():
            rng = np.random.default_rng([seed, len(dimension), *sub.encode()])
            for sketch, values, right in _settled(bases, dimension, sub, quota, rng):
                question, shown = _drawn(f"AAT-{len(questions) + 1:03d}", sketch, values, right, dimension, sub)
                questions.append(question)
                drawn |= shown
    return questions, drawn


def _settled(
    bases: list[list[Attributes]], dimension: str, sub: str, quota: int, rng: np.random.Generator
) -> list[tuple[Sketch, list[str], int]]:
    """Sketches with one right choice: the sketch, the values of its choices and the place of the right one."""
    found: list[tuple[Sketch, list[str], int]] = []
    for _ in range(MOST_ROUNDS):
        tried = [bases[place] for place in rng.integers(len(bases), size=SKETCHES * quota).tolist()]
        made = [THEMES[dimension]([dict(row) for row in base], sub, rng) for base in tried]
        sketches = [(sketch, _values(sketch)) for sketch in made if sketch is not None]
        sketches = [(sketch, values) for sketch, values in sketches if len(values) >= FEWEST_VALUES]
        scores = _dimension_scores(sketches, dimension)
        for (sketch, values), scored in zip(sketches, scores, strict=True):
            choices = _choices(sketch, values, scored, rng)
            if choices is not None and len(found) < quota:
                found.append((sketch, *choices))
        if len(found) == quota:
            return found
    raise LikewiseError(f"the wardrobe gave only {len(found)} of {quota} questions on {dimension}/{sub}: add items.")


def _bases(items: pl.DataFrame, seed: int) -> list[list[Attributes]]:
    """Outfits that go well together as they are: the better half of many."""
    made = sample_outfits(
        items, min(N_BASES, 4 * len(items)), seed=seed + 1, min_items=3, max_items=LONGEST_OUTFIT
    ).table
    row_of = {name: row for row, name in enumerate(items["item"])}
    groups = made.group_by("outfit", maintain_order=True).agg("item")["item"].to_list()
    rows = [[row_of[name] for name in group] for group in groups]
    overall = compatibility_many(items, rows)["overall"].to_numpy()
    better = np.flatnonzero(overall >= np.median(overall)).tolist()
    table = items.to_dicts()
    return [[table[row] for row in rows[place]] for place in better]


def _values(sketch: Sketch) -> list[str]:
    """The values that the blank's category can show; none where none of them may be right."""
    legal = VALUES_OF[str(sketch.items[sketch.blank]["category"])].get(sketch.attribute, ())
    values = [value for value in dict.fromkeys((*sketch.right, *sketch.wrong)) if value in legal]
    return values if set(values) & set(sketch.right) else []


def _choices(
    sketch: Sketch, values: Sequence[str], scores: Scores, rng: np.random.Generator
) -> tuple[list[str], int] | None:
    """The right value among four that lose by the margin, shuffled; None where too few values lose."""
    best = max((n for n, value in enumerate(values) if value in sketch.right), key=lambda n: (scores[n], -n))
    losing = [n for n, value in enumerate(values) if value in sketch.wrong and scores[n] <= scores[best] - MARGIN]
    if len(losing) < FEWEST_VALUES - 1:
        return None
    n_rounds = -(-(N_CHOICES - 1) // len(losing))
    picked = np.concatenate([rng.permutation(losing) for _ in range(n_rounds)])[: N_CHOICES - 1].tolist()
    order = rng.permutation(len(picked) + 1).tolist()
    return [values[[best, *picked][place]] for place in order], order.index(0)


def _dimension_scores(sketches: Sequence[tuple[Sketch, list[str]]], dimension: str) -> list[Scores]:
    """For every sketch the dimension's compatibility with each value in the blank."""
    rows: list[Attributes] = []
    outfits: list[list[int]] = []
    for sketch, values in sketches:
        rest = [row for place, row in enumerate(sketch.items) if place != sketch.blank]
        shared = list(range(len(rows), len(rows) + len(rest)))
        rows += rest
        for value in values:
            outfits.append([*shared, len(rows)])
            rows.append(sketch.items[sketch.blank] | {sketch.attribute: value})
    if not outfits:
        return []
    table = pl.DataFrame(rows, schema=dict.fromkeys(rows[0], pl.String))
    scores = compatibility_many(table, outfits)[dimension].to_numpy()
    return np.split(scores, np.cumsum([len(values) for _, values in sketches])[:-1])


def _drawn(
    name: str, sketch: Sketch, values: list[str], right: int, dimension: str, sub: str
) -> tuple[OutfitQuestion, dict[str, Attributes]]:
    """Give every item that is shown a name of its own; choices share one identity, so one thing differs.

    A value that comes again is drawn on another identity: equal pictures would be one choice.
    """
    drawn: dict[str, Attributes] = {}

    def show(row: Attributes, key: str, identity: str) -> Item:
        category = str(row["category"])
        drawn[key] = row | {"item": identity}
        return Item(key, category, f"{key}.jpg")

    rest = tuple(
        show(row, f"{name.lower()}-{folder_of(str(row['category']))}", str(row["item"]))
        for place, row in enumerate(sketch.items)
        if place != sketch.blank
    )
    asked = sketch.items[sketch.blank]
    choices = tuple(
        show(
            asked | {sketch.attribute: value},
            f"{name.lower()}-choice-{number}",
            f"{asked['item']}{'-again' * values[:number].count(value)}",
        )
        for number, value in enumerate(values)
    )
    question = OutfitQuestion(name, "AAT", rest, choices, sketch.blank, dimension, sub, right)
    return question, drawn


def _of(base: list[Attributes], categories: Sequence[str], rng: np.random.Generator) -> int | None:
    """The place of a random item of these categories."""
    places = [place for place, row in enumerate(base) if row["category"] in categories]
    return places[int(rng.integers(len(places)))] if places else None


def _choice(values: Sequence[str], rng: np.random.Generator) -> str:
    return values[int(rng.integers(len(values)))]


def _color(base: list[Attributes], sub: str, rng: np.random.Generator) -> Sketch | None:
    """All in one colour, one temperature, or one colour against its opposite."""
    tones = {"warm tone": (WARM_BRIGHT, COOL_BRIGHT), "cool tone": (COOL_BRIGHT, WARM_BRIGHT)}
    blank = int(rng.integers(len(base)))
    if sub in tones:
        same, other = tones[sub]
        for row in base:
            row["colour"] = _choice(same, rng)
        return Sketch(base, blank, "colour", same, other)
    colour = _choice(BRIGHT, rng)
    for row in base:
        row["colour"] = colour
    others = [value for value in BRIGHT if value != colour]
    if sub == "same color":
        return Sketch(base, blank, "colour", (colour,), others)
    warm = colour in WARM
    opposite = COOL_BRIGHT if warm else WARM_BRIGHT
    return Sketch(base, blank, "colour", opposite, others)


def _word(attribute: str) -> Theme:
    def theme(base: list[Attributes], sub: str, rng: np.random.Generator) -> Sketch | None:
        """Everybody wears the sub-dimension's word; the blank asks for it."""
        for row in base:
            if attribute in VALUES_OF[str(row["category"])]:
                row[attribute] = sub
        blank = _of(base, [c for c in VALUES_OF if sub in VALUES_OF[c].get(attribute, ())], rng)
        if blank is None:
            return None
        return Sketch(base, blank, attribute, (sub,), [value for value in ATTRIBUTES[attribute] if value != sub])

    return theme


def _material(base: list[Attributes], sub: str, rng: np.random.Generator) -> Sketch | None:
    """Element: the metal of jewellery; pattern: calm beside busy; texture: the cloth."""
    if sub == "pattern":
        blank = _of(base, GARMENTS, rng)
        if blank is None:
            return None
        for place, row in enumerate(base):
            if place != blank and row.get("pattern") is not None:
                row["pattern"] = _choice(("floral", "zigzag", "leopard", "checks"), rng)
        loud = [value for value in ATTRIBUTES["pattern"] if value != "solid"]
        return Sketch(base, blank, "pattern", ("solid",), loud)
    blank = _of(base, JEWELLERY if sub == "element" else GARMENTS, rng)
    if blank is None:
        return None
    values = VALUES_OF[str(base[blank]["category"])]["material"]
    return Sketch(base, blank, "material", values, values)


def _balance(base: list[Attributes], sub: str, rng: np.random.Generator) -> Sketch | None:
    """Silhouette and length of a garment; a statement piece where there is none yet, a calm one where there is."""
    categories = GROUPS["accessories"] if sub == "simple & complicated" else GARMENTS
    attribute = "length" if sub == "proportion" else "silhouette"
    blank = _of(base, [c for c in categories if attribute in VALUES_OF[c]], rng)
    if blank is None:
        return None
    values = VALUES_OF[str(base[blank]["category"])][attribute]
    return Sketch(base, blank, attribute, values, values)


THEMES: dict[str, Theme] = {
    "color": _color,
    "style": _word("style"),
    "occasion": _word("occasion"),
    "season": _word("season"),
    "material": _material,
    "balance": _balance,
}
