"""The first sentences of the page: which model is best, how sure that is, and what it rests on."""

from typing import Any

from likewise.discovery.unit import UNIT_NAMES
from likewise.evaluation.fidelity import TruthCoverage
from likewise.evaluation.ranking import MAIN_NAME
from likewise.evaluation.summary import EvaluationSummary
from likewise.labeling.consensus import TIES
from likewise.report.catalog_board import CatalogBoard
from likewise.report.differences import Difference, not_significantly_worse
from likewise.report.formatting import NBSP, format_amount, interval, join_names, percent, plural, small_percent
from likewise.report.leaderboard import Leaderboard
from likewise.report.plots.ranges import PlotRange

RULES = {
    "majority": f"majority of the votes (ties are {TIES['majority']})",
    "exclude": f"majority of the votes (ties are {TIES['exclude']})",
    "mean": f"mean of the grades, or share of the votes (ties are {TIES['mean']})",
    "dawid-skene": "Dawid–Skene (experts weighted by their estimated reliability)",
}
MAX_RIVALS = 4  # whose distance the headline gives
CHANCE = 0.5  # ROC-AUC of an order by lot
TEST_DESCRIPTION = "paired over the same queries, p after Holm’s correction"


def headline_verdict(
    board: Leaderboard, differences: dict[str, Difference] | None, name: str, no_rank: str | None = None
) -> tuple[str, str]:
    """The sentence to remember and the numbers behind it; `no_rank` says why nobody may be called best."""
    best = board.models[0]
    if best.main.value is None:
        return (
            "The models cannot be ranked with these labels",
            f"None of the {plural(board.n_queries_total, 'query', 'queries')} has an item labelled similar, "
            f"so {MAIN_NAME} is undefined.",
        )
    if no_rank is not None:
        highest = f"{best.encoder} has the highest {MAIN_NAME}, {percent(best.main.value)}{NBSP}%"
        return "The models are not ranked by these labels", f"{no_rank[0].upper()}{no_rank[1:]}. {highest}."
    others = [model.encoder for model in board.models[1:] if model.main.value is not None]
    ends = interval(best.main.low, best.main.high)
    numbers = (
        f"It scores an item labelled similar above one drawn from the gallery in {percent(best.main.value)}{NBSP}% "
        f"of cases ({MAIN_NAME}), 95{NBSP}% interval {ends}"
    )
    if not others:
        return f"{best.encoder} is the only model that could be measured", f"{numbers}."
    if differences is None:
        again = f"run “likewise evaluate {name}” again to see which differences are significant"
        return f"{best.encoder} has the highest {MAIN_NAME}", f"{numbers}; {again}."
    tied = not_significantly_worse(board, differences)
    if best.main.low is not None and best.main.low <= CHANCE:
        lead = "No model is shown to be better than chance at finding what people call similar"
        return lead, f"The best, {best.encoder}: {numbers[0].lower()}{numbers[1:]}; a random order has 50{NBSP}%."
    if tied:
        lead = f"{best.encoder} leads, but not significantly over {join_names(tied)}"
        named = tied if len(tied) <= MAX_RIVALS else tied[: MAX_RIVALS - 1]
        near = join_names([f"{differences[other].text} over {other}" for other in named])
        near += "" if named == tied else f" (the nearest {len(named)} of {len(tied)})"
        lost = [other for other in tied if differences[other].lost_by_correction]
        if not lost:
            return lead, f"{numbers}. Its lead is {near}, {TEST_DESCRIPTION}."
        after = f"after correction for {plural(differences[lost[0]].n_comparisons, 'comparison')}"
        alone = f"Taken alone the lead over {join_names(lost)} would be significant; {after} it is not"
        if lost == tied:
            lead = f"{best.encoder} leads, but over {join_names(tied)} not significantly {after}"
        return lead, f"{numbers}. Its lead is {near}, {TEST_DESCRIPTION}. {alone}."
    lead = f"{best.encoder} finds best what people call similar"
    return (
        lead,
        f"{numbers}. Its lead over the next, {others[0]}, is {differences[others[0]].text}, {TEST_DESCRIPTION}.",
    )


def main_ranges(board: Leaderboard, whole: CatalogBoard | None) -> tuple[str, list[PlotRange]]:
    """What the chart below the title shows: every model's main measure with its 95 % interval, best first."""
    if whole is not None:
        cells = [(row.encoder, row.cells[0]) for row in whole.rows]
    else:
        cells = [(model.encoder, model.main) for model in board.models]
    known = [
        PlotRange(encoder, cell.low, cell.high, value=cell.value)
        for encoder, cell in cells
        if cell.value is not None and cell.low is not None and cell.high is not None
    ]
    return f"{whole.main} over the whole catalog" if whole is not None else MAIN_NAME, known


def headline_basis(board: Leaderboard, summary: EvaluationSummary) -> str:
    """Queries, pairs, experts and rule."""
    labels, half = summary.labels, summary.settings.half_note
    asked = f"{plural(board.n_queries_total, 'query', 'queries')} against {plural(summary.n_gallery, 'image')}"
    asked = f"{half[0].upper()}{half[1:]}: {asked}" if half else asked
    pairs, n_experts = plural(board.n_pairs, "labelled pair"), labels.agreement.n_experts
    if not n_experts:
        return f"{asked}; {pairs}, imported without votes."
    kind = "simulated expert" if labels.simulated else "expert"
    rule = labels.consensus.rule
    return f"{asked}; {pairs} by {plural(n_experts, kind)}; consensus: {RULES.get(rule, rule)}."


def truth_sentence(truth: TruthCoverage | None) -> str | None:
    """Where the truth is known: what was found of it, and at what cost."""
    if not truth:
        return None
    return (
        f"The truth of this catalog is known: the pool and the experts found {percent(truth.recall)}{NBSP}% of "
        f"all truly similar pairs ({truth.found:,} of {truth.similar:,}) at {small_percent(truth.cost)}{NBSP}% of the "
        "brute-force cost."
    )


def exclusion_notes(
    board: Leaderboard, summary: EvaluationSummary, settings: dict[str, Any], n_missing: int
) -> list[str]:
    """What the numbers do not rest on, each with its count; empty if nothing was left out."""
    notes = []
    main = board.columns[0].queries
    if main.split("/")[0] != main.split("/")[1]:
        notes.append(f"the ranking rests on {main} queries: the others have no item labelled similar")
    if summary.shared_items_note:
        notes.append(summary.shared_items_note)
    counted = (
        (settings.get("left_out", 0), "unreadable or repeated image", "when the catalog was made"),
        (summary.n_gallery_without_vectors, "gallery image", "without vectors of every model"),
        (summary.n_queries_without_vectors, "query", "without vectors of every model"),
    )
    for n, what, why in counted:
        if n:
            notes.append(f"{plural(n, what, 'queries' if what == 'query' else what + 's')} left out {why}")
    unanswered = summary.labels.consensus.n_unanswered
    if unanswered:
        notes.append(f"{plural(unanswered, 'pair')} without a label: every answer was “cannot tell”")
    if n_missing:
        notes.append(f"{plural(n_missing, 'picture')} on this page could not be read: a placeholder is shown instead")
    return notes


def key_facts(summary: EvaluationSummary) -> list[tuple[str, str, str]]:
    """Four numbers to remember: (value, unit or name, what it is)."""
    cost, agreed = summary.prevalence, summary.labels.agreement
    rows = [
        (
            format_amount(cost.hours_pool),
            "hours",
            f"of labelling per expert instead of {format_amount(cost.hours_brute_force)}",
        ),
        (
            f"{format_amount(cost.speed_up)}×",
            "fewer pairs",
            f"than all {cost.n_all_pairs:,} {UNIT_NAMES[cost.unit]} pairs",
        ),
    ]
    if summary.truth:
        truth = summary.truth
        rows.append((f"{percent(truth.recall)}{NBSP}%", "found", "of all truly similar pairs"))
    elif cost.p_pool is not None:
        rows.append((f"{percent(cost.p_pool)}{NBSP}%", "similar", f"of {cost.n_labelled:,} labelled candidates"))
    alpha = agreed.krippendorff_alpha.value
    if alpha is not None:
        rows.append((f"{alpha:.2f}", "Krippendorff’s α", "agreement of the experts on the pool’s pairs, 1 is perfect"))
    return rows
