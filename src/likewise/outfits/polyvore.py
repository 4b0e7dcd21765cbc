"""Fill-in-the-blank accuracy and compatibility AUC on Maryland, Polyvore Outfits and Polyvore-630, in their own files.

The readers (`likewise new WS --reader maryland|polyvore_outfits|polyvore630`) leave the tables `questions` and
`compatibility` in the workspace; the two conventions for the right answer (Maryland: the first one; Polyvore Outfits:
the one with the question's set id, at any place) are settled there, as `right`. Pictures of these data sets are often
dead: a question or line counts only if every item of it has a picture, and every number says how many of how many did.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from likewise.catalog.table import read_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.auc import roc_auc, sort_pairs
from likewise.evaluation.query_sums import QuerySums
from likewise.intervals import interval_of, t_quantile
from likewise.outfits.protocol import Floats, Item, Outfit, OutfitModel, OutfitQuestion
from likewise.outfits.scoring import grade_answers
from likewise.workspace import WorkspaceFolder, read_parquet

RESULT_SCHEMA = pl.Schema(
    {
        "model": pl.String(),
        "split": pl.String(),
        "test": pl.String(),
        "value": pl.Float64(),
        "low": pl.Float64(),
        "high": pl.Float64(),
        "chance": pl.Float64(),
        "n": pl.Int64(),
        "n_total": pl.Int64(),
        "coverage": pl.Float64(),
    }
)


@dataclass(frozen=True)
class CompatibilitySet:
    """Compatibility lines of one sort: outfits and whether they are real."""

    name: str
    outfits: list[Outfit]
    labels: NDArray[np.int64]
    n_total: int


@dataclass(frozen=True)
class OutfitBenchmark:
    """The usable questions and lines of one split, and how many there were."""

    split: str
    questions: list[OutfitQuestion]
    n_questions_total: int
    compatibility_sets: list[CompatibilitySet]


def read_outfit_benchmark(workspace: WorkspaceFolder, split: str) -> OutfitBenchmark:
    """The questions and lines of a split whose items all have a picture in the catalog."""
    catalog = read_catalog(workspace)
    items = items_by_name(catalog)
    made_by = f"likewise new {workspace.quoted} FOLDER --reader maryland (or polyvore_outfits, polyvore630)"
    tables = {}
    for name in ("questions", "compatibility"):
        path = workspace.tables_folder / f"{name}.parquet"
        tables[name] = read_parquet(path, made_by) if path.exists() else None
    if all(table is None for table in tables.values()):
        raise LikewiseError(f"{workspace.tables_folder} has neither questions nor compatibility lines: `{made_by}`.")
    splits = {str(s) for table in tables.values() if table is not None for s in table["split"].unique()}
    if split not in splits:
        raise LikewiseError(
            f"{workspace.path} has no questions or lines of the split {split!r}: it has {', '.join(sorted(splits))}."
        )
    return build_benchmark(tables["questions"], tables["compatibility"], items, split)


def items_by_name(catalog: pl.DataFrame) -> dict[str, Item]:
    """Every item of a catalog by name, with its first picture."""
    rows = catalog.sort("image").unique("item", keep="first", maintain_order=True)
    return {
        item: Item(item, category or "", image)
        for item, category, image in rows.select("item", "category", "image").iter_rows()
    }


def build_benchmark(
    questions: pl.DataFrame | None, compatibility: pl.DataFrame | None, items: Mapping[str, Item], split: str
) -> OutfitBenchmark:
    """Questions and lines from the readers' tables, those with a missing item left out and counted."""
    asked = [] if questions is None else questions.filter(pl.col("split") == split).to_dicts()
    usable = [row for row in asked if all(name in items for name in (*row["items"], *row["answers"]))]
    lines = []
    if compatibility is not None:
        mine = compatibility.filter(pl.col("split") == split)
        for name, part in _compatibility_parts(mine):
            rows = part.select("line", "label", "items").rows()
            kept = [row for row in rows if all(item in items for item in row[2])]
            outfits = [Outfit(f"{split}-{line}", tuple(items[item] for item in worn)) for line, _, worn in kept]
            label = np.array([row[1] for row in kept], dtype=np.int64)
            lines.append(CompatibilitySet(name, outfits, label, len(rows)))
    return OutfitBenchmark(split, [_question(row, items) for row in usable], len(asked), lines)


def _question(row: dict[str, object], items: Mapping[str, Item]) -> OutfitQuestion:
    worn = tuple(items[name] for name in row["items"])  # type: ignore[attr-defined]
    place = row["position"]
    blank = len(worn) if place is None else min(len(worn), max(0, int(place) - 1))  # type: ignore[call-overload]
    choices = tuple(items[name] for name in row["answers"])  # type: ignore[attr-defined]
    name = f"{row['split']}-{row['question']}"
    return OutfitQuestion(name, "FITB", worn, choices, blank, right=int(row["right"]))  # type: ignore[call-overload]


def _compatibility_parts(lines: pl.DataFrame) -> list[tuple[str, pl.DataFrame]]:
    """Polyvore-630 has random and hard negatives: each with the positives is a test of its own."""
    if "kind" not in lines.columns:
        return [("compatibility", lines)] if len(lines) else []
    negatives = sorted(set(lines.filter(pl.col("label") == 0)["kind"]))
    parts = [
        (f"compatibility ({kind})", lines.filter((pl.col("label") == 1) | (pl.col("kind") == kind)))
        for kind in negatives
    ]
    return parts or ([("compatibility", lines)] if len(lines) else [])


def evaluate_benchmark(model: OutfitModel, benchmark: OutfitBenchmark) -> pl.DataFrame:
    """FITB accuracy and AUC of one model, with intervals, n and coverage."""
    rows: list[tuple[object, ...]] = []
    if benchmark.n_questions_total:
        rows.append((model.name, benchmark.split, "FITB", *_fitb(model, benchmark)))
    for lines in benchmark.compatibility_sets:
        rows.append((model.name, benchmark.split, lines.name, *_auc(model, lines)))
    return pl.DataFrame(rows, schema=RESULT_SCHEMA, orient="row")


def _fitb(model: OutfitModel, benchmark: OutfitBenchmark) -> tuple[object, ...]:
    n, total = len(benchmark.questions), benchmark.n_questions_total
    if not n:
        return (None, None, None, None, 0, total, 0.0)
    graded = grade_answers(model.name, benchmark.questions, model.answer(benchmark.questions))
    known = graded.filter(pl.col("credit").is_not_null())
    sums = QuerySums.mean_of(known["credit"].to_numpy())
    chance = float(known["chance"].mean() or 0.0)  # type: ignore[arg-type]
    return (sums.value(), *interval_of(sums), chance, len(known), total, len(known) / total)


def _auc(model: OutfitModel, lines: CompatibilitySet) -> tuple[object, ...]:
    n, total = len(lines.outfits), lines.n_total
    if not n or len(set(lines.labels.tolist())) < 2:
        return (None, None, None, 0.5, n, total, n / total if total else 0.0)
    scores = model.score(lines.outfits)
    value = float(roc_auc(sort_pairs(np.zeros(n, dtype=np.int64), scores, lines.labels, 1))[0])
    low, high = delong_interval(scores, lines.labels, value)
    return (value, low, high, 0.5, n, total, n / total)


def delong_interval(scores: Floats, label: NDArray[np.int64], value: float) -> tuple[float, float]:
    """DeLong's 95 % interval of an AUC: the variance of how high each positive and each negative is placed."""
    good, bad = scores[label == 1], scores[label == 0]
    high_good = share_ranked_below(good, bad)
    high_bad = 1.0 - share_ranked_below(bad, good)
    spread = high_good.var(ddof=1) / len(good) if len(good) > 1 else 0.0
    spread += high_bad.var(ddof=1) / len(bad) if len(bad) > 1 else 0.0
    half = t_quantile(len(label) - 2) * float(np.sqrt(spread))
    return max(0.0, value - half), min(1.0, value + half)


def share_ranked_below(mine: Floats, others: Floats) -> Floats:
    """For each of mine the share of others below it, ties half."""
    ordered = np.sort(others)
    below, upto = np.searchsorted(ordered, mine, "left"), np.searchsorted(ordered, mine, "right")
    return np.asarray((below + upto) / 2.0 / len(others))
