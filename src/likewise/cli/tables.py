"""Tables as people read them in a terminal: percentages with one decimal, the interval beside or under its number."""

from typing import Any

import polars as pl
from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import plain
from likewise.evaluation.ranking import MAIN, grouped, not_significantly_worse, ranked

LABELLED = ("", "annotated")  # metrics that do not use sampled negatives


def leaderboard(results: pl.DataFrame, differences: pl.DataFrame | None = None) -> Table:
    """Generators, then new models, each best macro ROC-AUC first, with their place among all. Fits 80 columns.

    With `differences`, models that cannot be told apart from the best are marked.
    """
    k = min(int(metric.split("@")[1]) for metric in results["metric"] if metric.startswith("HR@"))
    columns = [("ROC-AUC", "micro"), ("PR-AUC", "macro"), ("PR-AUC", "micro")]
    columns += [(f"{name}@{k}", "") for name in ("HR", "MRR", "judged")]
    table = Table(title="How well each model finds what people call similar (%)", title_justify="left", box=SIMPLE)
    order = ranked(results)
    close = not_significantly_worse(differences, order) if differences is not None else []
    table.caption, table.caption_justify = f"≈ not told apart from {plain(order[0])}" if close else None, "left"
    table.add_column("model", overflow="fold")
    table.add_column("ROC-AUC\nmacro", justify="right", no_wrap=True)
    for name in ("\nmicro", "PR-AUC\nmacro", "\nmicro", f"HR\n@{k}", f"MRR\n@{k}", f"judged\n@{k}"):
        table.add_column(name, justify="right", no_wrap=True)
    results = results.filter(pl.col("negatives").is_in(LABELLED))
    cells = {(row["encoder"], row["metric"], row["average"]): row for row in results.iter_rows(named=True)}
    for group in grouped(results):
        table.add_row(f"[dim]{group.name}[/]")
        for encoder in group.encoders:
            main = cells[encoder, *MAIN[:2]]
            place = "–" if main["value"] is None else order.index(encoder) + 1
            table.add_row(
                f"{place} {plain(encoder)}" + (" ≈" if encoder in close else ""),
                over_interval(main["value"], main["low"], main["high"]),
                *(percent(cells[encoder, *column]["value"]) for column in columns),
            )
        table.add_section()
    return table


def percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return f"[bold]{100 * value:.1f}[/] {percent(low)}–{percent(high)}"


def over_interval(value: float | None, low: float | None, high: float | None, digits: int = 1) -> str:
    """The value, and under it the ends of its interval."""
    if value is None or low is None or high is None:
        return percent(value)
    return f"{100 * value:.1f}\n[dim]{100 * low:.{digits}f}–{100 * high:.{digits}f}[/]"


def p_value(row: dict[str, Any], of: str = "") -> str:
    """The exact p where every order of the models could be counted, otherwise the t approximation."""
    exact, approximate = row[f"{of}p_exact"], row[f"{of}p_value"]
    p = approximate if exact is None else exact
    return "–" if p is None else f"{p:.3f}"


def budget_by_k_table(budget: pl.DataFrame) -> Table:
    """All generators together: what each further candidate per query costs and brings."""
    every = budget.filter(pl.col("n_generators") == budget["n_generators"].max()).sort("k")
    return _budget(every, f"{every['generators'][0]}, by k", "k", "k")


def best_sets_table(budget: pl.DataFrame) -> Table:
    """For each number of generators the set that promises most positives (or, before labels, most distinct pairs)."""
    k = min(6, int(budget["k"].max()))  # type: ignore[arg-type]
    by = "expected_positives" if budget["expected_positives"].null_count() == 0 else "n_pairs"
    best = (
        budget.filter(pl.col("k") == k)
        .sort(by, "generators", descending=[True, False])
        .unique("n_generators", keep="first", maintain_order=True)
        .sort("n_generators")
    )
    return _budget(best, f"the best set of each size at k = {k}", "generators", "generators")


def _budget(rows: pl.DataFrame, title: str, header: str, column: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE)
    table.add_column(header, overflow="fold")
    optional = {
        "expected_positives": "expected\npositives",
        "marginal_positives_per_hour": "more\nper hour",
        "item_recall": "share\nof truth\nfound",
        "spearman": "order\nas under\nfull truth",
    }
    shown = [name for name in optional if name in rows.columns and rows[name].null_count() < len(rows)]
    for name in ("pairs", "hours", *(optional[name] for name in shown)):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows.iter_rows(named=True):
        cells = [f"{row['n_pairs']:,}", f"{row['hours']:.1f}"]
        for name in shown:
            value = row[name]
            text = "–" if value is None else f"{value:.2f}" if name in ("item_recall", "spearman") else f"{value:,.0f}"
            cells.append(text)
        table.add_row(plain(str(row[column]).replace("+", " + ")), *cells)
    return table
