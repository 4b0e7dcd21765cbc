"""Tables 2 to 6 of the VSD paper as a terminal shows them: its columns, and an interval under every number."""

from typing import TYPE_CHECKING, Any

from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import console, echo, escape
from likewise.cli.tables import over_interval, p_value, percent
from likewise.evaluation.measures import ROC_AUC
from likewise.evaluation.rank_correlation import few_models_note
from likewise.evaluation.ranking import measure_is

if TYPE_CHECKING:
    import polars as pl

    from likewise.evaluation.step import Evaluated

SHORT = {"ROC-AUC": "ROC", "PR-AUC": "PR", "annotated": "anno.", "sampled": "neg."}


def print_vsd_tables(done: "Evaluated") -> None:
    """All of them; the last is Table 5, or Table 6 where the queries are pictures in the wild."""
    if done.tables["table_3"].is_empty():
        echo("no tables 2 and 3: no generator proposed the pairs of these labels")
    else:
        _overlap(done.tables["table_2"])
        _robustness(done.tables["table_3"])
    _wide(done.tables["table_4"], "Table 4: identification (%)")
    _wide(done.tables["table_5"], _discovery_title(done))
    same = done.tables["identification"].row(0, named=True)
    n_both = max(done.results.filter(measure_is(ROC_AUC))["n_queries"].to_list(), default=0)
    echo(
        f"[dim]of {same['n_queries_total']} queries, identification rests on {same['n_queries']} with another image of "
        f"their item, macro areas on {n_both} with both classes; {len(done.pairs):,} labelled pairs. "
        "Intervals: 95 %, over queries. anno.: labelled negatives, neg.: sampled ones, from "
        f"{escape(str(done.summary.settings.negatives))}.\n"
        "The headings are the paper's: its HR@k of discovery is precision (P@k elsewhere in likewise), its MRR@k "
        "counts every positive and is divided by a harmonic sum (VSD_MRR@k); in identification HR is capped by the "
        "images there are (Recall_cap@k), MRR is not. PR-AUC is average precision (AP).[/]"
    )
    if why := done.summary.no_sampled_negatives:
        echo(f"[dim]no sampled negatives: {escape(why)}[/]")


def _discovery_title(done: "Evaluated") -> str:
    """Table 5 is of queries that belong to the catalog (closed, in the paper's sense), Table 6 of others."""
    gallery = set(done.pairs.gallery)
    n_inside = sum(query in gallery for query in done.pairs.queries)
    if n_inside == len(done.pairs.queries):
        return "Table 5: discovery, closed catalog: the queries belong to it (%)"
    if not n_inside:
        return "Table 6: discovery, the queries are not of the catalog (%)"
    return f"Tables 5 and 6: discovery, {n_inside} of {len(done.pairs.queries)} queries belong to the catalog (%)"


def _overlap(matrix: "pl.DataFrame") -> None:
    names = matrix["generator"].to_list()
    table = _new("Table 2: candidates that two generators share (% of queries x k)", "", names)
    for row in matrix.iter_rows(named=True):
        table.add_row(escape(row["generator"]), *(percent(row[name]) for name in names))
    console().print(table)


def _robustness(rows: "pl.DataFrame") -> None:
    head = [f"{average}\n{name}" for average in ("micro", "macro") for name in ("ROC-AUC", "SC", "p")]
    n_models = max(rows["n_models"].to_list(), default=0)
    table = _new(f"Table 3: one generator left out; order of {n_models} models", "left out", head)
    for row in rows.iter_rows(named=True):
        table.add_row(escape(row["generator"]), *_left(row, "micro"), *_left(row, "macro"))
    console().print(table)
    if note := few_models_note(n_models):
        echo(f"[bold]{note}[/]")


def _left(row: dict[str, Any], average: str) -> list[str]:
    spearman = row[f"{average} spearman"]
    area = f"{percent(row[f'{average} AUC'])} ±{percent(row[f'{average} sd'])}"
    return [area, "–" if spearman is None else f"{spearman:.2f}", p_value(row, f"{average} ")]


def _wide(rows: "pl.DataFrame", title: str) -> None:
    """Generators above new models where there are groups; PR-AUC in a table of its own, so that 80 columns suffice."""
    measures = [name for name in rows.columns if f"{name} low" in rows.columns]
    precision = [name for name in measures if name.startswith("PR-AUC")]
    for heading, chosen in (
        (title, [name for name in measures if name not in precision]),
        (f"{title}, continued", precision),
    ):
        if chosen:
            _part(rows, heading, chosen)


def _part(rows: "pl.DataFrame", title: str, measures: list[str]) -> None:
    table = _new(title, "model", ["\n".join(SHORT.get(part, part) for part in name.split(" ")) for name in measures])
    group = None
    for row in rows.iter_rows(named=True):
        if row.get("group") != group:
            group = row["group"]
            table.add_section()
            table.add_row(f"[dim]{group}[/]")
        cells = (over_interval(row[name], row[f"{name} low"], row[f"{name} high"], digits=0) for name in measures)
        table.add_row(escape(row["encoder"]), *cells)
    console().print(table)


def _new(title: str, first: str, columns: list[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(first)
    for name in columns:
        table.add_column(name, justify="right", no_wrap=True)
    return table
