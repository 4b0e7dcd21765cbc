"""Triplets of surviving relations: same subject, other object, other image; the condition is `relation object`.

Subjects are drawn in proportion to the images they occur in.  Drawing goes in rounds of whole arrays; the number of
rounds is bounded, so a demand that the relations cannot meet ends with fewer triplets, and says what was in the way.
"""

from collections import Counter

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.mining.filters import FilterStage, MiningThresholds, RelationTable
from likewise.conditional.mining.sampling import GroupSampler, Ints
from likewise.progress import ProgressCallback

MAX_ROUNDS = 64
DRAWS_PER_ROUND = 1 << 20
DISTRACTOR_TRIES = 4


def draw_triplets(
    relations: RelationTable,
    rules: MiningThresholds,
    n_triplets: int,
    *,
    seed: int = 0,
    on_progress: ProgressCallback | None = None,
) -> tuple[pl.DataFrame, list[FilterStage]]:
    """At most `n_triplets` different triplets as positions in `relations`, and the funnel of the drawing.

    Columns: `reference`, `target`, and the distractors `same_subject` and `same_object` (null where there is none).
    """
    rng = np.random.default_rng(seed)
    sampler = GroupSampler.from_sorted(relations.subject, relations.object)
    possible = _with_partner(relations, rules)
    share = _cumulative_share(relations, possible)
    rejected: Counter[str] = Counter()
    kept = np.empty((0, 2), np.int64)
    drawn = 0
    for _ in range(MAX_ROUNDS if len(possible) else 0):
        missing = n_triplets - len(kept)
        if missing <= 0:
            break
        size = min(max(2 * missing, 4096), DRAWS_PER_ROUND)
        new = _round(relations, rules, sampler, possible, share, size, rng, rejected)
        drawn += size
        together = _without_repeats(relations, np.concatenate([kept, new]))
        rejected["repeated"] += len(kept) + len(new) - len(together)
        nothing_new = len(together) - len(kept) < size // 1000
        kept = together
        if on_progress:
            on_progress("triplets", min(len(kept), n_triplets), n_triplets)
        if nothing_new:
            break
    surplus = max(0, len(kept) - n_triplets)
    kept = kept[:n_triplets]
    funnel = [
        FilterStage(
            "relations with a partner", "some target makes the triplet concrete enough", len(possible), "relations"
        ),
        FilterStage("triplets drawn", "subjects in proportion to their images", drawn, "triplets"),
        FilterStage(
            "of two images",
            "a reference that meets the condition itself asks nothing",
            drawn - rejected["same image"],
            "triplets",
        ),
    ]
    left = drawn - rejected["same image"] - rejected["abstract"]
    funnel.append(FilterStage("concrete", f"four words average at least {rules.concreteness:g}", left, "triplets"))
    funnel.append(
        FilterStage("different", "each reference, target and condition once", left - rejected["repeated"], "triplets")
    )
    funnel.append(
        FilterStage("kept", f"{n_triplets:,} were asked for, {surplus:,} were too many", len(kept), "triplets")
    )
    table = pl.DataFrame({"reference": kept[:, 0], "target": kept[:, 1]})
    return table.with_columns(*_distractors(relations, sampler, kept, rng)), funnel


def _with_partner(relations: RelationTable, rules: MiningThresholds) -> Ints:
    """Relations for which some other object of their subject is concrete enough for a triplet."""
    sampler = GroupSampler.from_sorted(relations.subject, relations.object)
    needed = 4 * rules.concreteness - 2 * relations.subject_concreteness - relations.object_concreteness
    best_here = np.maximum.reduceat(relations.object_concreteness, np.unique(sampler.block_start))
    first_of_block = np.unique(sampler.block_start)
    groups = sampler.group_start[first_of_block]
    order = np.lexsort((best_here, groups))
    starts = np.flatnonzero(np.r_[True, groups[order][1:] != groups[order][:-1]])
    stops = np.r_[starts[1:], len(order)]
    best = best_here[order][stops - 1]
    second = np.where(stops - starts > 1, best_here[order][np.maximum(stops - 2, 0)], -np.inf)
    of_group = np.searchsorted(groups[order][starts], sampler.group_start)
    of_block = np.searchsorted(first_of_block, sampler.block_start)
    mine_is_best = best_here[of_block] >= best[of_group]
    reachable = np.where(mine_is_best, second[of_group], best[of_group])
    return np.flatnonzero(reachable >= needed - 1e-9)


def _cumulative_share(relations: RelationTable, possible: Ints) -> NDArray[np.float64]:
    """For drawing a reference: each relation weighs images of its subject / relations of its subject."""
    subjects = relations.subject[possible]
    pairs = np.unique(np.stack([subjects, relations.image[possible]]), axis=1)
    images = np.bincount(pairs[0], minlength=int(subjects.max(initial=-1)) + 1)
    weights = images[subjects] / np.bincount(subjects, minlength=len(images))[subjects]
    total = np.cumsum(weights)
    return total / total[-1] if len(total) else total


def _round(
    relations: RelationTable,
    rules: MiningThresholds,
    sampler: GroupSampler,
    possible: Ints,
    share: NDArray[np.float64],
    size: int,
    rng: np.random.Generator,
    rejected: Counter[str],
) -> Ints:
    """One array of draws, those that hold."""
    at = np.searchsorted(share, rng.random(size), side="right")
    reference = possible[np.minimum(at, len(possible) - 1)]
    target = sampler.sample_outside_block(reference, rng)
    other_image = relations.image[reference] != relations.image[target]
    other_image &= ~relations.holds(relations.image[reference], relations.subject[target], relations.object[target])
    rejected["same image"] += int((~other_image).sum())
    total = (
        2 * relations.subject_concreteness[reference]
        + relations.object_concreteness[reference]
        + relations.object_concreteness[target]
    )
    concrete = total / 4 >= rules.concreteness - 1e-9
    rejected["abstract"] += int((other_image & ~concrete).sum())
    good = other_image & concrete
    return np.stack([reference[good], target[good]], axis=1)


def _without_repeats(relations: RelationTable, pairs: Ints) -> Ints:
    """Each (reference image, target relation) once, the first one, in the order drawn."""
    keys = relations.image[pairs[:, 0]] * np.int64(len(relations)) + pairs[:, 1]
    first = np.unique(keys, return_index=True)[1]
    kept: Ints = pairs[np.sort(first)]
    return kept


def _distractors(
    relations: RelationTable, sampler: GroupSampler, pairs: Ints, rng: np.random.Generator
) -> list[pl.Series]:
    """The two kinds that fool a method which looks at one side only: the subject alone, the object alone."""
    order = np.lexsort((relations.subject, relations.object))
    by_object = GroupSampler.from_sorted(relations.object[order], relations.subject[order])
    place = np.empty_like(order)
    place[order] = np.arange(len(order))

    def other_subject(at: Ints) -> Ints:
        found = by_object.sample_outside_block(place[at], rng)
        return np.where(found >= 0, order[found], -1)

    def other_object(at: Ints) -> Ints:
        return sampler.sample_outside_block(at, rng)

    columns = []
    for name, draw in (("same_subject", other_object), ("same_object", other_subject)):
        chosen = np.full(len(pairs), -1, np.int64)
        for _ in range(DISTRACTOR_TRIES):
            open_ = np.flatnonzero(chosen < 0)
            drawn = draw(pairs[open_, 1])
            image = relations.image[drawn]
            target = pairs[open_, 1]
            good = (drawn >= 0) & (image != relations.image[pairs[open_, 0]]) & (image != relations.image[target])
            good &= ~relations.holds(image, relations.subject[target], relations.object[target])
            chosen[open_[good]] = drawn[good]
        columns.append(pl.Series(name, chosen).replace(-1, None))
    return columns
