"""results/ of a workspace: the one place that writes an evaluation, reads its summary, and knows if it is stale."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from likewise.errors import LikewiseError
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.provenance import make_result_note, write_note
from likewise.evaluation.screening import screen_labels
from likewise.evaluation.summary import EvaluationSummary, from_json
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet


def summary_file(workspace: WorkspaceFolder) -> Path:
    return workspace.results_folder / "summary.json"


def store_evaluation(
    workspace: WorkspaceFolder,
    tables: Mapping[str, pl.DataFrame],
    summary: EvaluationSummary,
    pairs: JudgedPairs,
    command: str,
) -> None:
    """Write every table, the note of the long one, and the summary last."""
    for name, table in tables.items():
        write_parquet(table, workspace.results_folder / f"{name}.parquet")
    name = workspace.path.resolve().name
    note = make_result_note(name, pairs, summary.labels, command, summary.lineage.notes)
    write_note(note, workspace.results_folder / "discovery.parquet")
    write_json(summary.to_dict(), summary_file(workspace))


def read_summary(workspace: WorkspaceFolder) -> EvaluationSummary | None:
    """The summary of the stored results; None where there is none that can be read: they are made again."""
    if not summary_file(workspace).exists():
        return None
    try:
        return from_json(EvaluationSummary, read_json(summary_file(workspace)))
    except LikewiseError:
        return None


def unbiased_encoders(workspace: WorkspaceFolder) -> list[str]:
    """Every encoder that has vectors and did not learn from the labels it would be measured on."""
    names = workspace.encoders()
    if not workspace.labels_file.exists() or not workspace.pool_file.exists():
        return names
    learned = screen_labels(workspace, names).learned
    return [name for name in names if name not in learned]


def results_are_current(workspace: WorkspaceFolder) -> bool:
    """Whether results/ was written after everything it rests on, and about every encoder there is."""
    summary = read_summary(workspace)
    if summary is None or summary.encoders != unbiased_encoders(workspace):
        return False
    written = summary_file(workspace).stat().st_mtime_ns  # the last file that `evaluate` writes
    rests_on = [workspace.catalog_file, workspace.pool_file, workspace.labels_file]
    rests_on += workspace.vectors_folder.glob("*/meta.json")
    return all(path.stat().st_mtime_ns <= written for path in rests_on if path.exists())
