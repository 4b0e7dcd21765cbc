"""The first proof of `sampling.md`: bias and coverage of every estimate, and how often the order of models is right.

A campaign takes queries of its own, draws pairs, takes their labels from the truth and estimates every model. What is
kept of it does not depend on which estimates are shown by default; orders are campaigns of their own, because they take
three times as long.
"""

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from sampling_bench import KS, POSITIVES, Bench, Bools, Floats, Ints
from sampling_draws import DrawnDesign, draw_campaign
from scipy.stats import binom

from likewise.discovery.designs.adaptive import Purpose
from likewise.evaluation.estimates.draw import LabelledDraw
from likewise.evaluation.estimates.estimate import CatalogEstimates, estimate_catalog
from likewise.evaluation.estimates.linearised import CatalogEstimate
from likewise.evaluation.estimates.listed_pairs import ListedPairs
from likewise.evaluation.estimates.shown import EstimateFacts, shown_by_default
from likewise.evaluation.rank_correlation import kendall

KEEP_EVERY = 10
ERROR, DRAWING, TOGETHER, COVERS, FACTS = range(5)
"""Of an estimate: how far off, the standard errors of drawing and of all, whether the interval covers, and from FACTS
on what decides whether it is shown (`EstimateFacts`)."""
SELDOM = 0.05
LEAST_COVERED, MOST_COVERED = 93.0, 97.0  # percent
UNBIASED = "by value: "
DESIGN_NAMES: dict[DrawnDesign, str] = {
    "sampled": "sampled",
    "comparing": "adaptive, for comparing",
    "finding": "adaptive, for finding",
}


@dataclass(frozen=True)
class CampaignPlan:
    """What every campaign of a row is like, and how many there are."""

    design: DrawnDesign
    n_queries: int
    n_labels: int
    n_campaigns: int


@dataclass
class Campaigns:
    """Many campaigns of one design: per measure (campaigns, models, FIELDS), or how the models were ordered.

    An order is Kendall's tau with the truth, and whether it is the very same.
    """

    bench: Bench
    plan: CampaignPlan
    errors: dict[str, Floats] = field(default_factory=dict)
    orders: dict[str, Floats] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def n(self) -> int:
        kept = self.errors or self.orders
        return len(next(iter(kept.values()))) if kept else 0

    def said(self) -> str:
        plan, n_pairs = self.plan, self.plan.n_queries * (self.bench.n_items - 1)
        return (
            f"{DESIGN_NAMES[plan.design]}: {self.n} campaigns of {plan.n_labels:,} labels for {plan.n_queries} queries "
            f"({100 * plan.n_labels / n_pairs:.1f} % of their pairs), {self.seconds:.0f} s of processor time."
        )

    def add(self, errors: dict[str, Floats], orders: dict[str, tuple[float, bool]]) -> None:
        for name, rows in errors.items():
            self.errors[name] = np.concatenate([self.errors.get(name, np.empty((0, *rows.shape))), rows[None]])
        for name, order in orders.items():
            self.orders[name] = np.concatenate([self.orders.get(name, np.empty((0, 2))), np.array([order], float)])

    def store(self, file: Path) -> None:
        tables = {f"errors {name}": rows for name, rows in self.errors.items()}
        tables |= {f"orders {name}": rows for name, rows in self.orders.items()} | {"seconds": np.array(self.seconds)}
        unfinished = file.with_suffix(".part.npz")
        np.savez(unfinished, **tables)  # type: ignore[arg-type]
        unfinished.replace(file)

    def read(self, file: Path) -> None:
        with np.load(file) as stored:
            for name in stored.files:
                kind, _, measure = name.partition(" ")
                if kind in ("errors", "orders"):
                    getattr(self, kind)[measure] = stored[name]
            self.seconds = float(stored["seconds"])


def run_campaigns(bench: Bench, plan: CampaignPlan, kept: Path, *, orders: bool = False) -> Campaigns:
    """Errors against the truth of the same queries, and coverage of the truth over all queries there are; or orders."""
    done = Campaigns(bench, plan)
    file = kept / f"{bench.name}-{plan.design}-{plan.n_queries}-{plan.n_labels}{'-orders' if orders else ''}.npz"
    if file.exists():
        done.read(file)
    for number in range(done.n, plan.n_campaigns):
        started = time.process_time()
        rng = np.random.default_rng([11, number])
        queries = rng.integers(0, bench.n_queries, plan.n_queries)
        drawn = draw_campaign(bench, queries, plan.n_labels, plan.design, rng)
        found = estimate_campaign(bench, queries, drawn, number, orders=orders)
        if orders:
            done.add({}, _orders(found, bench, plan, queries))
        else:
            done.add(_errors(found, bench.truth(queries), bench.truth()), {})
        done.seconds += time.process_time() - started
        if number % KEEP_EVERY == KEEP_EVERY - 1 or number == plan.n_campaigns - 1:
            done.store(file)
    return done


def estimate_campaign(bench: Bench, queries: Ints, drawn: LabelledDraw, seed: int, *, orders: bool) -> CatalogEstimates:
    """Every measure of every model from drawn labels; for orders with closer predictions."""
    block, rows = bench.block(queries), np.arange(len(queries))
    listed = ListedPairs(bench.units(queries), bench.every_view(queries)) if orders else None
    blocks = [(rows, block)]
    return estimate_catalog(lambda: blocks, bench.names, drawn, KS, seed, listed=listed, generators=bench.generators)


def _errors(found: CatalogEstimates, here: dict[str, Floats], every: dict[str, Floats]) -> dict[str, Floats]:
    """FIELDS of every measure and model."""
    errors = {}
    for name, always in every.items():
        if name == POSITIVES:
            low, high = found.positives.count_interval()  # as evaluate prints it
            covers = float(low <= here[name][0] <= high)
            errors[name] = np.array([_row(found.positives, here[name][0], covers, EstimateFacts(0.0, 0.0, 0.0))])
            continue
        rows = []
        for place, by_measure in enumerate(found.by_encoder):
            one = by_measure[name]
            low, high = one.share_interval()
            covers = float(low <= always[place] <= high)
            rows.append(_row(one, here[name][place], covers, found.facts(place, name)))
        errors[name] = np.array(rows)
    return errors


def _row(one: CatalogEstimate, here: float, covers: float, facts: EstimateFacts) -> list[float]:
    known = [one.value - here, one.drawing_error, one.standard_error, covers]
    return [*known, facts.apart, facts.count_error, facts.foreseen_error]


def _orders(found: CatalogEstimates, bench: Bench, plan: CampaignPlan, queries: Ints) -> dict[str, tuple[float, bool]]:
    orders, here = {}, bench.truth(queries)
    for name in found.by_encoder[0]:
        orders[name] = _order(found.order_values(name), here[name])
        orders[f"{UNBIASED}{name}"] = _order(np.array([one.value for one in found.of_measure(name)]), here[name])
    if plan.design == "sampled":
        for name, values in eds_values(bench, queries, plan.n_labels).items():
            orders[f"EDS: {name}"] = _order(values, here["ROC_AUC" if name == "ROC_AUC (gallery)" else name])
    return orders


def is_shown(name: str, rows: Floats, design: DrawnDesign) -> Floats:
    """Of (campaigns, models, FIELDS): 1 where the estimate is shown by default."""
    if name == POSITIVES:
        return np.ones(rows.shape[:2])
    purpose: Purpose | None = None if design == "sampled" else design
    return np.array(
        [[shown_by_default(name, EstimateFacts(*one[FACTS:]), purpose) for one in row] for row in rows], float
    )


def _order(values: Floats, truth: Floats) -> tuple[float, bool]:
    return kendall(values, truth), bool((np.argsort(-values) == np.argsort(-truth)).all())


def estimates_table(done: list[Campaigns]) -> str:
    """One row per measure and design."""
    lines = [
        "| measure | design | shown | truth | bias: generators | new models | standard error: drawing | with queries "
        "| covered: generators | new models |",
        "|---" * 10 + "|",
    ]
    for name in done[0].errors:
        for one in done:
            lines.append(f"| {' | '.join(_cells(name, one))} |")
    said = f"{done[0].bench.title[0].upper()}{done[0].bench.title[1:]}. " + " ".join(one.said() for one in done)
    return "\n".join([said, "", *lines])


def _cells(name: str, done: Campaigns) -> list[str]:
    """Of the models that are shown; of all where none is."""
    rows, truth = done.errors[name], done.bench.truth()[name]
    shown_in = is_shown(name, rows, done.plan.design)
    counted = counted_models(shown_in)
    generator = np.arange(rows.shape[1]) < done.bench.n_generators
    groups = [counted] if name == POSITIVES else [counted & generator, counted & ~generator]
    scale, digits = (1.0, 2) if name == POSITIVES else (100.0, 1)
    error, covers = (shown_means(rows[:, :, side], shown_in) for side in (ERROR, COVERS))
    bias = [_worst(scale * error[group], digits) for group in groups]
    covered = [_range(100.0 * covers[group]) for group in groups]
    squares = [(rows[:, counted, side] ** 2).mean(axis=0) for side in (DRAWING, TOGETHER)]
    drawing, together = (_range(scale * np.sqrt(one), digits) for one in squares)
    if name == POSITIVES:
        bias, covered = [*bias, ""], [*covered, ""]
    title = name.replace('"', "") if name != POSITIVES else "similar items a query"
    where = [title, DESIGN_NAMES[done.plan.design], _said_shown(shown_in), _range(scale * truth, digits)]
    return [*where, *bias, drawing, together, *covered]


def _said_shown(shown_in: Floats) -> str:
    often = shown_in.mean(axis=0)
    if (often < SELDOM).all():
        return "no"
    n_shown = int((often >= SELDOM).sum())
    share = _range(100.0 * often[often >= SELDOM], 0)
    return f"{share} %" if n_shown == len(often) else f"{share} %, {n_shown} of {len(often)} models"


def counted_models(shown_in: Floats) -> Bools:
    """The models whose estimate is shown at all; every one where none is."""
    often = shown_in.mean(axis=0) >= SELDOM
    return often if often.any() else np.ones_like(often)


def shown_means(values: Floats, shown: Floats) -> Floats:
    """Per model the mean over the campaigns in which its estimate is shown; over all where it hardly ever is."""
    kept = np.where(shown.mean(axis=0) >= SELDOM, shown, 1.0)
    return np.asarray((values * kept).sum(axis=0) / kept.sum(axis=0))


def coverage_sentence(done: list[Campaigns], measures: tuple[str, ...]) -> str:
    """The worst bias and the range of coverage over models, of what is shown by default; and what chance alone does."""
    parts = []
    for one in done:
        bias, covered = {}, [100.0 * one.errors[POSITIVES][:, :, COVERS].mean(axis=0)]
        for name in measures:
            shown_in = is_shown(name, one.errors[name], one.plan.design)
            counted = counted_models(shown_in)
            if (shown_in.mean(axis=0) >= SELDOM).any():
                error, covers = (shown_means(one.errors[name][:, :, side], shown_in) for side in (ERROR, COVERS))
                bias[name] = 100.0 * float(np.abs(error[counted]).max())
                covered.append(100.0 * covers[counted])
        cells = np.concatenate(covered)
        outside = int(((cells < LEAST_COVERED) | (cells > MOST_COVERED)).sum())
        worst = max(bias, key=lambda name: bias[name])
        parts.append(
            f"{DESIGN_NAMES[one.plan.design]}, shown by default: {', '.join(map(_plain, bias))} and the number of "
            f"similar items. Bias at most {bias[worst]:.1f} points ({_plain(worst)}); covered {cells.mean():.1f} % on "
            f"average, from {cells.min():.1f} to {cells.max():.1f}; outside 93–97 % in {outside} of {len(cells)} "
            f"measures and models. With {one.n} campaigns and intervals that hold in exactly 95 %, chance alone puts "
            f"{len(cells) * _outside_by_chance(one.n):.0f} of them outside, many at once or none, because the models "
            "of a campaign share its queries."
        )
    return "\n\n".join(parts)


def _outside_by_chance(n_campaigns: int) -> float:
    """The chance that the share covered of so many campaigns is outside, where intervals hold in exactly 95 %."""
    least, most = np.ceil(LEAST_COVERED * n_campaigns / 100.0), np.floor(MOST_COVERED * n_campaigns / 100.0)
    inside = binom.cdf(most, n_campaigns, 0.95) - binom.cdf(least - 1.0, n_campaigns, 0.95)
    return float(1.0 - inside)


def _plain(measure: str) -> str:
    return measure.replace(chr(34), "")


def order_table(done: list[Campaigns]) -> str:
    lines = [
        "| order by | design | right in | Kendall's tau with the truth | by the unbiased value: right in | tau |",
        "|---" * 6 + "|",
    ]
    for one in done:
        for name, found in one.orders.items():
            if name.startswith(UNBIASED):
                continue
            tau, right = found.T
            design = "EDS" if name.startswith("EDS: ") else DESIGN_NAMES[one.plan.design]
            shown = name.removeprefix("EDS: ").replace(chr(34), "")
            by_value = one.orders.get(f"{UNBIASED}{name}")
            beside = " | " if by_value is None else f"{100 * by_value[:, 1].mean():.0f} % | {by_value[:, 0].mean():.3f}"
            lines.append(f"| {shown} | {design} | {100 * right.mean():.0f} % | {tau.mean():.3f} | {beside} |")
    return "\n".join(lines)


def _worst(values: Floats, digits: int) -> str:
    return f"{values[np.argmax(np.abs(values))]:+.{digits}f}"


def _range(values: Floats, digits: int = 1) -> str:
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    return low if low == high else f"{low}–{high}"


def eds_values(bench: Bench, queries: Ints, n_labels: int) -> dict[str, Floats]:
    """What an EDS pool of about as many labels says of every model.

    ROC_AUC and AP over labelled pairs; the chance that a labelled positive scores above another item of the gallery;
    P@10 and nDCG@10 with unlabelled candidates as misses.
    """
    block = bench.block(queries)
    best = np.where(block.admissible, block.rank[: bench.n_generators].min(axis=0), np.iinfo(np.int32).max)
    counts = np.cumsum(np.bincount(np.minimum(best, 99).ravel(), minlength=100))
    pooled = best <= int(np.argmin(np.abs(counts[:99] - n_labels)))
    similar = bench.similar[queries] & pooled
    found: dict[str, list[float]] = {"ROC_AUC": [], "AP": [], "ROC_AUC (gallery)": [], "P@10": [], "nDCG@10": []}
    ideal = np.append(np.nan, np.cumsum(1.0 / np.log2(np.arange(2.0, 12.0))))
    for order, rank in zip(block.order, block.rank, strict=True):
        inside, label = np.take_along_axis(pooled, order, 1), np.take_along_axis(similar, order, 1)
        place = np.cumsum(inside, axis=1)  # among labelled pairs, from 1
        n_positive, n = label.sum(axis=1), inside.sum(axis=1)
        above = np.cumsum(label, axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            precise = np.where(label, above / np.maximum(place, 1), 0.0).sum(axis=1) / n_positive
            passed = np.where(label, place - above, 0).sum(axis=1) / n_positive / (n - n_positive)
            others = block.n_admissible - n_positive
            beside = (np.where(similar, rank, 0).sum(axis=1) / n_positive - (n_positive - 1) / 2.0) / others
        found["ROC_AUC"].append(1.0 - float(np.nanmean(np.where(np.isfinite(passed), passed, np.nan))))
        found["AP"].append(float(np.nanmean(precise)))
        found["ROC_AUC (gallery)"].append(1.0 - float(np.nanmean(beside)))
        gain = np.where(similar & (rank < 10), 1.0 / np.log2(np.minimum(rank, 9) + 2.0), 0.0).sum(axis=1)
        found["nDCG@10"].append(float(np.nanmean(gain / ideal[np.minimum(n_positive, 10)])))
        found["P@10"].append(float((similar & (rank < 10)).sum() / (10.0 * len(queries))))
    return {name: np.array(values) for name, values in found.items()}
