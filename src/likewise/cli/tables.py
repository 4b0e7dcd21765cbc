"""Tables as people read them in a terminal: percentages with one decimal, the interval beside or under its number."""

from typing import Any

import polars as pl
from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import echo, escape
from likewise.evaluation.discovery import default_measures
from likewise.evaluation.measures import AP, ROC_AUC, VSD_MRR, Judged, P, cutoff_of, heading, is_sampled
from likewise.evaluation.ranking import MAIN, group_encoders, not_significantly_worse, place_ranges, rank_encoders
from likewise.intervals import few_queries_note
from likewise.report.formatting import interval, points


def leaderboard(results: pl.DataFrame, differences: pl.DataFrame | None = None, *, with_places: bool = True) -> Table:
    """Generators, then new models, each best gallery ROC-AUC first, with their place among all. Fits 80 columns.

    With `differences` a place is a range where models are not apart, and those not significantly worse than the best
    are marked.
    """
    table = Table(title="How well each model finds what people call similar (%)", title_justify="left", box=SIMPLE)
    learned, main, columns = set(results.filter(pl.col("learned"))["encoder"]), str(MAIN), shown_measures(results)
    cells = {(row["encoder"], row["measure"]): row for row in results.iter_rows(named=True)}
    order = [name for name in rank_encoders(results) if name not in learned]
    close = not_significantly_worse(differences, order) if differences is not None and with_places else []
    measured = [name for name in order if cells[name, main]["value"] is not None]
    places = place_ranges(differences, measured) if differences is not None and with_places else {}
    notes = [f"≈ not significantly worse than {escape(order[0])}"] if close else []
    if any(one.first < one.last for one in places.values()):
        notes.append("a place such as 2–4: one model is significantly better; order within a range may be chance")
    table.caption = "\n".join(notes) or None
    table.caption_justify = "left"
    table.add_column("model", overflow="fold")
    for name in (main, *columns):
        table.add_column(broken_heading(name), justify="right", no_wrap=True)
    for group in group_encoders(results):
        table.add_row(f"[dim]{group.name}[/]")
        for encoder in group.encoders:
            first = cells[encoder, main]
            has_place = with_places and first["value"] is not None and encoder not in learned
            place = places.get(encoder, order.index(encoder) + 1) if has_place else "–"
            values = (cells[encoder, name]["value"] if (encoder, name) in cells else None for name in columns)
            table.add_row(
                f"{place} {escape(encoder)}" + (" ≈" if encoder in close else ""),
                over_interval(first["value"], first["low"], first["high"]),
                *map(percent, values),
            )
        table.add_section()
    return table


def own_pairs_table(table: pl.DataFrame) -> Table:
    """Generators, with the pairs that each proposed left out: the value over all labels, and what it becomes."""
    names = [str(one) for one in (MAIN, ROC_AUC, AP) if str(one) in set(table["measure"])]
    found = Table(title="Each generator without the pairs it proposed (%)", title_justify="left", box=SIMPLE)
    found.add_column("model", overflow="fold")
    for name in names:
        found.add_column(broken_heading(name), justify="right", no_wrap=True)
    found.add_column("labelled\npairs left", justify="right", no_wrap=True)
    cells = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    for encoder in table["encoder"].unique(maintain_order=True):
        rows = [cells[encoder, name] for name in names]
        moves = (f"{percent(row['value'])} → {percent(row['without_own'])}" for row in rows)
        found.add_row(escape(encoder), *moves, f"{rows[0]['n_pairs']:,}")
    return found


def shown_measures(results: pl.DataFrame) -> list[str]:
    """What stands beside the main measure: of the usual set the most telling, of a chosen set everything."""
    found = results["measure"].unique(maintain_order=True).to_list()
    ks = sorted(filter(None, set(map(cutoff_of, found))))
    usual = list(map(str, default_measures(ks)))
    if not ks or set(found) - set(usual) or len(found) < len([name for name in usual if not is_sampled(name)]):
        return [name for name in found if name != str(MAIN)]
    areas = ROC_AUC, AP
    return [str(one) for one in (*areas, *(measure @ ks[0] for measure in (P, VSD_MRR, Judged)))]


def broken_heading(name: str) -> str:
    """The name of a measure as a narrow heading: its parameters, or its list length, in a second line."""
    title, subtitle = heading(name)
    return f"{title}\n{subtitle}" if subtitle else title.replace("@", "\n@")


def percent(value: float | None, digits: int = 1) -> str:
    return "–" if value is None else f"{100 * value:.{digits}f}"


def with_interval(value: float | None, low: float | None, high: float | None) -> str:
    if value is None:
        return "–"
    return f"[bold]{100 * value:.1f}[/] {percent(low)}–{percent(high)}"


def change_with_interval(change: float | None, low: float | None, high: float | None) -> str:
    """In points, always with a sign."""
    return "–" if change is None else f"[bold]{points(change)}[/] {interval(low, high, signed=True)}"


def over_interval(value: float | None, low: float | None, high: float | None, digits: int = 1) -> str:
    """The value, and under it the ends of its interval."""
    if value is None or low is None or high is None:
        return percent(value)
    return f"{100 * value:.1f}\n[dim]{100 * low:.{digits}f}–{100 * high:.{digits}f}[/]"


def times_interval(value: float, low: float | None, high: float | None) -> str:
    """12.3 times (8.1–20.5)"""
    ends = ("–" if end is None else f"{end:,.1f}" for end in (low, high))
    return f"{value:,.1f} times ({'–'.join(ends)})"


def print_few_queries(n_queries: int | None, unit: str = "queries") -> None:
    """Say so where few queries stand behind the intervals above."""
    if note := few_queries_note(n_queries, unit):
        echo(f"[bold]{note}[/]")


def p_value(row: dict[str, Any], of: str = "") -> str:
    """The exact p where every order of the models could be counted, otherwise the t approximation."""
    exact, approximate = row[f"{of}p_exact"], row[f"{of}p_value"]
    p = approximate if exact is None else exact
    return "–" if p is None else rounded_p(p)


def rounded_p(p: float) -> str:
    """To three digits; no p is zero."""
    return "< 0.001" if p < 0.0005 else f"{p:.3f}"


def budget_by_k_table(budget: pl.DataFrame) -> Table:
    """All generators together: what each further candidate per query costs and brings."""
    every = budget.filter(pl.col("n_generators") == budget["n_generators"].max()).sort("k")
    n = every["n_generators"][0]
    return _budget(every, "one generator, by k" if n == 1 else f"all {n} generators, by k", "k", "k")


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
    if by == "n_pairs":  # nobody knows yet what any of them finds
        return _budget(
            best, f"the set of each size with the most different pairs at k = {k}", "generators", "generators"
        )
    return _budget(best, f"the best set of each size at k = {k}", "generators", "generators")


def _budget(rows: pl.DataFrame, title: str, header: str, column: str) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0), min_width=len(title))
    texts = [str(row).replace("+", " + ") for row in rows[column]]
    longest = max((len(word) for text in texts for word in text.split()), default=0)
    table.add_column(header, overflow="fold", min_width=longest + len(" +"))  # no name is broken
    optional = {
        "expected_positives": "expected\npositives",
        "marginal_positives_per_hour": "more\nper hour",
        "recall": "true\npairs in\npool (%)",
        "spearman": "Spearman\nwith true\norder",
    }
    shown = [name for name in optional if name in rows.columns and rows[name].null_count() < len(rows)]
    for name in ("pairs", "hours", *(optional[name] for name in shown)):
        table.add_column(name, justify="right", no_wrap=True)
    for text, row in zip(texts, rows.iter_rows(named=True), strict=True):
        cells = [f"{row['n_pairs']:,}", f"{row['hours']:.1f}"]
        for name in shown:
            value = row[name]
            cell = "–" if value is None else f"{value:.2f}" if name == "spearman" else f"{value:,.0f}"
            if name == "recall" and value is not None:
                cell = f"{100 * value:.1f}"
            if name == "expected_positives" and row["positives_low"] != row["positives_high"]:
                cell += f"\n[dim]{row['positives_low']:,.0f}–{row['positives_high']:,.0f}[/]"
            cells.append(cell)
        table.add_row(escape(text), *cells)
    return table
