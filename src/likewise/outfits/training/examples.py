"""What a model is trained on: outfits that people put together, and others to choose the epoch by."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from likewise.catalog.table import MADE_COLUMNS
from likewise.errors import LikewiseError
from likewise.lineage.guard import EvaluationSet
from likewise.lineage.record import Lesson
from likewise.outfits.models.batch import Indices, category_by_image
from likewise.outfits.protocol import Item, Outfit, OutfitQuestion
from likewise.outfits.screening import outfit_examples, shown_items

MIN_OUTFITS = 4
VALID_SHARE, MAX_VALID = 0.1, 5000  # of the outfits, and in all: more would only take longer
N_CHOICES = 5
MAX_LISTED = 3
MAX_TEXTS = 256  # different texts of a column that still says what sort of thing an item is


@dataclass(frozen=True)
class OutfitExamples:
    """Outfits to learn from and to choose the epoch by; `users` are names, one per training outfit, or none."""

    train: tuple[Outfit, ...]
    valid: tuple[Outfit, ...]
    users: tuple[str, ...] = ()
    captions: dict[str, str] = field(default_factory=dict)
    """By image."""
    digests: dict[str, str] = field(default_factory=dict)
    """Of picture files, by image, for the whole catalog."""
    item_by_image: dict[str, str] = field(default_factory=dict)
    """The item that each image of the catalog shows."""
    extra_items: tuple[Item, ...] = ()
    """Further items that training may use as negatives."""
    n_left_out: int = 0
    """Outfits left out because some category has no other item to compare with."""
    catalog: str = ""
    """The name of the catalog, and the half of it that was used."""
    half: str = ""

    def without_test_items(self, test: EvaluationSet, *, drop: bool) -> "OutfitExamples":
        """Free of a test's items: an error where there are any, or with `drop` the outfits that hold them left out."""
        own = {item for outfit in (*self.train, *self.valid) for item in outfit.items} | set(self.extra_items)
        found = shown_items(own, self.digests, test)
        if not drop:
            _refuse_test_items([*self.train, *self.valid], found)
            return replace(self, extra_items=tuple(item for item in self.extra_items if item not in found))
        kept = [place for place, outfit in enumerate(self.train) if not found.intersection(outfit.items)]
        return replace(
            self,
            train=tuple(self.train[place] for place in kept),
            valid=tuple(outfit for outfit in self.valid if not found.intersection(outfit.items)),
            users=tuple(self.users[place] for place in kept) if self.users else (),
            extra_items=tuple(item for item in self.extra_items if item not in found),
        )

    def with_catalog(self, catalog: pl.DataFrame) -> "OutfitExamples":
        """With what the catalog knows about the items: texts, contents of pictures, which image shows what."""
        return replace(
            self,
            captions=describe_items(catalog),
            digests=column_by_image(catalog, "digest"),
            item_by_image=column_by_image(catalog, "item"),
        )

    def categories_by_image(self) -> dict[str, str]:
        """image -> category of everything that training may use."""
        return category_by_image(self.train) | {item.image: item.category for item in self.extra_items}

    def lesson(self) -> Lesson:
        """All that training shows, the other images of those items, and the looks it calls good."""
        outfits = (*self.train, *self.valid)
        shown = {item.image: item for outfit in outfits for item in outfit.items}
        shown |= {item.image: item for item in self.extra_items}
        items = {item.item for item in shown.values()}
        others = [Item(item, "", image) for image, item in self.item_by_image.items() if item in items]
        examples = outfit_examples([*others, *shown.values()], self.digests, [outfit.items for outfit in outfits])
        return Lesson("outfits", "outfits train", self.catalog, examples, half=self.half)


def _refuse_test_items(outfits: Sequence[Outfit], shown: set[Item]) -> None:
    """The error where training outfits hold items of the test."""
    found = sorted({item.item for outfit in outfits for item in outfit.items if item in shown})
    if found:
        touched = sum(bool(shown.intersection(outfit.items)) for outfit in outfits)
        raise LikewiseError(
            f"{len(found)} items of the test are in {touched} of {len(outfits)} training outfits "
            f"(first: {', '.join(found[:MAX_LISTED])}): a model would be tested on what it learned. "
            "Train on other outfits, or leave these out with --leave-out."
        )


def split_outfits(outfits: Sequence[Outfit], seed: int, share: float = VALID_SHARE) -> tuple[list[int], list[int]]:
    """Places of training and validation outfits: validation holds items that training never shows.

    From outfits in a random order the item that is worn least is held out, with all outfits that wear it, until the
    share is reached. Outfits drawn without regard to items would hold hardly an item that training has not seen, and
    the epoch that knows the items by heart would look best.
    """
    if len(outfits) < MIN_OUTFITS:
        raise LikewiseError(f"there are {len(outfits)} outfits to train on; at least {MIN_OUTFITS} are needed.")
    worn = Counter(item for outfit in outfits for item in outfit.items)
    places: dict[Item, list[int]] = {}
    for place, outfit in enumerate(outfits):
        for item in outfit.items:
            places.setdefault(item, []).append(place)
    n_valid = min(MAX_VALID, max(1, round(share * len(outfits))))
    valid: set[int] = set()
    order = np.random.default_rng([seed, 17]).permutation(len(outfits)).tolist()
    for place in order:
        if len(valid) >= n_valid:
            break
        rarest = min(outfits[place].items, key=lambda item: (worn[item], item.image))
        new = [number for number in places[rarest] if number not in valid]
        if len(valid) + len(new) <= max(2 * n_valid, 1):
            valid.update(new)
    valid = valid or set(order[:n_valid])  # every item is in many outfits: then by chance
    return sorted(set(range(len(outfits))) - valid), sorted(valid)


def examples_from_tables(
    outfits: pl.DataFrame, catalog: pl.DataFrame | None = None, *, seed: int = 0, allowed_images: set[str] | None = None
) -> OutfitExamples:
    """Examples from a table `outfit, item, image, category, position` and, where it has them, `split` and `user`.

    With a split, `train` is learned from and `valid` chooses the epoch (`test` is left alone); without one a tenth is
    set aside. `allowed_images` keeps only outfits all of whose images are in it.
    """
    from likewise.outfits.tables import outfits_from_table

    found = outfits_from_table(outfits)
    if allowed_images is not None:
        found = [outfit for outfit in found if all(item.image in allowed_images for item in outfit.items)]
    found = [outfit for outfit in found if len(outfit) > 1]
    about = {name: _first(outfits, name) for name in ("split", "user") if name in outfits.columns}
    if "split" in about and {"train", "valid"} <= set(about["split"].values()):
        train = [place for place, outfit in enumerate(found) if about["split"].get(outfit.name) == "train"]
        valid = [place for place, outfit in enumerate(found) if about["split"].get(outfit.name) == "valid"]
    else:
        train, valid = split_outfits(found, seed)
    if min(len(train), len(valid)) < 1:
        raise LikewiseError("no outfits are left to train on, or none to choose the epoch by: check images and splits.")
    n_given = len(train)
    train = drop_incomparable(found, train)
    if not train:
        raise LikewiseError("no category has two items in training, so nothing can be compared: bring more outfits.")
    users = about.get("user", {})
    return OutfitExamples(
        tuple(found[place] for place in train),
        tuple(found[place] for place in valid),
        tuple(users.get(found[place].name, "") for place in train) if users else (),
        n_left_out=n_given - len(train),
    ).with_catalog(pl.DataFrame() if catalog is None else catalog)


def drop_incomparable(outfits: Sequence[Outfit], places: Sequence[int]) -> list[int]:
    """Those of the outfits all of whose categories have an item, in some other outfit, that they do not wear."""
    kept = list(places)
    while True:
        worn = category_by_image([outfits[place] for place in kept])
        size = Counter(worn.values())
        fewer = [
            place
            for place in kept
            if all(size[name] > n for name, n in Counter(i.category for i in outfits[place].items).items())
        ]
        if len(fewer) == len(kept):
            return kept
        kept = fewer


def _first(table: pl.DataFrame, column: str) -> dict[str, str]:
    rows = table.group_by("outfit", maintain_order=True).agg(pl.col(column).first().cast(pl.String))
    return {name: value or "" for name, value in rows.iter_rows()}


def describe_items(catalog: pl.DataFrame) -> dict[str, str]:
    """What is said of every image: its caption, else its title, else the words of all columns of few texts."""
    for column in ("caption", "title"):
        if found := column_by_image(catalog, column):
            return found
    left_out = {*MADE_COLUMNS, "image", "item", "split", "half"}
    columns = [
        name
        for name, kind in catalog.schema.items()
        if kind == pl.String and name not in left_out and 1 < catalog[name].n_unique() <= MAX_TEXTS
    ]
    if not set(columns) - {"category", "fine_category"}:
        return {}
    texts = catalog.select("image", pl.concat_str(columns, separator=" ", ignore_nulls=True).alias("text"))
    return {image: str(text) for image, text in texts.iter_rows()}


def column_by_image(catalog: pl.DataFrame, column: str) -> dict[str, str]:
    """A column of the catalog by image, where it is there."""
    if column not in catalog.columns:
        return {}
    known = catalog.select("image", column).drop_nulls()
    return {image: str(value) for image, value in known.iter_rows()}


def make_fitb_questions(
    outfits: Sequence[Outfit],
    pool: Sequence[Item],
    seed: int,
    n_choices: int = N_CHOICES,
    *,
    shown: Collection[Item] = (),
) -> list[OutfitQuestion]:
    """One question per outfit: a blank at random, and distractors of its category that the outfit does not wear.

    Where an outfit has items that are not among `shown`, the blank is one of them, and so are its distractors where
    there are any. Outfits for whose blank there is no distractor are left out.
    """
    rng = np.random.default_rng([seed, 23])
    known = set(shown)
    of_category: dict[str, list[Item]] = {}
    for item in sorted(set(pool), key=lambda item: item.image):
        of_category.setdefault(item.category, []).append(item)
    questions = []
    for outfit in outfits:
        new = [place for place, item in enumerate(outfit.items) if item not in known] or list(range(len(outfit)))
        blank = new[int(rng.integers(len(new)))]
        asked = outfit.items[blank]
        others = [item for item in of_category.get(asked.category, []) if item not in outfit.items]
        if asked not in known:
            others = [item for item in others if item not in known] or others
        order = rng.permutation(len(others))[: n_choices - 1]
        if not len(order):
            continue
        choices = [asked, *(others[place] for place in order)]
        mixed = rng.permutation(len(choices))
        rest = outfit.items[:blank] + outfit.items[blank + 1 :]
        right = int(np.flatnonzero(mixed == 0)[0])
        chosen = tuple(choices[place] for place in mixed)
        questions.append(OutfitQuestion(outfit.name, "FITB", rest, chosen, blank, right=right))
    return questions


def count_type_pairs(types: Indices, mask: np.ndarray[tuple[int, int], np.dtype[np.bool_]], n_types: int) -> Indices:
    """How many outfits hold an item of both types, (n_types, n_types)."""
    worn = np.zeros((len(types), n_types), dtype=np.int64)
    lines, places = np.nonzero(mask)
    worn[lines, types[lines, places]] = 1
    return np.asarray(worn.T @ worn)
