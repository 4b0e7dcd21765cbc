"""results/ of a workspace: the one place that writes an evaluation, reads its summary, and knows if it is stale.

Results rest on the labels, the pool, the catalog, every encoder's vectors (with what is noted about its lineage) and
the settings of the evaluation; summary.json notes a digest of each, and of every table that belongs to it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import polars as pl

from likewise.catalog import read_catalog
from likewise.chain import ChainPart, changed_digests, digest_of, in_words, table_digest
from likewise.discovery.proposals import proposals_digest
from likewise.encoders.storage.files import vectors_digest
from likewise.encoders.storage.reading import VECTORS
from likewise.errors import LikewiseError
from likewise.evaluation.measured_encoders import encoders_to_measure
from likewise.evaluation.over_time import append_to_results_history
from likewise.evaluation.pairs import JudgedPairs
from likewise.evaluation.provenance import make_result_note, write_note
from likewise.evaluation.screening import screen_labels
from likewise.evaluation.summary import EvaluationSettings, EvaluationSummary, from_json
from likewise.evaluation.truth import truth_digest
from likewise.labeling.judges.answers import judge_digest
from likewise.labeling.state import labels_digest
from likewise.workspace import WorkspaceFolder, read_json, read_parquet, staged_workspace, write_json, write_parquet

RESULTS, DIGEST = "results", "digest"


def summary_file(workspace: WorkspaceFolder) -> Path:
    return workspace.results_folder / "summary.json"


def store_evaluation(
    workspace: WorkspaceFolder,
    tables: Mapping[str, pl.DataFrame],
    summary: EvaluationSummary,
    pairs: JudgedPairs,
    command: str,
) -> None:
    """Write every table, the note of the long one, the numbers over time and the summary, together."""
    note = make_result_note(
        workspace.path.resolve().name,
        pairs,
        summary.labels,
        command,
        summary.lineage.notes,
        summary.pool.n_different,
    )
    with staged_workspace(workspace) as (staged, _):
        for name, table in tables.items():
            write_parquet(table, staged.results_folder / f"{name}.parquet")
        write_note(note, staged.results_folder / "discovery.parquet")
        append_to_results_history(workspace, dict(tables), summary, staged)
        content = summary.to_dict()
        write_json(content | {DIGEST: digest_of(content)}, summary_file(staged))


def read_summary(workspace: WorkspaceFolder) -> EvaluationSummary | None:
    """The summary of the stored results; None where there is none that can be read: they are made again."""
    if not summary_file(workspace).exists():
        return None
    try:
        return from_json(EvaluationSummary, read_json(summary_file(workspace)))
    except LikewiseError:
        return None


def unbiased_encoders(workspace: WorkspaceFolder, half: str | None = None) -> list[str]:
    """Every encoder that has vectors and did not learn from the labels it would be measured on, or those of a half."""
    names = encoders_to_measure(workspace)
    if not workspace.labels_file.exists() or not workspace.pool_file.exists():
        return names
    learned = screen_labels(workspace, names, half).learned
    return [name for name in names if name not in learned]


def results_basis(
    workspace: WorkspaceFolder, encoders: Sequence[str], generators: Sequence[str], settings: EvaluationSettings
) -> dict[str, str]:
    """What results of these encoders would rest on now; generators count, their lists give sampled negatives."""
    there = workspace.encoders()
    read = sorted({*encoders, *(name for name in generators if name in there)})
    return {
        "catalog": table_digest(read_catalog(workspace)),
        "truth": truth_digest(workspace),
        "pool": proposals_digest(workspace),
        "labels": labels_digest(workspace),
        "judge": judge_digest(workspace),
        "settings": digest_of(asdict(settings)),
        "models": digest_of(list(encoders)),
        **{f"{VECTORS}/{name}": vectors_digest(workspace, name) for name in read},
    }


def results_part(workspace: WorkspaceFolder, pool: ChainPart, labels: ChainPart) -> ChainPart:
    """Whether results/ is all there, about every encoder there is, and of the labels and vectors of now."""
    make = f"likewise evaluate {workspace.quoted}"
    summary = read_summary(workspace)
    if summary is None:
        known = summary_file(workspace).exists()
        why = "another version of likewise wrote them" if known else "the models have not been measured yet"
        return ChainPart(RESULTS, "stale" if known else "missing", why=why, command=make, automatic=True)
    holds = f"{len(summary.encoders)} models on {summary.labels.consensus.n_labelled:,} labels"
    different = [path for path, digest in summary.tables.items() if _stored_digest(workspace, path) != digest]
    if different:
        names = in_words(f"{name}.parquet" for name in different)
        are = "is" if len(different) == 1 else "are"
        why = f"{names} {are} not of the evaluation that summary.json describes"
        return ChainPart(RESULTS, "stale", holds, why, make, automatic=True)
    if not _is_as_written(workspace):
        return ChainPart(RESULTS, "stale", holds, "summary.json was changed by hand", make, automatic=True)
    for part in (pool, labels):
        if not part.usable:
            return ChainPart(
                RESULTS,
                "stale",
                holds,
                f"the {part.name} is {part.state}" if part is pool else f"the {part.name} are {part.state}",
                make,
                automatic=True,
            )
    encoders, generators = unbiased_encoders(workspace, summary.settings.half), summary.pool.generators
    if other := changed_digests(summary.rests_on, results_basis(workspace, encoders, generators, summary.settings)):
        why = f"changed since they were made: {in_words(other)}"
        return ChainPart(RESULTS, "stale", holds, why, make, automatic=True)
    return ChainPart(RESULTS, "current", holds)


def _is_as_written(workspace: WorkspaceFolder) -> bool:
    """Whether the summary is the one that an evaluation wrote; one of an earlier version has no digest of itself."""
    content = read_json(summary_file(workspace))
    noted = content.pop(DIGEST, None)
    return noted is None or noted == digest_of(content)


def _stored_digest(workspace: WorkspaceFolder, name: str) -> str:
    path = workspace.results_folder / f"{name}.parquet"
    return table_digest(read_parquet(path, f"likewise evaluate {workspace.quoted}")) if path.exists() else ""


def results_digest(workspace: WorkspaceFolder) -> str:
    """Of the stored results: of the summary, which has a digest of every table; empty where there are none."""
    return digest_of(read_json(summary_file(workspace))) if summary_file(workspace).exists() else ""
