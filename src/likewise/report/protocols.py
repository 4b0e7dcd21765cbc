"""The protocols beside the leaderboard, ready for their templates; None where results are of an older evaluation."""

from dataclasses import dataclass
from typing import Any

from likewise.evaluation.pool_recall import PoolRecall
from likewise.evaluation.ranking import MAIN_NAME
from likewise.report.expert_groups import ExpertGroupsTable, expert_groups
from likewise.report.identification import Identification, identification
from likewise.report.leaderboard import Leaderboard
from likewise.report.own_pairs import OwnPairs, own_pairs
from likewise.report.plots.curves import Styles
from likewise.report.pool_order import PoolOrder, pool_order
from likewise.report.rank_bands import RankBands, rank_bands
from likewise.report.tables import Tables
from likewise.report.thumbnails import EmbeddedThumbnails
from likewise.report.unlabelled import Unlabelled, unlabelled_section


@dataclass(frozen=True)
class ProtocolSections:
    """By the name that the page's templates know."""

    own_pairs: OwnPairs | None
    pool_order: PoolOrder | None
    identification: Identification | None
    unlabelled: Unlabelled | None
    rank_bands: RankBands | None
    groups: ExpertGroupsTable | None
    pool_recall: PoolRecall | None


def protocol_sections(tables: Tables, board: Leaderboard, thumbnails: EmbeddedThumbnails) -> ProtocolSections:
    encoders = [model.encoder for model in board.models]
    summary = tables.summary
    return ProtocolSections(
        own_pairs=own_pairs(tables.own_pairs),
        pool_order=pool_order(tables.leave_one_out, tables.leave_one_out_orders, encoders),
        identification=identification(tables.identification, summary.orders, board),
        unlabelled=unlabelled_section(tables.incomplete, tables.next_pairs, board, thumbnails),
        rank_bands=rank_bands(tables.rank_bands),
        groups=expert_groups(tables.expert_groups, summary.expert_groups, encoders),
        pool_recall=summary.pool_recall,
    )


def protocol_plots(sections: ProtocolSections, styles: Styles) -> dict[str, Any]:
    """What matplotlib draws for them; None where there is nothing to draw."""
    from likewise.report.plots.experts import expert_count_plot
    from likewise.report.plots.ranges import range_plot
    from likewise.report.plots.scatter import identification_plot

    drawn: dict[str, Any] = dict.fromkeys(("identification_plot", "bounds_plot", "groups_plot", "expert_count_plot"))
    found, unlabelled, groups = sections.identification, sections.unlabelled, sections.groups
    if found and len(found.points) > 1:
        drawn["identification_plot"] = identification_plot(found.points, styles, found.main)
    if unlabelled and unlabelled.ranges:
        drawn["bounds_plot"] = range_plot("bounds", unlabelled.ranges, styles, MAIN_NAME)
    if groups and groups.ranges:
        drawn["groups_plot"] = range_plot("groups", groups.ranges, styles, MAIN_NAME)
    if groups and groups.numbers["group"].n_unique() > 1:
        drawn["expert_count_plot"] = expert_count_plot(groups.numbers, styles, MAIN_NAME)
    return drawn
