"""The page of a check, `runs/<name>/index.html`: what a reader wants to know first, then every number behind it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from likewise.report.formatting import DASH, join_names, percent, plural
from likewise.report.page import render
from likewise.report.plots.palette import model_styles
from likewise.training.differences import MAIN, CheckVerdict, check_verdict
from likewise.training.final_evaluation import EMBEDDINGS, MEASURES, PRETRAINED
from likewise.training.report.check_plots import MethodBar, accuracy_plot, curve_plot, improvement_plot, year_plot
from likewise.training.report.check_sentences import describe_failed_reruns, describe_power
from likewise.training.runs import read_run_table
from likewise.training.summary import CheckSummary
from likewise.workspace import read_json, write_text

TABLES = ("accuracy", "differences", "curves", "importance", "best_values", "relative")
LATER_TABLES = ("discovery",)
"""Runs of earlier versions do not have these."""


def write_check_page(folder: Path) -> Path:
    """Write the page from what lies in the run's folder."""
    summary = CheckSummary.from_dict(read_json(folder / "summary.json"))
    tables = {name: read_run_table(folder / f"{name}.parquet", "likewise train check") for name in TABLES}
    found_later = {name: folder / f"{name}.parquet" for name in LATER_TABLES}
    later = {name: read_run_table(file, "") for name, file in found_later.items() if file.exists()}
    cited = folder / "claims.json"
    claims = read_json(cited) if cited.exists() else {"source": "", "reported": None, "improved": None}
    titles = {name: method.title for name, method in summary.methods.items()}
    titles[PRETRAINED] = "Pretrained" if summary.trunk != "small" else "Untrained"
    bars = _bars(tables["accuracy"], titles, summary)
    found = check_verdict(tables["accuracy"], tables["differences"])
    page = render(
        "check.html",
        package="likewise.training.report",
        summary=summary,
        titles=titles,
        verdict=_verdict(tables["accuracy"], found, titles, summary),
        power=describe_power(found, summary.plan.n_reruns),
        failed=describe_failed_reruns(summary),
        facts=_facts(summary, tables["accuracy"]),
        rows=_rows(tables["accuracy"], found, titles),
        dims={"concatenated": summary.plan.n_folds * summary.plan.dim, "separated": summary.plan.dim},
        measures=MEASURES,
        embeddings=EMBEDDINGS,
        accuracy=accuracy_plot(_method_bars(bars, MAIN), MAIN),
        years=year_plot(_method_bars(bars, "P@1"), "P@1") if any(bar["year"] for bar in bars) else None,
        improvements=_improvements(tables["relative"], titles, claims),
        claims=claims,
        curves=_curves(tables["curves"], titles),
        parameters=_parameters(tables["best_values"], tables["importance"], titles),
        differences=_matrix(tables["differences"], titles),
        losses=later["discovery"].rows(named=True) if "discovery" in later else [],
    )
    write_text(page, folder / "index.html")
    return folder / "index.html"


def _bars(accuracy: pl.DataFrame, titles: Mapping[str, str], summary: CheckSummary) -> list[dict[str, Any]]:
    """One per method, in the order of the table."""
    cells = {(row["method"], row["measure"], row["embedding"]): row for row in accuracy.iter_rows(named=True)}
    return [
        {
            "method": method,
            "title": titles[method],
            "year": summary.methods[method].year if method in summary.methods else None,
            "cells": {key[1:]: row for key, row in cells.items() if key[0] == method},
        }
        for method in accuracy["method"].unique(maintain_order=True)
    ]


def _method_bars(bars: list[dict[str, Any]], measure: str) -> list[MethodBar]:
    made = []
    for bar in bars:
        cells = {embedding: bar["cells"][measure, embedding] for embedding in EMBEDDINGS}
        values = {embedding: (row["value"], row["low"], row["high"]) for embedding, row in cells.items()}
        made.append(MethodBar(bar["title"], values, bar["year"]))
    return made


def _verdict(
    accuracy: pl.DataFrame, found: CheckVerdict, titles: Mapping[str, str], summary: CheckSummary
) -> tuple[str, str]:
    """The answer in one sentence, and what it rests on."""
    best, others = found.best, found.not_different
    here = accuracy.filter((pl.col("measure") == MAIN) & (pl.col("embedding") == "concatenated"))
    value = {row["method"]: row["value"] for row in here.iter_rows(named=True)}
    trained = {method: each for method, each in value.items() if method != PRETRAINED}
    if not trained:
        first = "No loss could be trained"
    elif not found.n_pairs:
        first = f"{titles[best]} is ahead, but one rerun of each method cannot be tested"
    elif best == PRETRAINED:
        first = "No loss does better than the trunk without training"
    elif PRETRAINED in others:
        first = "Training gains nothing significant"
    elif others:
        first = f"{titles[best]} leads, but not significantly over {join_names([titles[name] for name in others])}"
    else:
        first = f"{titles[best]} is the best loss for these images"
    spread = max(trained.values()) - min(trained.values()) if trained else 0.0
    gain = max(trained.values(), default=0.0) - value[PRETRAINED]
    second = (
        f"Concatenated {MAIN} is {percent(value[best])} % for {titles[best]}; all {len(trained)} methods lie within "
        f"{100 * spread:.1f} points, and the best is {100 * gain:+.1f} points from the trunk without training. "
    ).replace("-", "−")
    won = summary.winner
    if won:
        second += f"By validation alone {titles[won]} is best; it is the encoder that this run stores."
    return first, second


def _facts(summary: CheckSummary, accuracy: pl.DataFrame) -> list[tuple[str, str, str]]:
    plan, row = summary.plan, accuracy.row(0, named=True)
    trials = sum(method.n_trials for method in summary.methods.values())
    tested = f"of {row['n_queries_total']:,} images of {summary.n_test_classes:,} classes"
    return [
        (f"{summary.n_classes:,}", "classes", f"{summary.n_images:,} images; the first half for the search"),
        (f"{row['n_queries']:,}", "test queries", tested),
        (f"{trials:,}", "trials", f"{plan.n_folds} folds each, at most {plan.max_steps:,} steps a model"),
        (f"{plan.n_reruns:,}", "reruns", "with the best values of each method, each with other seeds"),
    ]


def _rows(accuracy: pl.DataFrame, found: CheckVerdict, titles: Mapping[str, str]) -> list[dict[str, Any]]:
    """The paper's table: cells by (embedding, measure), the best of a column marked."""
    best = {
        (row["embedding"], row["measure"]): row["value"]
        for row in accuracy.group_by("embedding", "measure").agg(pl.col("value").max()).iter_rows(named=True)
    }
    rows = []
    for method in accuracy["method"].unique(maintain_order=True):
        cells = {}
        for row in accuracy.filter(pl.col("method") == method).iter_rows(named=True):
            key = row["embedding"], row["measure"]
            margin = None if row["low"] is None else (row["high"] - row["low"]) / 2
            cells[key] = {
                "text": f"{100 * row['value']:.2f}",
                "value": row["value"],
                "margin": "" if margin is None else f"± {100 * margin:.2f}",
                "best": row["value"] == best[key],
            }
        rows.append({"method": method, "title": titles[method], "cells": cells, "tied": method in found.not_different})
    return rows


def _improvements(relative: pl.DataFrame, titles: Mapping[str, str], claims: Mapping[str, Any]) -> list[Any]:
    """One plot per baseline that was checked."""
    plots = []
    claimed = {row["baseline"]: (row["improvement"], row["n_papers"]) for row in claims.get("improved") or []}
    for baseline in relative["baseline"].unique(maintain_order=True):
        here = relative.filter(pl.col("baseline") == baseline)
        rows = []
        for method in here["method"].unique(maintain_order=True):
            values = here.filter(pl.col("method") == method).select("embedding", "improvement")
            rows.append((titles[method], dict(values.iter_rows())))
        plots.append((titles[baseline], improvement_plot(titles[baseline], rows, claimed.get(baseline))))
    return plots


def _curves(curves: pl.DataFrame, titles: Mapping[str, str]) -> Any:
    lines = {
        titles[method]: list(curves.filter(pl.col("method") == method).select("step", "map_at_r").iter_rows())
        for method in curves["method"].unique(maintain_order=True)
    }
    return curve_plot(lines, model_styles(lines)) if lines else None


def _parameters(best: pl.DataFrame, importance: pl.DataFrame, titles: Mapping[str, str]) -> dict[str, Any]:
    """Best values here, in other runs and in the paper, one row per method and hyper-parameter."""
    places = best["where"].unique(maintain_order=True).to_list()
    places.sort(key=lambda place: (place != "here", not place.startswith("run "), place))
    shares = {(row["method"], row["parameter"]): row["importance"] for row in importance.iter_rows(named=True)}
    values = {(row["method"], row["parameter"], row["where"]): row["value"] for row in best.iter_rows(named=True)}
    rows = []
    for method, name in best.select("method", "parameter").unique(maintain_order=True).iter_rows():
        cells = [_number(values.get((method, name, place))) for place in places]
        rows.append({"title": titles[method], "name": name, "cells": cells, "share": shares.get((method, name))})
    return {"places": places, "rows": rows}


def _number(value: float | None) -> str:
    return DASH if value is None else f"{value:.3g}".replace("-", "−")


def _matrix(differences: pl.DataFrame, titles: Mapping[str, str]) -> dict[str, Any]:
    """Every two methods by concatenated MAP@R: the row's lead over the column in points, and its corrected p."""
    here = differences.filter((pl.col("measure") == MAIN) & (pl.col("embedding") == "concatenated"))
    cells = {}
    for row in here.iter_rows(named=True):
        for a, b, sign in ((row["method_a"], row["method_b"], 1), (row["method_b"], row["method_a"], -1)):
            cells[a, b] = {
                "points": f"{100 * sign * row['difference']:+.1f}".replace("-", "−"),
                "p": row["p_holm"],
                "significant": row["significant"],
                "lead": sign * row["difference"],
            }
    names = list(dict.fromkeys(name for pair in cells for name in pair))
    largest = max((abs(cell["lead"]) for cell in cells.values()), default=1.0) or 1.0
    basis = plural(int(here["n_classes"][0]), "test class", "test classes") if len(here) else ""
    return {"names": names, "titles": titles, "cells": cells, "largest": largest, "basis": basis}
