"""The goal of a workspace on its labels of now; nothing is written, so an owner may look as often as he likes."""

from dataclasses import asdict, dataclass
from typing import Any

from likewise.errors import LikewiseError
from likewise.evaluation.estimates.workspace import estimate_workspace, why_no_estimates
from likewise.evaluation.judged import read_inputs
from likewise.evaluation.stopping.goal import LabelingGoal, read_goal
from likewise.evaluation.stopping.settled import Settlement, settle_goal
from likewise.evaluation.summary import DEFAULT_SETTINGS
from likewise.labeling.step import current_labels
from likewise.workspace import WorkspaceFolder

PAGE_ENTRIES = 20_000_000
"""Scores (encoders x queries x images) up to which a page may compute the answer while somebody waits."""


@dataclass(frozen=True)
class GoalStatus:
    """The goal with its answer; or why there is none (`problem`), where there is a goal at all."""

    goal: LabelingGoal | None = None
    settlement: Settlement | None = None
    problem: str = ""
    hours_left: float | None = None

    def to_dict(self) -> dict[str, Any]:
        left = None if self.settlement is None else self.settlement.labels_left
        return asdict(self) | {"labels_left": left}


def goal_status(
    workspace: WorkspaceFolder, hours_per_label: float | None = None, *, max_entries: int | None = None
) -> GoalStatus:
    """The answer for now; with what a label costs, the hours likely left. Beyond `max_entries` it is not computed."""
    try:
        goal = read_goal(workspace)
        if goal is None:
            return GoalStatus()
    except LikewiseError as error:
        return GoalStatus(problem=str(error))
    try:
        settlement = settlement_now(workspace, goal, max_entries)
    except LikewiseError as error:  # e.g. no labels yet: whoever asks has other things to show
        return GoalStatus(goal, problem=f"Not known: {error}")
    left = settlement.labels_left
    hours = None if left is None or hours_per_label is None else left * hours_per_label
    return GoalStatus(goal, settlement, hours_left=hours)


def settlement_now(workspace: WorkspaceFolder, goal: LabelingGoal, max_entries: int | None = None) -> Settlement:
    """Estimate the whole catalog from the labels of now, and answer."""
    inputs = read_inputs(workspace, current_labels(workspace), None, DEFAULT_SETTINGS)
    if inputs.pool.settings.design == "eds":
        raise LikewiseError(
            "the pool is an EDS pool, whose labels say nothing of the whole catalog: draw the pairs with `likewise "
            f"discover {workspace.quoted} --design sampled`."
        )
    entries = len(inputs.encoders) * len(inputs.pairs.queries) * len(inputs.pairs.gallery)
    if max_entries is not None and entries > max_entries:
        raise LikewiseError(f"this takes minutes here: run `likewise label status {workspace.quoted}`.")
    found = estimate_workspace(workspace, inputs, (goal.cutoff,), DEFAULT_SETTINGS.seed)
    if found is None:
        raise LikewiseError(
            why_no_estimates(inputs) or "every model that has vectors learned from these labels: encode another one."
        )
    return settle_goal(goal, found.estimates)
