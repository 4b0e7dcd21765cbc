"""The labels of a workspace for others: one function for the command, the owner's download and everything else."""

from dataclasses import dataclass

import polars as pl

from likewise.discovery.step import read_pool, retired_pairs
from likewise.evaluation.exchange.labels_io import drop_random_pairs, labels_content
from likewise.labeling.step import current_labels
from likewise.workspace import WorkspaceFolder


@dataclass(frozen=True)
class ExportedLabels:
    """A file of labels; `n_random` of all labels are of pairs that only chance proposed."""

    content: bytes
    n_labels: int
    n_random: int


def export_labels(
    workspace: WorkspaceFolder, ending: str, *, as_evaluated: bool = False, name: str = ""
) -> ExportedLabels:
    """The labels under their rule, as a file with this ending; `as_evaluated` leaves random pairs out."""
    labels = current_labels(workspace)
    used = _without_random_pairs(workspace, labels)
    chosen = used if as_evaluated else labels
    return ExportedLabels(labels_content(chosen, ending, name), len(chosen), len(labels) - len(used))


def evaluated_labels(workspace: WorkspaceFolder) -> pl.DataFrame:
    """The labels that models are measured on: not those of pairs that only chance proposed."""
    return _without_random_pairs(workspace, current_labels(workspace))


def _without_random_pairs(workspace: WorkspaceFolder, labels: pl.DataFrame) -> pl.DataFrame:
    if not workspace.pool_file.exists():
        return labels
    return drop_random_pairs(labels, read_pool(workspace).rows, retired_pairs(workspace))
