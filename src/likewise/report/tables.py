"""Reads what the earlier steps left in the workspace; nothing is computed here."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from likewise.catalog import read_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.budget import BudgetNote, read_budget_note
from likewise.evaluation.stored import read_summary, summary_file
from likewise.evaluation.summary import EvaluationSummary
from likewise.neighbours.index import IndexRecall
from likewise.workspace import WorkspaceFolder, read_json, read_parquet


@dataclass(frozen=True)
class Tables:
    """The tables and notes that the page is drawn from.

    `budget` is None until `likewise plan labels` was run, the other optional ones in results of an older `evaluate`;
    `expert_groups` also where there are no votes of several experts.
    """

    catalog: pl.DataFrame
    pool: pl.DataFrame
    labels: pl.DataFrame
    results: pl.DataFrame
    curves: pl.DataFrame
    mistakes: pl.DataFrame
    overlap: pl.DataFrame
    generators: pl.DataFrame
    budget: pl.DataFrame | None
    budget_note: BudgetNote | None
    differences: pl.DataFrame | None
    own_pairs: pl.DataFrame | None
    leave_one_out: pl.DataFrame | None
    leave_one_out_orders: pl.DataFrame | None
    identification: pl.DataFrame | None
    incomplete: pl.DataFrame | None
    next_pairs: pl.DataFrame | None
    rank_bands: pl.DataFrame | None
    expert_groups: pl.DataFrame | None
    whole_catalog: pl.DataFrame | None  # None where the pool was not drawn with known probabilities
    whole_catalog_differences: pl.DataFrame | None
    summary: EvaluationSummary
    settings: dict[str, Any]
    pool_settings: dict[str, Any]
    recalls: dict[str, IndexRecall]
    encoder_notes: dict[str, dict[str, Any]]
    """Of every model that was measured or contributed to the pool; empty where its vectors are gone."""
    has_truth: bool


def read_tables(workspace: WorkspaceFolder) -> Tables:
    """All of them, or an error that names the command still to run."""
    settings = workspace.settings()
    evaluate = f"likewise evaluate {workspace.quoted}"
    folder = workspace.results_folder
    summary = read_summary(workspace)
    if summary is None:
        raise LikewiseError(
            f"{summary_file(workspace)} does not exist yet, or an older likewise wrote it: run `{evaluate}` first."
        )
    results = read_parquet(folder / "discovery.parquet", evaluate)
    if results.is_empty():
        raise LikewiseError(f"{folder / 'discovery.parquet'} holds no model: run `{evaluate}` again.")

    def optional(name: str) -> pl.DataFrame | None:
        path = folder / f"{name}.parquet"
        return read_parquet(path, evaluate) if path.exists() else None

    pool_notes = _json_or_empty(workspace.pool_settings_file)
    return Tables(
        catalog=read_catalog(workspace),
        pool=read_parquet(workspace.pool_file, f"likewise discover {workspace.quoted}"),
        labels=read_parquet(workspace.labels_file, f"likewise label import {workspace.quoted} VOTES.csv"),
        results=results,
        curves=read_parquet(folder / "curves.parquet", evaluate),
        mistakes=read_parquet(folder / "mistakes.parquet", evaluate),
        overlap=read_parquet(folder / "overlap.parquet", evaluate),
        generators=read_parquet(folder / "generators.parquet", evaluate),
        budget=optional("budget"),
        budget_note=read_budget_note(workspace),
        differences=optional("differences"),
        own_pairs=optional("own_pairs"),
        leave_one_out=optional("leave_one_out"),
        leave_one_out_orders=optional("leave_one_out_orders"),
        identification=optional("identification"),
        incomplete=optional("incomplete"),
        next_pairs=optional("next_pairs"),
        rank_bands=optional("rank_bands"),
        # a table of votes that were replaced by imported labels may still lie there
        expert_groups=optional("expert_groups") if summary.expert_groups else None,
        whole_catalog=optional("catalog") if summary.catalog else None,
        whole_catalog_differences=optional("catalog_differences") if summary.catalog else None,
        summary=summary,
        settings=settings,
        pool_settings=pool_notes.get("settings", {}),
        recalls={generator: IndexRecall(**each) for generator, each in pool_notes.get("index", {}).items()},
        encoder_notes={
            name: _encoder_note(workspace, name) for name in sorted({*results["encoder"], *summary.pool.generators})
        },
        has_truth=workspace.has_truth,
    )


def _encoder_note(workspace: WorkspaceFolder, encoder: str) -> dict[str, Any]:
    return _json_or_empty(workspace.vectors_folder / encoder / "meta.json")


def _json_or_empty(path: Path) -> dict[str, Any]:
    note: dict[str, Any] = read_json(path) if path.exists() else {}
    return note
