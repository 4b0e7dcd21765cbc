"""Answers without understanding: "take the k-th nearest to the reference", whatever the question says.

A template whose target always stands behind the distractors that are like the reference is answered by counting.  The
audit measures every such rule (k is chosen on one half of a task's templates, its share is counted on the other half),
and `balance_places` picks templates in which no place is more common than another.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.conditional.composers import ComposerMethod, ImageOnly, TextOnly
from likewise.conditional.image_text_features import ImageTextFeatures
from likewise.conditional.recall import rank_targets
from likewise.intervals import share_interval

Ints = NDArray[np.int64]
PLACES_SCHEMA = {
    "task": pl.String(),
    "template": pl.Int64(),
    "size": pl.Int64(),
    "image": pl.Int64(),
    "text": pl.Int64(),
}
"""Where the target stands among the candidates (0: first) by the image alone and by the text alone."""
SHORTCUT_SCHEMA = {
    "task": pl.String(),
    "shortcut": pl.String(),
    "value": pl.Float64(),
    "low": pl.Float64(),
    "high": pl.Float64(),
    "chance": pl.Float64(),
    "n": pl.Int64(),
}
SIDES = {"image": "reference", "text": "condition"}
TOP = 3


def target_places(templates: pl.DataFrame, features: ImageTextFeatures) -> pl.DataFrame:
    """The place of every target by either side; among equal scores the middle."""
    rows: list[tuple[object, ...]] = []
    for part, batch in features.batches(templates):
        positives = np.zeros((len(part), batch.gallery.shape[1]), bool)
        positives[:, 0] = True
        places = []
        for composer in (ImageOnly(), TextOnly()):
            ranks = rank_targets(ComposerMethod(composer).scores(batch), positives)
            places.append(ranks.n_better + ranks.n_tied_negatives // 2)
        sizes = [batch.gallery.shape[1]] * len(part)
        rows += zip(part["task"], part["template"], sizes, *(each.tolist() for each in places), strict=True)
    return pl.DataFrame(rows, schema=PLACES_SCHEMA, orient="row")


def shortcut_table(places: pl.DataFrame) -> pl.DataFrame:
    """What each rule answers: the best fixed place by either side, and the first three by the image."""
    rows: list[tuple[object, ...]] = []
    for (task,), of_task in places.sort("task", "template").group_by(["task"], maintain_order=True):
        chance = float(np.mean(1.0 / of_task["size"].to_numpy()))
        for side, seen in SIDES.items():
            column = of_task[side].to_numpy()
            chosen, counted = column[::2], column[1::2]
            if not len(counted):
                continue
            place = int(np.bincount(chosen).argmax())
            rows.append((task, f"number {place + 1} nearest to the {seen}", *_share(counted == place, chance)))
        first = of_task["image"].to_numpy() < TOP
        rows.append((task, f"among the {TOP} nearest to the reference", *_share(first, min(1.0, TOP * chance))))
    return pl.DataFrame(rows, schema=SHORTCUT_SCHEMA, orient="row")


def _share(hits: NDArray[np.bool_], chance: float) -> tuple[float, float, float, float, int]:
    value, n = float(hits.mean()), len(hits)
    low, high = share_interval(value, float(np.sqrt(value * (1 - value) / n)), n)
    return value, low, high, chance, n


def balance_places(places: pl.DataFrame, per_task: int, seed: int = 0) -> pl.DataFrame:
    """Templates (task, template) of which no place of the target is more common than another, at most `per_task` each.

    Each next one is the template whose places by image and by text were taken least often; it stops before a place by
    the image is taken more often than its share of what is asked for.
    """
    chosen: list[tuple[str, int]] = []
    for (task,), of_task in places.sort("task", "template").group_by(["task"], maintain_order=True):
        rng = np.random.default_rng([seed, 41])
        order = rng.permutation(len(of_task))
        image, text = (of_task[side].to_numpy()[order] for side in SIDES)
        size = int(of_task["size"].to_numpy().max())
        kept = _least_taken(image, text, size, per_task)
        numbers = of_task["template"].to_numpy()[order][kept]
        chosen += [(str(task), int(number)) for number in np.sort(numbers)]
    return pl.DataFrame(chosen, schema={"task": pl.String(), "template": pl.Int64()}, orient="row")


def _least_taken(image: Ints, text: Ints, size: int, wanted: int) -> Sequence[int]:
    most = -(-wanted // size)
    by_image, by_text = np.zeros(size, np.int64), np.zeros(size, np.int64)
    free = np.ones(len(image), bool)
    kept: list[int] = []
    while len(kept) < wanted:
        open_ = np.flatnonzero(free & (by_image[image] < most))
        if not len(open_):
            break
        cost = by_image[image[open_]] + by_text[text[open_]]
        best = int(open_[cost.argmin()])
        by_image[image[best]] += 1
        by_text[text[best]] += 1
        free[best] = False
        kept.append(best)
    return kept
