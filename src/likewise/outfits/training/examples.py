"""What a model is trained on: outfits that people put together, and others to choose the epoch by."""

import sys
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np
import polars as pl

from likewise.catalog.table import MADE_COLUMNS
from likewise.errors import LikewiseError
from likewise.lineage.guard import EvaluationSet
from likewise.lineage.record import Lesson
from likewise.outfits.models.batch import Indices, StoredOutfits, category_by_image
from likewise.outfits.outfit_list import OutfitList, Places, worn_items
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

    train: Sequence[Outfit]
    valid: Sequence[Outfit]
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
        """Free of a test's items: an error where there are any, or with `drop` the outfits that hold them left out.

        So are those that thereby have a category without another item to compare with.
        """
        train, valid = OutfitList.from_outfits(self.train), OutfitList.from_outfits(self.valid)
        found = shown_items({*train.worn(), *valid.worn(), *self.extra_items}, self.digests, test)
        extra_items = tuple(item for item in self.extra_items if item not in found)
        if not drop:
            _refuse_test_items((train, valid), found)
            return replace(self, extra_items=extra_items)
        free = np.flatnonzero(~train.holding(found))
        kept = free if extra_items or not len(free) else drop_incomparable(train, free)
        return replace(
            self,
            train=train.select(kept),
            valid=valid.select(np.flatnonzero(~valid.holding(found))),
            users=tuple(self.users[place] for place in kept.tolist()) if self.users else (),
            extra_items=extra_items,
            n_left_out=self.n_left_out + len(free) - len(kept),
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
        shown = {item.image: item for item in (*worn_items(self.train, self.valid), *self.extra_items)}
        items = {item.item for item in shown.values()}
        others = [Item(item, "", image) for image, item in self.item_by_image.items() if item in items]
        looks = (outfit.items for outfit in chain(self.train, self.valid))
        examples = outfit_examples([*others, *shown.values()], self.digests, looks)
        return Lesson("outfits", "outfits train", self.catalog, examples, half=self.half)


def _refuse_test_items(lists: Sequence[OutfitList], shown: set[Item]) -> None:
    """The error where training outfits hold items of the test."""
    found = sorted({item.item for item in worn_items(*lists) if item in shown})
    if found:
        touched = sum(int(outfits.holding(shown).sum()) for outfits in lists)
        raise LikewiseError(
            f"{len(found)} items of the test are in {touched} of {sum(map(len, lists))} training outfits "
            f"(first: {', '.join(found[:MAX_LISTED])}): a model would be tested on what it learned. "
            "Train on other outfits, or leave these out with --leave-out."
        )


def split_outfits(outfits: Sequence[Outfit], seed: int, share: float = VALID_SHARE) -> tuple[Indices, Indices]:
    """Places of training and validation outfits: validation holds items that training never shows.

    From outfits in a random order the item that is worn least is held out, with all outfits that wear it, until the
    share is reached. Outfits drawn without regard to items would hold hardly an item that training has not seen, and
    the epoch that knows the items by heart would look best.
    """
    if len(outfits) < MIN_OUTFITS:
        raise LikewiseError(f"there are {len(outfits)} outfits to train on; at least {MIN_OUTFITS} are needed.")
    listed = OutfitList.from_outfits(outfits)
    worn = np.bincount(listed.numbers, minlength=len(listed.items))
    by_item = np.repeat(np.arange(len(listed)), listed.lengths)[np.argsort(listed.numbers, kind="stable")]
    ends = np.cumsum(worn)
    n_valid = min(MAX_VALID, max(1, round(share * len(listed))))
    valid: set[int] = set()
    order = np.random.default_rng([seed, 17]).permutation(len(listed))
    for place in order.tolist():
        if len(valid) >= n_valid:
            break
        numbers = listed.numbers[listed.starts[place] : listed.starts[place + 1]].tolist()
        rarest = min(numbers, key=lambda number: (worn[number], listed.items[number].image))
        new = set(by_item[ends[rarest] - worn[rarest] : ends[rarest]].tolist()) - valid
        if len(valid) + len(new) <= max(2 * n_valid, 1):
            valid |= new
    valid = valid or set(order[:n_valid].tolist())  # every item is in many outfits: then by chance
    held_out = np.zeros(len(listed), dtype=np.bool_)
    held_out[list(valid)] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


def examples_from_tables(
    outfits: pl.DataFrame, catalog: pl.DataFrame | None = None, *, seed: int = 0, allowed_images: set[str] | None = None
) -> OutfitExamples:
    """Examples from a table `outfit, item, image, category, position` and, where it has them, `split` and `user`.

    With a split, `train` is learned from and `valid` chooses the epoch (`test` is left alone); without one a tenth is
    set aside. `allowed_images` keeps only outfits all of whose images are in it.
    """
    from likewise.outfits.tables import outfits_from_table

    found = outfits_from_table(outfits)
    usable = found.lengths > 1
    if allowed_images is not None:
        usable &= ~found.any_worn(np.array([item.image not in allowed_images for item in found.items], dtype=np.bool_))
    found = found.select(np.flatnonzero(usable))
    splits = _first(outfits, "split", found) if "split" in outfits.columns else None
    if splits is not None and {"train", "valid"} <= set(splits.unique()):
        train, valid = ((splits == part).arg_true().to_numpy().astype(np.int64) for part in ("train", "valid"))
    else:
        train, valid = split_outfits(found, seed)
    if min(len(train), len(valid)) < 1:
        raise LikewiseError("no outfits are left to train on, or none to choose the epoch by: check images and splits.")
    n_given = len(train)
    train = drop_incomparable(found, train)
    if not len(train):
        raise LikewiseError("no category has two items in training, so nothing can be compared: bring more outfits.")
    users = _first(outfits, "user", found) if "user" in outfits.columns else None
    return OutfitExamples(
        found.select(train),
        found.select(valid),
        () if users is None else tuple(map(sys.intern, users.gather(train))),
        n_left_out=n_given - len(train),
    ).with_catalog(pl.DataFrame() if catalog is None else catalog)


def drop_incomparable(outfits: Sequence[Outfit], places: Places) -> Indices:
    """Those of the outfits all of whose categories have an item, in some other outfit, that they do not wear."""
    listed, kept = OutfitList.from_outfits(outfits), np.asarray(places, dtype=np.int64)
    types = np.unique([item.category for item in listed.items], return_inverse=True)[1]
    while True:
        some = listed.select(kept)
        size = np.bincount(types[np.unique(some.numbers)], minlength=types.max(initial=0) + 1)
        lines = np.repeat(np.arange(len(some)), some.lengths)
        worn, times = np.unique(lines * len(size) + types[some.numbers], return_counts=True)
        lacking = np.zeros(len(some), dtype=np.bool_)
        lacking[worn[size[worn % len(size)] <= times] // len(size)] = True
        if not lacking.any():
            return kept
        kept = kept[~lacking]


def _first(table: pl.DataFrame, column: str, outfits: OutfitList) -> pl.Series:
    """Of every outfit, what its first row says in a column."""
    rows = table.group_by("outfit", maintain_order=True).agg(pl.col(column).first().cast(pl.String))
    named = pl.DataFrame({"outfit": outfits.names})
    found = named.join(rows.cast(pl.String), on="outfit", how="left", maintain_order="left")
    return found[column].fill_null("")


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
    by_image = sorted(set(pool), key=lambda item: item.image)
    every, unseen = _Shelves(by_image), _Shelves([item for item in by_image if item not in known])
    questions = []
    for outfit in outfits:
        new = [place for place, item in enumerate(outfit.items) if item not in known] or list(range(len(outfit)))
        blank = new[int(rng.integers(len(new)))]
        asked = outfit.items[blank]
        others = [] if asked in known else unseen.draw(asked.category, outfit.items, n_choices - 1, rng)
        others = others or every.draw(asked.category, outfit.items, n_choices - 1, rng)
        if not others:
            continue
        choices = [asked, *others]
        mixed = rng.permutation(len(choices))
        rest = outfit.items[:blank] + outfit.items[blank + 1 :]
        right = int(np.flatnonzero(mixed == 0)[0])
        chosen = tuple(choices[place] for place in mixed)
        questions.append(OutfitQuestion(outfit.name, "FITB", rest, chosen, blank, right=right))
    return questions


class _Shelves:
    """Items by category, to draw from."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.of_category: dict[str, list[Item]] = {}
        self.place: dict[Item, int] = {}
        for item in items:
            shelf = self.of_category.setdefault(item.category, [])
            self.place[item] = len(shelf)
            shelf.append(item)

    def draw(self, category: str, worn: Sequence[Item], n: int, rng: np.random.Generator) -> list[Item]:
        """At most n of a category that are not worn; nothing is drawn where there are none."""
        shelf = self.of_category.get(category, [])
        left_out = sorted({self.place[item] for item in worn if item.category == category and item in self.place})
        n_others = len(shelf) - len(left_out)
        if n_others < 1:
            return []
        drawn = []
        for place in rng.permutation(n_others)[:n].tolist():
            for gap in left_out:
                place += gap <= place
            drawn.append(shelf[place])
        return drawn


def count_type_pairs(outfits: StoredOutfits, n_types: int) -> Indices:
    """How many outfits hold an item of both types, (n_types, n_types)."""
    counts = np.zeros((n_types, n_types), dtype=np.int64)
    for block in outfits.blocks():
        worn = np.zeros((len(block), n_types), dtype=np.int64)
        lines, places = np.nonzero(block.mask)
        worn[lines, block.types[lines, places]] = 1
        counts += worn.T @ worn
    return counts
