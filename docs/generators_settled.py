"""Which comparisons of a generator with a new model stand in a leaderboard's order, and are right: for `generators.py`.

A model's place is a range (`place_ranges`): only significant differences put two models in order.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

FEWEST_POOLS = 10  # of a comparison, to be called the worst one


class Drawn(Protocol):
    """What is needed of a drawn pool: arrays by rule."""

    @property
    def generators(self) -> set[int]: ...
    @property
    def values(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def truth(self) -> dict[str, NDArray[np.float64]]: ...
    @property
    def wrong(self) -> dict[str, NDArray[np.bool_]]: ...
    @property
    def significant(self) -> dict[str, NDArray[np.bool_]]: ...
    @property
    def n_different(self) -> float: ...


@dataclass(frozen=True)
class Comparison:
    """A generator and a new model in one pool."""

    models: tuple[int, int]
    apart: float  # in truth
    right: bool  # whether the higher value is the truly higher one
    settled: bool  # whether the difference is significant
    wrong: bool  # and whether its sign is wrong then


def comparisons(pool: Drawn, rule: str) -> list[Comparison]:
    truth, values = pool.truth[rule], pool.values[rule]
    found = []
    for a, b in product(sorted(pool.generators), (m for m in range(len(truth)) if m not in pool.generators)):
        apart, seen = truth[a] - truth[b], values[a] - values[b]
        settled = bool(pool.significant[rule][a, b] or pool.significant[rule][b, a])
        wrong = bool(pool.wrong[rule][a, b] or pool.wrong[rule][b, a])
        found.append(Comparison((min(a, b), max(a, b)), abs(apart), bool(apart * seen > 0), settled, wrong))
    return found


def settled_table(pools: Sequence[Drawn], rules: Sequence[str], fewest_different: float) -> str:
    """All drawn pools, and those that may rank: the share of comparisons in order, and of the settled ones."""
    lines = [
        "| ROC-AUC against | pools | in order | settled | settled, in order | the others, in order "
        "| pools with every settled one in order | the worst pool: settled ones in order |",
        "|---|---|---|---|---|---|---|---|",
    ]
    may_rank = [pool for pool in pools if pool.n_different >= fewest_different]
    for kind, drawn in (("all", pools), ("ranked", may_rank)):
        for rule in rules:
            every = [comparisons(pool, rule) for pool in drawn]
            flat = [one for pool in every for one in pool]
            settled = [[not one.wrong for one in pool if one.settled] for pool in every]
            shares = (
                np.mean([one.right for one in flat]),
                np.mean([one.settled for one in flat]),
                np.mean([right for pool in settled for right in pool]),
                np.mean([one.right for one in flat if not one.settled]),
                np.mean([all(pool) for pool in settled]),
                min(np.mean(pool) for pool in settled if pool),
            )
            cells = " | ".join(f"{100 * float(share):.1f}" for share in shares)
            lines.append(f"| {rule} | {len(drawn)} {kind} | {cells} |")
    return "\n".join(lines)


def worst_comparison(pools: Sequence[Drawn], rule: str, models: Sequence[str], fewest_different: float) -> str:
    """The two models whose order is most often wrong in pools that rank, as a sentence."""
    by_models: dict[tuple[int, int], list[Comparison]] = defaultdict(list)
    for pool in pools:
        for one in comparisons(pool, rule) if pool.n_different >= fewest_different else ():
            by_models[one.models].append(one)
    often = {names: found for names, found in by_models.items() if len(found) >= FEWEST_POOLS}
    (a, b), worst = min(often.items(), key=lambda each: float(np.mean([one.right for one in each[1]])))
    n_good = sum(float(np.mean([one.right for one in found])) >= 0.95 for found in often.values())
    said = (
        f"Of {len(often)} comparisons of two models by {rule}, {n_good} are in order in at least 95 % of the pools "
        f"that rank and have one of the two as a generator. The worst, {models[a]} with {models[b]}, is in "
        f"{100 * float(np.mean([one.right for one in worst])):.0f} % of {len(worst)}: the two are truly "
        f"{100 * float(np.mean([one.apart for one in worst])):.1f} points apart, and their difference is significant "
        f"in {sum(one.settled for one in worst)} of these pools."
    )
    wrong = {names: sum(one.wrong for one in found) for names, found in often.items() if any(o.wrong for o in found)}
    if not wrong:
        return f"{said} No significant difference has the wrong sign."
    (a, b), n_wrong = max(wrong.items(), key=lambda each: each[1])
    n_settled = sum(one.settled for one in often[a, b])
    return (
        f"{said} A significant difference has the wrong sign in {sum(wrong.values())} of all comparisons, most often "
        f"between {models[a]} and {models[b]} ({n_wrong} of {n_settled})."
    )
