"""The protocols beside the leaderboard, as a terminal shows them."""

from typing import TYPE_CHECKING

import polars as pl
from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import console, echo, escape
from likewise.cli.tables import broken_heading, over_interval, p_value, percent, print_few_queries, with_interval
from likewise.cli.vsd_tables import print_vsd_tables
from likewise.evaluation.measures import cutoff_of, nDCG
from likewise.evaluation.rank_correlation import few_models_note
from likewise.evaluation.ranking import MAIN_NAME
from likewise.lineage.guard import MARK

if TYPE_CHECKING:
    from likewise.evaluation.step import Evaluated

ENDS = ("value", "low", "high")
AFTER_THE_DESIGN = (
    "every pair that was drawn has a label; `likewise discover`, run again, draws a next round if there is one"
)
PROTOCOLS = {
    "discovery": ("discovery", "differences", "own_pairs", "catalog", "catalog_differences"),
    "leave-one-out": ("leave_one_out", "leave_one_out_orders"),
    "identification": ("identification",),
    "incomplete": ("incomplete", "next_pairs"),
    "experts": ("expert_groups",),
    "recall": (),
    "bands": ("rank_bands",),
    "tables": ("table_2", "table_3", "table_4", "table_5"),
}


def result_tables(protocols: list[str]) -> set[str]:
    """The tables that belong to some protocols."""
    return {name for protocol in protocols for name in PROTOCOLS[protocol]}


def print_protocol(name: str, done: "Evaluated") -> None:
    """Print one protocol's tables and what they say."""
    {
        "leave-one-out": _leave_one_out,
        "identification": _identification,
        "incomplete": _incomplete,
        "experts": _experts,
        "recall": _recall,
        "bands": _bands,
        "tables": print_vsd_tables,
    }[name](done)


def _print(title: str, headers: list[str], rows: list[list[str]]) -> None:
    table = Table(title=title, title_justify="left", box=SIMPLE, padding=(0, 1, 0, 0))
    table.add_column(headers[0])
    for header in headers[1:]:
        table.add_column(header, justify="right")
    for name, *numbers in rows:
        table.add_row(escape(name), *numbers)
    console().print(table)


def _leave_one_out(done: "Evaluated") -> None:
    models, orders = done.tables["leave_one_out"], done.tables["leave_one_out_orders"]
    if orders.is_empty():
        echo("no generator proposed the pairs of these labels, so none can be left out")
        return
    names = models["measure"].unique(maintain_order=True).to_list()
    smallest = min(filter(None, map(cutoff_of, names)), default=0)
    names = [name for name in names if cutoff_of(name) in (None, smallest) and not name.startswith(nDCG.NAME)]
    headers = ["", *map(broken_heading, names)]
    cells = {(row["encoder"], row["measure"]): row for row in models.iter_rows(named=True)}
    _print(
        "Each model over the ground truths with one generator left out, mean ± sd (%)",
        headers,
        [
            [encoder, *(f"{percent(cells[encoder, n]['mean'])}\n±{percent(cells[encoder, n]['sd'])}" for n in names)]
            for encoder in models["encoder"].unique(maintain_order=True)
        ],
    )
    order = {(row["removed"], row["measure"]): row for row in orders.iter_rows(named=True)}

    def cell(removed: str, name: str) -> str:
        row = order[removed, name]
        if row["spearman"] is None:
            return "–"
        return f"{row['spearman']:.2f}\n({p_value(row)})"

    _print(
        "Order of the models without a generator against the full order, Spearman (p)",
        ["removed", *headers[1:]],
        [
            [removed, *(cell(removed, name) for name in names)]
            for removed in orders["removed"].unique(maintain_order=True)
        ],
    )
    _print_few_models(max(orders["n_models"].to_list(), default=0))


def _print_few_models(n_models: int) -> None:
    if note := few_models_note(n_models):
        echo(f"[bold]{note}[/]")


def _identification(done: "Evaluated") -> None:
    table = done.tables["identification"]
    measures = table["measure"].unique(maintain_order=True).to_list()
    cells = {(row["encoder"], row["measure"]): row for row in table.iter_rows(named=True)}
    first = table.row(0, named=True)
    _print(
        "Identification: finding other images of the query's own item (%)",
        ["model", *map(broken_heading, measures)],
        [
            [
                f"{name} {MARK}" if cells[name, measures[0]]["learned"] else name,
                *(over_interval(*(cells[name, measure][end] for end in ENDS)) for measure in measures),
            ]
            for name in table["encoder"].unique(maintain_order=True)
        ],
    )
    echo(f"[dim]{first['n_queries']} of {first['n_queries_total']} queries have another image of their item[/]")
    print_few_queries(first["n_queries"])
    orders = done.summary.orders
    if orders is not None and orders.spearman is not None:
        echo(
            f"order by identification ({orders.identification}) against order by discovery ({MAIN_NAME}), "
            f"{orders.n_models} models: Spearman {orders.spearman:.2f} "
            f"({orders.spearman_low:.2f} to {orders.spearman_high:.2f}), Kendall {orders.kendall:.2f} "
            f"({orders.kendall_low:.2f} to {orders.kendall_high:.2f})"
        )
        _print_few_models(orders.n_models)


def _incomplete(done: "Evaluated") -> None:
    table, waiting = done.tables["incomplete"], done.tables["next_pairs"]
    k = table["k"][0]
    _print(
        f"If the unlabelled candidates of each model's top {k} were all negative, or all positive",
        ["model", "bpref", "unlabelled", "gallery ROC_AUC, from", "to"],
        [
            [
                row["encoder"],
                with_interval(row["bpref"], row["bpref_low"], row["bpref_high"]),
                f"{row['n_unlabelled']:,}",
                percent(row["auc_low"]),
                percent(row["auc_high"]),
            ]
            for row in table.iter_rows(named=True)
        ],
    )
    if done.design != "eds":
        echo(f"{len(waiting)} pairs of the design wait for a label: results/next_pairs.parquet")
        if waiting.is_empty():
            echo(f"  {AFTER_THE_DESIGN}")
        return
    echo(f"{len(waiting)} pairs whose labels would be most informative: results/next_pairs.parquet")
    echo("  `likewise label add-pairs WORKSPACE --pairs FILE` adds them to the labelling site")


def _experts(done: "Evaluated") -> None:
    groups_summary = done.summary.expert_groups
    if groups_summary is None:
        echo("expert groups need the votes of at least two experts; these labels came without them")
        return
    values = done.tables["expert_groups"]
    encoders = values["encoder"].unique(maintain_order=True).to_list()
    named = values.filter(pl.col("kind").is_in(["rule", "expert"]))
    cells = {(row["kind"], row["group"], row["encoder"]): row for row in named.iter_rows(named=True)}
    groups = named.select("kind", "group", "n_queries").unique(maintain_order=True).rows()
    rows = [
        [
            f"{kind}: {group} ({n_queries})",
            *(over_interval(*(cells[kind, group, name][end] for end in ENDS)) for name in encoders),
        ]
        for kind, group, n_queries in groups
    ]
    spread = (
        values.filter(pl.col("kind") == "group")
        .group_by("encoder")
        .agg(low=pl.col("value").quantile(0.025), high=pl.col("value").quantile(0.975))
    )
    ends = {row["encoder"]: row for row in spread.iter_rows(named=True)}
    rows.append(["resampled groups", *(f"{percent(ends[n]['low'])}–{percent(ends[n]['high'])}" for n in encoders)])
    _print("Gallery ROC-AUC under other labels from the same votes (%)", ["labels by (queries)", *encoders], rows)
    numbers = [
        [
            f"{each.n_experts}",
            f"{each.n_groups}",
            "–" if each.winner_share is None else f"{100 * each.winner_share:.0f}",
            "–" if each.mean_distance is None else f"{100 * each.mean_distance:.1f}",
        ]
        for each in groups_summary.by_number
    ]
    headings = ["experts", "groups", f"{groups_summary.winner} first (%)", "distance from all (points)"]
    _print("How many experts? Groups of different experts", headings, numbers)
    if groups_summary.winner_share is None:
        echo("no resampled group of experts orders the models")
        return
    echo(
        f"{groups_summary.winner} stays first in {100 * groups_summary.winner_share:.0f} % of "
        f"{groups_summary.n_groups} resampled groups of experts"
    )


def _recall(done: "Evaluated") -> None:
    found = done.summary.pool_recall
    if found is None or found.missed is None:
        echo("no random pair has a label, so the recall of the pool cannot be estimated")
        return
    echo(
        f"the pool holds {found.found:,} positives; {found.n_random_missed} of {found.n_random} random pairs "
        f"are similar and outside it, which gives an estimate of {found.missed:,.0f} missed "
        f"({found.missed_low:,.0f} to {found.missed_high:,.0f}): recall {100 * (found.recall or 0):.0f} % "
        f"({100 * (found.recall_low or 0):.0f} to {100 * (found.recall_high or 0):.0f})"
    )


def _bands(done: "Evaluated") -> None:
    table = done.tables["rank_bands"]
    if table.is_empty():
        echo("no pairs were drawn by rank: `likewise label add-pairs WORKSPACE --by-rank 0-5,6-19,20-99,100-499` does")
        return
    _print(
        "Similar pairs by the rank that a generator gives them (%)",
        ["ranks", "pairs", "labelled of drawn", "similar", "share", "95 % interval"],
        [
            [
                f"{row['first_rank'] + 1}–{row['last_rank'] + 1}",
                f"{row['n_pairs']:,}",
                f"{row['n_labelled']:,} of {row['n_drawn']:,}",
                f"{row['n_similar']:,}",
                percent(row["share"]),
                f"{percent(row['low'])}–{percent(row['high'])}",
            ]
            for row in table.iter_rows(named=True)
        ],
    )
    echo("[dim]ranks are counted from 1 here; every pair of a band was drawn with the same chance[/]")
