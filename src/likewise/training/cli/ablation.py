"""What `likewise train check --ablate` prints: one table, and where the plot is."""

import polars as pl
from rich.box import SIMPLE
from rich.table import Table

from likewise.cli.console import console, echo, echo_json, escape, to_records
from likewise.cli.tables import change_with_interval, percent, rounded_p
from likewise.training.ablation import AblationResult
from likewise.training.differences import MAIN
from likewise.training.report.ablation import EMBEDDING, setting_name, write_ablation_page


def print_ablation(done: AblationResult, workspace: str, *, as_json: bool) -> None:
    """The settings of every loss beside the plan."""
    page = write_ablation_page(done, workspace)
    if as_json:
        echo_json({"ablation": to_records(done.table), "notes": list(done.notes), "page": str(page)})
        return
    shown = Table(title=f"{MAIN} on test classes, one setting changed at a time (%)", title_justify="left", box=SIMPLE)
    for heading in ("loss", "setting"):
        shown.add_column(heading)
    for heading in (MAIN, "from the plan", "p (Holm)"):
        shown.add_column(heading, justify="right")
    for row in done.table.filter(pl.col("measure") == MAIN, pl.col("embedding") == EMBEDDING).iter_rows(named=True):
        change = ""
        if row["difference"] is not None:
            change = change_with_interval(row["difference"], row["difference_low"], row["difference_high"])
        p = "" if row["p_holm"] is None else rounded_p(row["p_holm"])
        margin = "" if row["low"] is None else f" ±{percent((row['high'] - row['low']) / 2)}"
        name = setting_name(row["factor"], row["setting"])
        shown.add_row(escape(row["method"]), escape(name), f"{percent(row['value'])}{margin}", change, p)
    console().print(shown)
    for sentence in done.notes:
        echo(f"[yellow]{escape(sentence)}[/]")
    echo(
        "[dim]the hyper-parameters of a loss are those searched under the plan; another optimiser has the best of "
        "three learning rates; reruns and test classes count as chance[/]"
    )
    echo(f"everything is in [bold]{escape(done.run.path)}[/]; look at [bold]{escape(page)}[/]")
