"""The report step of a workspace: everything before the page is brought up to date, then the page is written."""

from pathlib import Path

from likewise.discovery.step import pool_part
from likewise.evaluation.budget import renew_budget
from likewise.evaluation.step import renew_results
from likewise.evaluation.stored import results_part
from likewise.labeling.state import labels_part, read_votes_or_reason
from likewise.labeling.step import update_labels
from likewise.progress import ProgressCallback
from likewise.report.write import write_report
from likewise.workspace import WorkspaceFolder


def make_report(workspace: WorkspaceFolder, command: str, on_progress: ProgressCallback | None = None) -> Path:
    """Write report/index.html; labels, results and a budget that are missing or stale are made again first."""
    labels = labels_part(workspace, read_votes_or_reason(workspace))
    if labels.automatic:
        update_labels(workspace)
        labels = labels_part(workspace, read_votes_or_reason(workspace))
    if results_part(workspace, pool_part(workspace), labels).state != "current":
        renew_results(workspace, command, on_progress)
    renew_budget(workspace, on_progress)
    return write_report(workspace, on_progress)
