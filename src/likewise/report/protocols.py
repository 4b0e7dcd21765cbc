"""The protocols beside the leaderboard, ready for their templates; None where results are of an older evaluation."""

from typing import Any

from likewise.report.groups import expert_groups
from likewise.report.identification import identification
from likewise.report.leaderboard import Leaderboard
from likewise.report.pictures import Album
from likewise.report.plots.curves import Styles
from likewise.report.pool_order import pool_order
from likewise.report.tables import Tables
from likewise.report.unlabelled import unlabelled


def protocols(tables: Tables, board: Leaderboard, album: Album) -> dict[str, Any]:
    """By the name that the page's templates know."""
    encoders = [model.encoder for model in board.models]
    summary = tables.summary
    return {
        "pool_order": pool_order(tables.leave_one_out, tables.leave_one_out_orders, encoders),
        "identification": identification(tables.identification, summary.orders, board),
        "unlabelled": unlabelled(tables.incomplete, tables.next_pairs, board, album),
        "groups": expert_groups(tables.expert_groups, summary.expert_groups, encoders),
        "pool_recall": summary.pool_recall,
    }


def protocol_plots(made: dict[str, Any], styles: Styles) -> dict[str, Any]:
    """What matplotlib draws for them; None where there is nothing to draw."""
    from likewise.report.plots.ranges import range_plot
    from likewise.report.plots.scatter import identification_plot

    drawn: dict[str, Any] = dict.fromkeys(("identification_plot", "bounds_plot", "groups_plot"))
    found, open_, groups = made["identification"], made["unlabelled"], made["groups"]
    if found and len(found.points) > 1:
        drawn["identification_plot"] = identification_plot(found.points, styles, found.main)
    if open_ and open_.ranges:
        drawn["bounds_plot"] = range_plot("bounds", open_.ranges, styles, "macro ROC-AUC")
    if groups and groups.ranges:
        drawn["groups_plot"] = range_plot("groups", groups.ranges, styles, "macro ROC-AUC")
    return drawn
