"""Whatever changes makes all after it stale, and a report mends it."""

import re
from collections.abc import Callable

import polars as pl
import polars.selectors as cs
import pytest

from likewise.evaluation.budget import budget_file, read_budget_note
from likewise.labeling.step import import_votes_file
from likewise.labeling.store import opened_votes, read_sourced_votes
from likewise.status import workspace_status
from likewise.workspace import WorkspaceFolder, read_json, write_json, write_parquet
from tests.cli.conftest import Run


def change_votes(workspace: WorkspaceFolder, run: Run) -> None:
    with opened_votes(workspace) as engine:
        query, candidate, expert, answer, *_ = read_sourced_votes(engine).row(0)
    other = "similar" if answer == "not similar" else "not similar"
    path = workspace.path / "corrected.csv"
    path.write_text(f"query,candidate,expert,answer\n{query},{candidate},{expert},{other}\n")
    import_votes_file(workspace, path, replace=True)


def change_rule(workspace: WorkspaceFolder, run: Run) -> None:
    assert run("label", "consensus", workspace.path, "--rule", "exclude").code == 0


def change_pool(workspace: WorkspaceFolder, run: Run) -> None:
    assert run("discover", workspace.path, "--k", 2, "--n-queries", 6, "--random", 5, "--replace").code == 0


def change_vectors(workspace: WorkspaceFolder, run: Run) -> None:
    """An encoder that gives other vectors now, under the version of before."""
    meta = workspace.vectors_folder / "shape" / "meta.json"
    write_json(read_json(meta) | {"digest": "of other vectors"}, meta)


def change_lineage(workspace: WorkspaceFolder, run: Run) -> None:
    write_json({"learned_from": ["circle-red"]}, workspace.vectors_folder / "shape" / "lineage.json")


def add_encoder(workspace: WorkspaceFolder, run: Run) -> None:
    assert run("encode", workspace.path, "--with", "layout", "--workers", 1).code == 0


def half_write_results(workspace: WorkspaceFolder, run: Run) -> None:
    path = workspace.results_folder / "discovery.parquet"
    write_parquet(pl.read_parquet(path).head(3), path)


def edit_summary(workspace: WorkspaceFolder, run: Run) -> None:
    path = workspace.results_folder / "summary.json"
    write_json(read_json(path) | {"n_queries": 999}, path)


def edit_report(workspace: WorkspaceFolder, run: Run) -> None:
    page = workspace.report_file.read_text(encoding="utf-8")
    workspace.report_file.write_text(page.replace("shape", "colour"), encoding="utf-8")


def plan_labels(workspace: WorkspaceFolder, run: Run) -> None:
    assert run("plan", "labels", workspace.path, "--k", 2).code == 0


@pytest.mark.parametrize(
    ("change", "stale"),
    [
        (change_votes, ["labels", "results", "report"]),
        (change_rule, ["results", "report"]),
        (change_pool, ["labels", "results", "report"]),
        (change_vectors, ["results", "report"]),
        (change_lineage, ["results", "report"]),
        (add_encoder, ["results", "report"]),
        (half_write_results, ["results", "report"]),
        (edit_summary, ["results", "report"]),
        (edit_report, ["report"]),
        (plan_labels, ["report"]),
    ],
)
def test_whatever_changes_makes_all_after_it_stale_and_a_report_mends_it(
    finished: WorkspaceFolder,
    run: Run,
    change: Callable[[WorkspaceFolder, Run], None],
    stale: list[str],
) -> None:
    change(finished, run)
    assert workspace_status(finished).stale == stale
    ran = run("report", finished.path)
    assert ran.code == 0, ran.err


def test_a_budget_is_made_again_as_it_was_asked_for(finished: WorkspaceFolder, run: Run) -> None:
    planned = run("plan", "labels", finished.path, "--k", 2, "--with", "shape", "--seconds-per-pair", 8)
    assert planned.code == 0, planned.err
    before = pl.read_parquet(budget_file(finished))
    change_rule(finished, run)
    change_votes(finished, run)
    assert run("report", finished.path).code == 0
    after, note = pl.read_parquet(budget_file(finished)), read_budget_note(finished)
    assert after["expected_positives"].to_list() != before["expected_positives"].to_list()
    assert after.drop(cs.contains("positives")).equals(before.drop(cs.contains("positives")))
    assert note is not None and note.seconds_per_pair == 8 and note.settings.generators == ("shape",)
    page = finished.report_file.read_text(encoding="utf-8")
    assert re.search("likewise plan labels shapes-again .*--k 2 .*--seconds-per-pair 8", page)
    run("plan", "labels", finished.path, "--k", 2, "--with", "shape", "--seconds-per-pair", 8)
    assert workspace_status(finished).stale == []  # asked again by hand it is the same table
