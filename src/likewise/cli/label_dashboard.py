"""The owner's board in a terminal."""

from typing import TYPE_CHECKING

from rich.box import SIMPLE
from rich.markup import escape
from rich.table import Table

from likewise.cli.console import console, echo, format_hours
from likewise.report.formatting import plural

if TYPE_CHECKING:
    from likewise.labeling.dashboard import Dashboard

HEADINGS = (  # short lines: the table fits 80 columns, also with long names
    "answered",
    "per\nhour",
    "s per\npair",
    "time\nleft",
    "repeats\nsame",
    "control\npairs",
    "agrees",
)


def print_dashboard(board: "Dashboard", stability: str, ties: str) -> None:
    """Progress by expert, then agreement, cost and whether more labels would matter; what becomes of ties."""
    echo(f"[bold]{escape(board.project.name)}[/]{'  (paused)' if board.project.paused else ''}")
    console().print(_experts(board))
    if board.project.repeat_share and any(row.total for row in board.experts):
        share = f"{100 * board.project.repeat_share:g} %"
        echo(
            f"[dim]answered counts hidden repeats ({share} of the pairs) and control pairs, beside the "
            f"{board.cost.pairs:,} pairs[/]"
        )
    for row in board.experts:
        if row.hasty:
            echo(
                f"[bold]{escape(row.name)} answers faster than anybody can look[/]: more than half of the answers took "
                "less than 1 s; look at them before they count (`likewise label remove-votes` takes them out)"
            )
    agreed = board.agreement
    interval = f" ({agreed.alpha_low:.2f} to {agreed.alpha_high:.2f})" if agreed.alpha_low is not None else ""
    echo(f"agreement: alpha {_number(agreed.alpha, 2)}{interval}, kappa {_number(agreed.kappa, 2)}")
    for reason in agreed.reasons:
        echo(f"  [dim]{escape(reason)}[/]")
    if graded := agreed.graded:
        alpha, kappa = graded.ordinal_alpha.value, graded.weighted_kappa.value
        echo(f"  of the grades: ordinal alpha {_number(alpha, 2)}, weighted kappa {_number(kappa, 2)}")
    if on_random := agreed.random:
        alpha, kappa = on_random.krippendorff_alpha.value, on_random.fleiss_kappa.value
        echo(f"  on {on_random.n_pairs:,} random pairs, apart: alpha {_number(alpha, 2)}, kappa {_number(kappa, 2)}")
    share = "–" if board.positives_share is None else f"{100 * board.positives_share:.0f} %"
    tied = f", {board.n_tied:,} of them tied ({ties})" if board.n_tied else ""
    divided = plural(board.n_divided, "pair")
    echo(f"similar so far: {share} of the answered pairs; {divided} on which experts disagree{tied}")
    cost = board.cost
    left = "" if cost.hours_left is None else f", {_time(cost.hours_left)} left"
    brute = "" if cost.brute_force_hours is None else f"; brute force: {_time(cost.brute_force_hours)} each"
    speed = "" if cost.speed_up is None else f" ({cost.speed_up:,.0f}x more pairs)"
    untimed = f" (without {cost.untimed:,} answers that came without a time)" if cost.untimed else ""
    echo(f"time: {_time(cost.hours_spent)} spent on {cost.pairs:,} pairs{untimed}{left}{brute}{speed}")
    echo(f"would more labels change the order of the models? {escape(stability)}")


def _experts(board: "Dashboard") -> Table:
    table = Table(box=SIMPLE)
    table.add_column("expert", overflow="fold", min_width=8)
    for heading in HEADINGS:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in board.experts:
        state = "" if row.state == "active" else f" ({row.state})"
        table.add_row(
            escape(row.name + state),
            f"{row.answered:,} / {row.total:,}",
            _number(row.pace_per_hour),
            _number(row.seconds_per_pair, 1),
            _time(row.hours_left),
            _share(row.self_consistency),
            _share(row.catch_correct),
            _share(row.agreement),
        )
    return table


def _time(hours: float | None) -> str:
    """Of work: never in days, which have more hours than anybody works."""
    if hours is None:
        return "–"
    return "0" if hours == 0 else format_hours(hours) if hours < 48 else f"{hours:,.0f} h"


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.0f} %"
