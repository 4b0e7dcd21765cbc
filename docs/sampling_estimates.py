"""The first proof of `sampling.md`: bias and coverage of every estimate, and how often the order of models is right."""

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sampling_bench import GENERATORS, NEW_MODELS, Bench, draw_sampled, eds_k, eds_orders, estimate, wardrobe_bench

from likewise.evaluation.estimates.estimate import MICRO_AUC
from likewise.evaluation.estimates.linearised import CatalogEstimate
from likewise.evaluation.estimates.micro import histogram, score_edges
from likewise.evaluation.rank_correlation import kendall

N_QUERIES, N_LABELS = 100, 2557
Floats = NDArray[np.float64]


def estimates(work: Path, n_items: int, n_campaigns: int, views: int = 3) -> dict[str, str]:
    """Tables of many campaigns on the wardrobe, each with its own queries and its own draw."""
    bench = drawn_wardrobe(work, n_items, views)
    started = time.perf_counter()
    rng = np.random.default_rng(1)
    every = population_truth(bench)
    errors: dict[str, list[Floats]] = {}
    orders: dict[str, list[tuple[float, bool]]] = {}
    n_queries = min(N_QUERIES, n_items // 2)
    n_labels = N_LABELS * n_queries // N_QUERIES
    for campaign in range(n_campaigns):
        queries = rng.integers(0, n_items, n_queries)
        block = bench.block(queries)
        here = bench.truth(block, queries)
        found = estimate(bench, block, draw_sampled(bench, block, queries, n_labels, rng), campaign)
        for name, value in every.items():
            if name == "positives":
                rows = [_errors(found.positives, float(here[name].mean()), float(value.mean()), share=False)]
            else:
                measured = [one[name] for one in found.by_encoder]
                rows = [
                    _errors(one, float(now), float(always))
                    for one, now, always in zip(measured, here[name], value, strict=True)
                ]
                orders.setdefault(name, []).append(_order(np.array([one.value for one in measured]), here[name]))
            errors.setdefault(name, []).append(np.array(rows))
        for name, values in eds_orders(bench, block, queries, eds_k(bench, block, n_labels)).items():
            truth = here["ROC_AUC" if name == "gallery" else name]
            orders.setdefault(f"EDS {name}", []).append(_order(values, truth))
    seconds = time.perf_counter() - started
    said = (
        f"{n_campaigns} campaigns of {n_labels:,} labels for {n_queries} queries among {n_items:,} items "
        f"({n_queries * (n_items - 1):,} pairs); {seconds / 60:.0f} minutes on one core."
    )
    table = f"{said}\n\n{_table({name: np.array(rows) for name, rows in errors.items()}, every, bench.names)}"
    if views > 1:
        return {"sampling-estimates": table, "sampling-estimates-order": _order_table(orders)}
    return {"sampling-large": table, "sampling-large-order": _order_table(orders)}


def _errors(one: CatalogEstimate, here: float, always: float, *, share: bool = True) -> tuple[float, ...]:
    low, high = one.share_interval() if share else one.interval()
    near, far = one.interval(these_queries=True)
    return (
        one.value - here,
        one.drawing_error,
        float(near <= here <= far),
        one.standard_error,
        float(low <= always <= high),
    )


def _order(values: Floats, truth: Floats) -> tuple[float, bool]:
    return kendall(values, truth), bool((np.argsort(-values) == np.argsort(-truth)).all())


def _table(errors: dict[str, Floats], every: dict[str, Floats], names: tuple[str, ...]) -> str:
    lines = [
        "| measure | truth | bias: generators | new models | standard error: drawing | and queries "
        "| covered: generators | new models |",
        "|---|---|---|---|---|---|---|---|",
    ]
    groups = [[names.index(name) for name in group] for group in (GENERATORS, NEW_MODELS)]
    for name, rows in errors.items():
        if name == "positives":
            scale, digits = 1.0, 2
            bias = [f"{rows[:, 0, 0].mean():+.2f}", ""]
            covered = [f"{100 * rows[:, 0, 4].mean():.1f}", ""]
            truth = f"{every[name].mean():.2f} a query"
            kept = [0]
        else:
            scale, digits = 100.0, 1
            bias = [_worst(100 * rows[:, group, 0].mean(axis=0)) for group in groups]
            covered = [_range(100 * rows[:, group, 4].mean(axis=0)) for group in groups]
            truth = _range(100 * every[name])
            kept = list(range(len(names)))
        drawing = _range(scale * np.sqrt((rows[:, kept, 1] ** 2).mean(axis=0)), digits)
        together = _range(scale * np.sqrt((rows[:, kept, 3] ** 2).mean(axis=0)), digits)
        cells = [name.replace('"', ""), truth, *bias, drawing, together, *covered]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def _order_table(orders: dict[str, list[tuple[float, bool]]]) -> str:
    lines = ["| order by | right in | Kendall's tau with the truth |", "|---|---|---|"]
    for name, found in orders.items():
        tau, right = np.array(found, dtype=np.float64).T
        lines.append(f"| {name.replace(chr(34), '')} | {100 * right.mean():.0f} % | {tau.mean():.3f} |")
    return "\n".join(lines)


def _worst(values: Floats) -> str:
    return f"{values[np.argmax(np.abs(values))]:+.1f}"


def _range(values: Floats, digits: int = 1) -> str:
    low, high = f"{values.min():.{digits}f}", f"{values.max():.{digits}f}"
    return low if low == high else f"{low}–{high}"


def population_truth(bench: Bench, at_once: int = 200) -> dict[str, Floats]:
    """Over every item as a query, block by block; micro ROC-AUC from histograms of scores."""
    parts, sizes = [], []
    edges: list[NDArray[np.float32]] = []
    counted: list[list[Floats]] = [[] for _ in bench.names]
    none = np.empty(0, dtype=np.int64)
    for start in range(0, bench.n_items, at_once):
        queries = np.arange(start, min(start + at_once, bench.n_items))
        block = bench.block(queries)
        parts.append(bench.truth(block, queries))
        sizes.append(len(queries))
        edges = edges or [score_edges(scores[block.admissible]) for scores in block.scores]
        similar = (bench.similar[queries] & block.admissible).astype(np.float64)
        for scores, inner, kept in zip(block.scores, edges, counted, strict=True):
            one = histogram(scores, block.admissible, similar, inner, none, none)
            kept.append(np.stack([one.pairs.sum(axis=0), one.positives.sum(axis=0)]))
    merged: dict[str, Floats] = {}
    with_positive = [float((part["positives"] > 0).sum()) for part in parts]
    for name in parts[0]:
        if name == "positives":
            merged[name] = np.concatenate([part[name] for part in parts])
        elif name == MICRO_AUC:
            merged[name] = np.array([_area(*np.sum(kept, axis=0)) for kept in counted])
        else:
            weights = np.array(sizes if name.startswith("P@") else with_positive)
            merged[name] = np.average(np.stack([part[name] for part in parts]), axis=0, weights=weights)
    return merged


def _area(pairs: Floats, positive: Floats) -> float:
    """ROC-AUC from counts in classes of rising scores."""
    negative = pairs - positive
    below = np.cumsum(negative) - negative / 2.0
    return float(positive @ below / (positive.sum() * negative.sum()))


def drawn_wardrobe(work: Path, n_items: int, views: int) -> Bench:
    """The wardrobe with the vectors of every generator, made once and kept."""
    target = work / f"wardrobe-{n_items}"
    if not (target / "catalog.parquet").exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        _likewise("new", target, "--wardrobe", "--items", n_items, "--views", views)
    _likewise("encode", target, "--with", ",".join(GENERATORS))
    return wardrobe_bench(target)


def _likewise(*arguments: object) -> None:
    subprocess.run([sys.executable, "-m", "likewise", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
