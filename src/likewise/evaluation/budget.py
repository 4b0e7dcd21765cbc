"""The budget table: what each k and each set of generators would cost and find; the file notes what it rests on."""

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import polars as pl

from likewise.catalog import read_catalog
from likewise.chain import table_digest
from likewise.discovery import budget_table
from likewise.discovery.prevalence import SECONDS_PER_PAIR
from likewise.discovery.step import PoolSettings, make_pool, stored_settings
from likewise.discovery.stored_pool import budget_settings
from likewise.encoders.storage.files import vectors_digest
from likewise.encoders.storage.reading import read_vectors
from likewise.evaluation.fidelity import fidelity_table
from likewise.evaluation.truth import ground_truth, truth_digest
from likewise.labeling.state import labels_digest
from likewise.labeling.step import read_labels_if_any
from likewise.progress import ProgressCallback
from likewise.workspace import WorkspaceFolder, read_parquet, write_parquet

NOTE = "likewise"


@dataclass(frozen=True)
class BudgetNote:
    """How the table was asked for, and what it rests on."""

    settings: PoolSettings
    seconds_per_pair: float
    rests_on: dict[str, str]


def budget_file(workspace: WorkspaceFolder) -> Path:
    return workspace.results_folder / "budget.parquet"


def write_budget(
    workspace: WorkspaceFolder,
    settings: PoolSettings,
    seconds_per_pair: float = SECONDS_PER_PAIR,
    on_progress: ProgressCallback | None = None,
) -> pl.DataFrame:
    """Write and return results/budget.parquet, k up to `settings.k`; with recall and fidelity if the truth is known."""
    pool = make_pool(workspace, settings, on_progress)
    labels = read_labels_if_any(workspace)
    table = budget_table(pool.rows, labels, seconds_per_pair, pool.counter)
    if workspace.has_truth:
        vectors = {
            name: (
                read_vectors(workspace, name, pool.query_gallery.queries),
                read_vectors(workspace, name, pool.query_gallery.gallery),
            )
            for name in settings.generators
        }
        truth = ground_truth(workspace, pool.query_gallery)
        fidelity = fidelity_table(pool.rows, pool.query_gallery, truth, vectors, on_progress)
        table = table.join(fidelity.select("generators", "k", "recall", "spearman"), on=["generators", "k"], how="left")
    note = BudgetNote(settings, seconds_per_pair, _basis(workspace, settings.generators))
    write_parquet(table, budget_file(workspace), {NOTE: json.dumps(asdict(note), sort_keys=True)})
    return table


def renew_budget(workspace: WorkspaceFolder, on_progress: ProgressCallback | None = None) -> None:
    """Make the table again, as it was asked for, where labels, vectors or images are other ones now."""
    path = budget_file(workspace)
    if not path.exists():
        return
    table = read_parquet(path, f"likewise plan labels {workspace.quoted}")
    note = read_budget_note(workspace)
    if note is None:  # an earlier version wrote it
        ks: list[int] = table["k"].to_list()
        note = BudgetNote(budget_settings(workspace, max(ks, default=1)), SECONDS_PER_PAIR, {})
    if note.rests_on == _basis(workspace, note.settings.generators):
        return
    there = workspace.encoders()
    generators = tuple(name for name in note.settings.generators if name in there)
    if generators:
        write_budget(workspace, replace(note.settings, generators=generators), note.seconds_per_pair, on_progress)
    else:
        path.unlink()


def read_budget_note(workspace: WorkspaceFolder) -> BudgetNote | None:
    """The note in results/budget.parquet; None without that file, or where an earlier version wrote it."""
    if not budget_file(workspace).exists():
        return None
    text = pl.read_parquet_metadata(budget_file(workspace)).get(NOTE)
    if text is None:
        return None
    stored = json.loads(text)
    return BudgetNote(stored_settings(stored), stored["seconds_per_pair"], stored["rests_on"])


def _basis(workspace: WorkspaceFolder, generators: tuple[str, ...]) -> dict[str, str]:
    there = workspace.encoders()
    return {
        "catalog": table_digest(read_catalog(workspace)),
        "truth": truth_digest(workspace),
        "labels": labels_digest(workspace),
        **{name: vectors_digest(workspace, name) for name in generators if name in there},
    }
