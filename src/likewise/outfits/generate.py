"""Random valid outfits: Algorithm 1 of A100, made to keep the rules it was written for, for many outfits at once.

Per outfit: draw a length; take shoes; draw a garment among all items (so a full category comes more often); then
complete the body and add optional categories, each at most once, until the length is reached.

- a top is completed by a lower half or a one-piece, a lower half by a top; a one-piece stands alone;
- outwear covers nothing, so a second garment is drawn for the body (the printed algorithm forgets this);
- what completes an outfit is added to it (the printed lines 16 and 18 put it in the place of the outfit), and
  the test of line 28 looks at the garment already drawn;
- lengths and first garments that the catalog's categories cannot complete are never drawn.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.errors import LikewiseError
from likewise.outfits.rules import CATEGORIES, GROUPS, LONGEST, PLACE, RULES, SHORTEST, verdicts

Places = NDArray[np.int64]
MOST_ROUNDS = 40

SHOES, TOP, OUTWEAR = PLACE["shoes"], PLACE["tops"], PLACE["outwear"]
LOWER = [PLACE[name] for name in GROUPS["bottom"]]
ONE_PIECE = [PLACE[name] for name in GROUPS["one-piece"]]
EXTRAS = [OUTWEAR, *(PLACE[name] for name in (*GROUPS["bags"], *GROUPS["accessories"]))]


@dataclass(frozen=True)
class Shelves:
    """The items of a catalog by category: items of category c are `order[start[c] : start[c] + size[c]]`."""

    order: Places
    start: Places
    size: Places

    @property
    def there(self) -> NDArray[np.bool_]:
        return np.asarray(self.size > 0)


@dataclass(frozen=True)
class Generated:
    """`table` is the outfits, one row per item; `report` says what they are like."""

    table: pl.DataFrame
    report: dict[str, Any]


def generate(
    items: pl.DataFrame, n_outfits: int, *, seed: int = 0, shortest: int = SHORTEST, longest: int = LONGEST
) -> Generated:
    """`n_outfits` different valid outfits of `items` (`item, image, category`); every one is verified by the rules."""
    shelves = shelves_of(items)
    lengths = possible_lengths(shelves, shortest, longest)
    found = _different(shelves, lengths, n_outfits, np.random.default_rng(seed))
    table = _table(items, found)
    return Generated(table, _report(table, shelves, lengths, seed))


def shelves_of(items: pl.DataFrame) -> Shelves:
    """Sort the items of a catalog onto the twenty shelves."""
    known = items["category"].replace_strict(PLACE, default=-1, return_dtype=pl.Int64).to_numpy()
    if (known < 0).any():
        at = int(np.argmax(known < 0))
        raise LikewiseError(
            f"item {items['item'][at]} has the category {items['category'][at]!r}, none of the twenty: sort it first."
        )
    size = np.bincount(known, minlength=len(CATEGORIES)).astype(np.int64)
    return Shelves(np.argsort(known, kind="stable"), np.cumsum(size) - size, size)


def possible_lengths(shelves: Shelves, shortest: int = SHORTEST, longest: int = LONGEST) -> list[int]:
    """The lengths that some outfit of these categories can have; a clear error when there is none."""
    if not SHORTEST <= shortest <= longest <= LONGEST:
        raise LikewiseError(f"lengths {shortest} to {longest} are not within {SHORTEST} to {LONGEST}.")
    there = shelves.there
    if not there[SHOES]:
        raise LikewiseError("no valid outfit is possible: the catalog has no shoes.")
    if not (there[ONE_PIECE].any() or (there[TOP] and there[LOWER].any())):
        raise LikewiseError(
            "no valid outfit is possible: the catalog has neither a one-piece (dresses, jumpsuits) "
            "nor both tops and a lower half (skirts, pants)."
        )
    lengths = [length for length in range(shortest, longest + 1) if _starts(shelves, length).any()]
    if not lengths:
        raise LikewiseError(
            f"no outfit of {shortest} to {longest} items is possible with the catalog's categories "
            f"({', '.join(name for name, is_there in zip(CATEGORIES, there, strict=True) if is_there)})."
        )
    return lengths


def _starts(shelves: Shelves, length: int) -> NDArray[np.bool_]:
    """Per category whether it can be the garment that the body of an outfit of this length starts from."""
    there, extras = shelves.there, int(shelves.there[EXTRAS].sum())
    can = np.zeros(len(CATEGORIES), dtype=bool)
    two_pieces = length >= 3 and extras >= length - 3
    can[TOP] = two_pieces and there[TOP] and bool(there[LOWER].any() or there[ONE_PIECE].any())
    can[LOWER] = there[LOWER] & (two_pieces and there[TOP])
    can[ONE_PIECE] = there[ONE_PIECE] & (extras + there[TOP] >= length - 2)
    return can


def _different(shelves: Shelves, lengths: list[int], n_outfits: int, rng: np.random.Generator) -> Places:
    """Rows of item numbers by category, -1 where an outfit has none; no two rows are equal."""
    found = np.zeros((0, len(CATEGORIES)), dtype=np.int64)
    for _ in range(MOST_ROUNDS):
        missing = n_outfits - len(found)
        if missing <= 0:
            break
        drawn = _draw(shelves, rng.choice(lengths, size=missing + missing // 16 + 16), rng)
        both = np.concatenate([found, drawn])
        _, first = np.unique(_hashes(both), return_index=True)
        found = both[np.sort(first)][:n_outfits]
    if len(found) < n_outfits:
        raise LikewiseError(
            f"only {len(found):,} different outfits were found among {int(shelves.size.sum())} items, "
            f"not {n_outfits:,}: ask for fewer, or bring more items."
        )
    return found


def _hashes(rows: Places) -> NDArray[np.uint64]:
    """One number per row; two different rows share one so rarely that an outfit too few is all that happens."""
    factors = np.random.default_rng(20).integers(1, 2**63, size=rows.shape[1], dtype=np.uint64) | np.uint64(1)
    mixed = (rows + 2).astype(np.uint64) @ factors
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _draw(shelves: Shelves, lengths: Places, rng: np.random.Generator) -> Places:
    taken = np.zeros((len(lengths), len(CATEGORIES)), dtype=bool)
    taken[:, SHOES] = True
    for length in np.unique(lengths):
        rows = np.flatnonzero(lengths == length)
        taken[rows] |= _body(shelves, int(length), len(rows), rng)
    _add_extras(shelves, taken, lengths, rng)
    picked = shelves.start + np.floor(rng.random(taken.shape) * shelves.size).astype(np.int64)
    return np.where(taken, shelves.order[np.minimum(picked, len(shelves.order) - 1)], -1)


def _body(shelves: Shelves, length: int, n: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """The garments that cover the body, and outwear where it was drawn first."""
    taken = np.zeros((n, len(CATEGORIES)), dtype=bool)
    starts = shelves.size * _starts(shelves, length)
    first = starts.copy()
    if length >= 4:
        first[OUTWEAR] = shelves.size[OUTWEAR]
    garment = _pick(first, n, rng)
    outer = garment == OUTWEAR
    taken[outer, OUTWEAR] = True
    garment[outer] = _pick(starts, int(outer.sum()), rng)
    taken[np.arange(n), garment] = True
    top, lower = garment == TOP, np.isin(garment, LOWER)
    taken[lower, TOP] = True
    below = np.zeros_like(shelves.size)
    below[[*LOWER, *ONE_PIECE]] = shelves.size[[*LOWER, *ONE_PIECE]]
    rows = np.flatnonzero(top)
    taken[rows, _pick(below, len(rows), rng)] = True
    return taken


def _add_extras(shelves: Shelves, taken: NDArray[np.bool_], lengths: Places, rng: np.random.Generator) -> None:
    """Fill up with optional categories, every one equally likely; a one-piece may also get a top."""
    allowed = np.zeros_like(taken)
    allowed[:, EXTRAS] = True
    allowed[:, TOP] = taken[:, ONE_PIECE].any(axis=1)
    allowed &= shelves.there & ~taken
    order = np.argsort(np.where(allowed, rng.random(taken.shape), 2.0), axis=1)
    wanted = lengths - taken.sum(axis=1)
    add = np.zeros_like(taken)
    np.put_along_axis(add, order, np.arange(taken.shape[1]) < wanted[:, None], axis=1)
    taken |= add


def _pick(weights: NDArray[Any], n: int, rng: np.random.Generator) -> Places:
    if not n:
        return np.zeros(0, dtype=np.int64)
    return rng.choice(len(weights), size=n, p=weights / weights.sum())


def _table(items: pl.DataFrame, found: Places) -> pl.DataFrame:
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


def check(table: pl.DataFrame) -> pl.DataFrame:
    """Every outfit of a table with the reasons against it: `outfit, n_items, reasons` (empty text for a valid one)."""
    known = table["category"].replace_strict(PLACE, default=-1, return_dtype=pl.Int64)
    numbers = table["outfit"].rank("dense").cast(pl.Int64).to_numpy() - 1
    n_outfits = int(numbers.max()) + 1 if len(numbers) else 0
    cells = numbers * len(CATEGORIES) + known.to_numpy()
    places = known.to_numpy() >= 0
    counts = np.bincount(cells[places], minlength=n_outfits * len(CATEGORIES)).reshape(n_outfits, len(CATEGORIES))
    strange = np.bincount(numbers[~places], minlength=n_outfits)
    verdict = verdicts(counts)
    broken = {rule.reason: ~verdict[rule.name] for rule in RULES}
    broken["an item's category is none of the twenty"] = strange > 0
    reasons = np.full(n_outfits, "", dtype=object)
    for row in np.flatnonzero(np.logical_or.reduce(list(broken.values()))).tolist():
        reasons[row] = "; ".join(reason for reason, rows in broken.items() if rows[row])
    names = table["outfit"].unique().sort()
    size = counts.sum(axis=1) + strange
    return pl.DataFrame({"outfit": names, "n_items": size, "reasons": pl.Series(reasons.tolist(), dtype=pl.String)})


def _report(table: pl.DataFrame, shelves: Shelves, lengths: list[int], seed: int) -> dict[str, Any]:
    """Lengths and category balance of verified outfits; an outfit that breaks a rule would be a defect of this file."""
    verified = check(table)
    broken = verified.filter(pl.col("reasons") != "")
    if len(broken):
        raise AssertionError(f"{len(broken)} generated outfits break a rule, first {broken.row(0)}")
    by_length = verified.group_by("n_items").len().sort("n_items")
    by_category = dict(table.group_by("category").len().iter_rows())
    return {
        "n_outfits": len(verified),
        "n_verified": len(verified),
        "seed": seed,
        "n_items": int(shelves.size.sum()),
        "n_items_used": table["item"].n_unique(),
        "possible_lengths": lengths,
        "lengths": {str(length): n for length, n in by_length.iter_rows()},
        "categories": {
            name: {"n_items": int(size), "share_of_outfits": by_category.get(name, 0) / max(1, len(verified))}
            for name, size in zip(CATEGORIES, shelves.size, strict=True)
        },
    }
