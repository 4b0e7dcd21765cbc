"""Random valid outfits: Algorithm 1 of A100, made to keep the rules it was written for, for many outfits at once.

Per outfit: draw a length; take shoes; draw a garment among all items (so a full category comes more often); then
complete the body and add optional categories, each at most once, until the length is reached.

- a top is completed by a lower half or a one-piece, a lower half by a top; a one-piece stands alone;
- outwear covers nothing, so a second garment is drawn for the body (the printed algorithm forgets this);
- what completes an outfit is added to it (the printed lines 16 and 18 put it in the place of the outfit), and
  the test of line 28 looks at the garment already drawn;
- lengths and first garments that the catalog's categories cannot complete are never drawn.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.outfits.rules import CATEGORIES, CATEGORY_INDEX, GROUPS, MAX_ITEMS, MIN_ITEMS, RULES, check_rules

Indices = NDArray[np.int64]
MAX_ROUNDS = 40

SHOES, TOP, OUTWEAR = CATEGORY_INDEX["shoes"], CATEGORY_INDEX["tops"], CATEGORY_INDEX["outwear"]
LOWER = [CATEGORY_INDEX[name] for name in GROUPS["bottom"]]
ONE_PIECE = [CATEGORY_INDEX[name] for name in GROUPS["one-piece"]]
EXTRAS = [OUTWEAR, *(CATEGORY_INDEX[name] for name in (*GROUPS["bags"], *GROUPS["accessories"]))]


@dataclass(frozen=True)
class ItemsByCategory:
    """The items of a catalog by category: items of category c are `order[start[c] : start[c] + size[c]]`."""

    order: Indices
    start: Indices
    size: Indices

    @property
    def present(self) -> NDArray[np.bool_]:
        return np.asarray(self.size > 0)


@dataclass(frozen=True)
class GeneratedOutfits:
    """`table` is the outfits, one row per item; `report` says what they are like."""

    table: pl.DataFrame
    report: "GenerationReport"


@dataclass(frozen=True)
class CategoryShare:
    """How many items a category has, and the share of outfits with one of them."""

    n_items: int
    share_of_outfits: float


@dataclass(frozen=True)
class GenerationReport:
    """Lengths and categories of the outfits; `left_out` counts the items whose category is none of the twenty."""

    n_outfits: int
    n_verified: int
    seed: int
    n_items: int
    n_items_used: int
    possible_lengths: list[int]
    lengths: dict[str, int]
    categories: dict[str, CategoryShare]
    left_out: dict[str, int] = field(default_factory=dict)


def sample_outfits(
    items: pl.DataFrame, n_outfits: int, *, seed: int = 0, min_items: int = MIN_ITEMS, max_items: int = MAX_ITEMS
) -> GeneratedOutfits:
    """`n_outfits` different valid outfits of `items` (`item, image, category`); every one is verified by the rules."""
    by_category = group_by_category(items)
    lengths = possible_lengths(by_category, min_items, max_items)
    found = _sample_unique(by_category, lengths, n_outfits, np.random.default_rng(seed))
    table = _table(items, found)
    return GeneratedOutfits(table, _report(table, by_category, lengths, seed))


def group_by_category(items: pl.DataFrame) -> ItemsByCategory:
    """Sort the items of a catalog by the twenty categories."""
    known = items["category"].replace_strict(CATEGORY_INDEX, default=-1, return_dtype=pl.Int64).to_numpy()
    if (known < 0).any():
        at = int(np.argmax(known < 0))
        raise LikewiseError(
            f"item {items['item'][at]} has the category {items['category'][at]!r}, none of the twenty: sort it first."
        )
    size = np.bincount(known, minlength=len(CATEGORIES)).astype(np.int64)
    return ItemsByCategory(np.argsort(known, kind="stable"), np.cumsum(size) - size, size)


def possible_lengths(by_category: ItemsByCategory, min_items: int = MIN_ITEMS, max_items: int = MAX_ITEMS) -> list[int]:
    """The lengths that some outfit of these categories can have; a clear error when there is none."""
    if not MIN_ITEMS <= min_items <= max_items <= MAX_ITEMS:
        raise LikewiseError(f"lengths {min_items} to {max_items} are not within {MIN_ITEMS} to {MAX_ITEMS}.")
    present = by_category.present
    if not present[SHOES]:
        raise LikewiseError("no valid outfit is possible: the catalog has no shoes.")
    if not (present[ONE_PIECE].any() or (present[TOP] and present[LOWER].any())):
        raise LikewiseError(
            "no valid outfit is possible: the catalog has neither a one-piece (dresses, jumpsuits) "
            "nor both tops and a lower half (skirts, pants)."
        )
    lengths = [
        length for length in range(min_items, max_items + 1) if _possible_first_garments(by_category, length).any()
    ]
    if not lengths:
        raise LikewiseError(
            f"no outfit of {min_items} to {max_items} items is possible with the catalog's categories "
            f"({', '.join(name for name, is_present in zip(CATEGORIES, present, strict=True) if is_present)})."
        )
    return lengths


def _possible_first_garments(by_category: ItemsByCategory, length: int) -> NDArray[np.bool_]:
    """Per category whether it can be the garment that the body of an outfit of this length starts from."""
    present, extras = by_category.present, int(by_category.present[EXTRAS].sum())
    can = np.zeros(len(CATEGORIES), dtype=bool)
    two_pieces = length >= 3 and extras >= length - 3
    can[TOP] = two_pieces and present[TOP] and bool(present[LOWER].any() or present[ONE_PIECE].any())
    can[LOWER] = present[LOWER] & (two_pieces and present[TOP])
    can[ONE_PIECE] = present[ONE_PIECE] & (extras + present[TOP] >= length - 2)
    return can


def _sample_unique(
    by_category: ItemsByCategory, lengths: list[int], n_outfits: int, rng: np.random.Generator
) -> Indices:
    """Rows of item numbers by category, -1 where an outfit has none; no two rows are equal."""
    found = np.zeros((0, len(CATEGORIES)), dtype=np.int64)
    for _ in range(MAX_ROUNDS):
        missing = n_outfits - len(found)
        if missing <= 0:
            break
        drawn = _draw(by_category, rng.choice(lengths, size=missing + missing // 16 + 16), rng)
        both = np.concatenate([found, drawn])
        _, first = np.unique(_hashes(both), return_index=True)
        found = both[np.sort(first)][:n_outfits]
    if len(found) < n_outfits:
        raise LikewiseError(
            f"only {len(found):,} different outfits were found among {int(by_category.size.sum())} items, "
            f"not {n_outfits:,}: ask for fewer, or bring more items."
        )
    return found


def _hashes(rows: Indices) -> NDArray[np.uint64]:
    """One number per row; two different rows share one so rarely that an outfit too few is all that happens."""
    factors = np.random.default_rng(20).integers(1, 2**63, size=rows.shape[1], dtype=np.uint64) | np.uint64(1)
    mixed = (rows + 2).astype(np.uint64) @ factors
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _draw(by_category: ItemsByCategory, lengths: Indices, rng: np.random.Generator) -> Indices:
    used = np.zeros((len(lengths), len(CATEGORIES)), dtype=bool)
    used[:, SHOES] = True
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        used[rows] |= _body(by_category, int(length), len(rows), rng)
    _add_extras(by_category, used, lengths, rng)
    picked = by_category.start + np.floor(rng.random(used.shape) * by_category.size).astype(np.int64)
    return np.where(used, by_category.order[np.minimum(picked, len(by_category.order) - 1)], -1)


def _body(by_category: ItemsByCategory, length: int, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """The garments that cover the body, and outwear where it was drawn first."""
    used = np.zeros((n, len(CATEGORIES)), dtype=bool)
    starts = by_category.size * _possible_first_garments(by_category, length)
    first = starts.copy()
    if length >= 4:
        first[OUTWEAR] = by_category.size[OUTWEAR]
    garment = _pick(first, n, rng)
    outer = garment == OUTWEAR
    used[outer, OUTWEAR] = True
    garment[outer] = _pick(starts, int(outer.sum()), rng)
    used[np.arange(n), garment] = True
    top, lower = garment == TOP, np.isin(garment, LOWER)
    used[lower, TOP] = True
    below = np.zeros_like(by_category.size)
    below[[*LOWER, *ONE_PIECE]] = by_category.size[[*LOWER, *ONE_PIECE]]
    rows = np.flatnonzero(top)
    used[rows, _pick(below, len(rows), rng)] = True
    return used


def _add_extras(
    by_category: ItemsByCategory, used: NDArray[np.bool_], lengths: Indices, rng: np.random.Generator
) -> None:
    """Fill up with optional categories, every one equally likely; a one-piece may also get a top."""
    allowed = np.zeros_like(used)
    allowed[:, EXTRAS] = True
    allowed[:, TOP] = used[:, ONE_PIECE].any(axis=1)
    allowed &= by_category.present & ~used
    order = np.argsort(np.where(allowed, rng.random(used.shape), 2.0), axis=1)
    wanted = lengths - used.sum(axis=1)
    add = np.zeros_like(used)
    np.put_along_axis(add, order, np.arange(used.shape[1]) < wanted[:, None], axis=1)
    used |= add


def _pick(weights: NDArray[Any], n: int, rng: np.random.Generator) -> Indices:
    if not n:
        return np.zeros(0, dtype=np.int64)
    return rng.choice(len(weights), size=n, p=weights / weights.sum())


def _table(items: pl.DataFrame, found: Indices) -> pl.DataFrame:
    outfit, category = np.nonzero(found >= 0)
    first = np.searchsorted(outfit, np.arange(len(found)))
    width = len(str(max(1, len(found) - 1)))
    chosen = items.select("item", "image", "category")[found[outfit, category]]
    names = pl.Series("outfit", outfit).cast(pl.String).str.zfill(width)
    return chosen.select(
        ("o" + names).alias("outfit"),
        "item",
        "image",
        "category",
        pl.Series("position", np.arange(len(outfit)) - first[outfit] + 1, dtype=pl.Int64),
    )


def check_outfits(table: pl.DataFrame) -> pl.DataFrame:
    """Every outfit of a table with the reasons against it: `outfit, n_items, reasons` (empty text for a valid one)."""
    known = table["category"].replace_strict(CATEGORY_INDEX, default=-1, return_dtype=pl.Int64)
    numbers = table["outfit"].rank("dense").cast(pl.Int64).to_numpy() - 1
    n_outfits = int(numbers.max()) + 1 if len(numbers) else 0
    cells = numbers * len(CATEGORIES) + known.to_numpy()
    places = known.to_numpy() >= 0
    counts = np.bincount(cells[places], minlength=n_outfits * len(CATEGORIES)).reshape(n_outfits, len(CATEGORIES))
    strange = np.bincount(numbers[~places], minlength=n_outfits)
    verdict = check_rules(counts)
    broken = {rule.reason: ~verdict[rule.name] for rule in RULES}
    broken["an item's category is none of the twenty"] = strange > 0
    reasons = np.full(n_outfits, "", dtype=object)
    for row in np.flatnonzero(np.logical_or.reduce(list(broken.values()))).tolist():
        reasons[row] = "; ".join(reason for reason, rows in broken.items() if rows[row])
    names = table["outfit"].unique().sort()
    size = counts.sum(axis=1) + strange
    return pl.DataFrame({"outfit": names, "n_items": size, "reasons": pl.Series(reasons.tolist(), dtype=pl.String)})


def _report(table: pl.DataFrame, by_category: ItemsByCategory, lengths: list[int], seed: int) -> GenerationReport:
    """Lengths and category balance of verified outfits; an outfit that breaks a rule would be a defect of this file."""
    verified = check_outfits(table)
    broken = verified.filter(pl.col("reasons") != "")
    if len(broken):
        raise AssertionError(f"{len(broken)} generated outfits break a rule, first {broken.row(0)}")
    by_length = verified.group_by("n_items").len().sort("n_items")
    outfits_by_category = dict(table.group_by("category").len().iter_rows())
    return GenerationReport(
        n_outfits=len(verified),
        n_verified=len(verified),
        seed=seed,
        n_items=int(by_category.size.sum()),
        n_items_used=table["item"].n_unique(),
        possible_lengths=lengths,
        lengths={str(length): n for length, n in by_length.iter_rows()},
        categories={
            name: CategoryShare(int(size), outfits_by_category.get(name, 0) / max(1, len(verified)))
            for name, size in zip(CATEGORIES, by_category.size, strict=True)
        },
    )
