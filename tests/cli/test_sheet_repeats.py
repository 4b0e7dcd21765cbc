"""Experts who work by offline sheet get their hidden repeats, and reach the end of their work."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from likewise.workspace import WorkspaceFolder

from .conftest import Run


@pytest.fixture
def asked(workspace: WorkspaceFolder, run: Run) -> WorkspaceFolder:
    """A project that asks a third of its pairs twice; Anna is invited, Bob is not."""
    assert run("encode", workspace.path, "--with", "colour,shape").code == 0
    assert run("discover", workspace.path, "--k", 3, "--n-queries", 6, "--random", 4).code == 0
    assert run("label", "settings", workspace.path, "--repeats", 0.3).code == 0
    assert run("label", "invite", workspace.path, "--name", "Anna").code == 0
    return workspace


def expert(run: Run, workspace: WorkspaceFolder, name: str) -> dict[str, Any]:
    board = json.loads(run("label", "status", workspace.path, "--json").out)
    return next(row for row in board["experts"] if row["name"] == name)


def fill(sheet: Path, twice: str, *drop: str) -> None:
    """Answer similar, and `twice` where a pair comes the second time."""
    table = pl.read_csv(sheet, infer_schema=False)
    again = table.select(~pl.struct("query", "candidate").is_first_distinct()).to_series()
    answers = [twice if second else "similar" for second in again]
    table.with_columns(answer=pl.Series(answers)).drop(drop).write_csv(sheet)


def test_an_invited_experts_sheet_is_the_whole_of_their_work(asked: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    total = expert(run, asked, "Anna")["total"]
    pairs = pl.read_parquet(asked.pool_file).select("query", "candidate").n_unique()
    assert total > pairs
    sheet = tmp_path / "anna.csv"
    said = run("label", "sheet", asked.path, sheet, "--expert", "Anna")
    assert f"{pairs} pairs, {total - pairs} of them twice for Anna" in said.out
    fill(sheet, "not similar")
    assert run("label", "import", asked.path, sheet).code == 0
    row = expert(run, asked, "Anna")
    assert (row["answered"], row["total"]) == (total, total)
    assert (row["n_repeats"], row["self_consistency"]) == (total - pairs, 0.0)
    labels = pl.read_parquet(asked.labels_file)
    assert (labels.height, labels["label"].sum()) == (pairs, pairs)  # the first answer counts
    assert "0 votes added" in run("label", "import", asked.path, sheet).out  # said again, nothing changes
    fill(sheet, "similar")
    assert "nothing was stored" in run("label", "import", asked.path, sheet).err
    assert run("label", "import", asked.path, sheet, "--replace").code == 0
    assert expert(run, asked, "Anna")["self_consistency"] == 1.0


def test_somebody_without_an_invitation_gets_repeats_too(asked: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "bob.csv"
    assert run("label", "sheet", asked.path, sheet, "--expert", "Bob").code == 0
    fill(sheet, "similar")
    assert run("label", "import", asked.path, sheet).code == 0
    row = expert(run, asked, "Bob")
    assert row["answered"] == row["total"] == expert(run, asked, "Anna")["total"]
    assert row["n_repeats"] > 0
    assert row["self_consistency"] == 1.0


def test_votes_that_come_without_repeats_leave_nothing_to_ask(asked: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "anna.csv"
    assert run("label", "sheet", asked.path, sheet, "--expert", "Anna").code == 0
    fill(sheet, "similar", "question")
    assert run("label", "import", asked.path, sheet).code == 0
    row = expert(run, asked, "Anna")
    assert (row["answered"], row["n_repeats"]) == (row["total"], 0)
    assert "nothing left to ask" in run("label", "sheet", asked.path, tmp_path / "more.csv", "--expert", "Anna").err


def test_repeats_alone_finish_the_work(asked: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    sheet = tmp_path / "anna.csv"
    assert run("label", "sheet", asked.path, sheet, "--expert", "Anna").code == 0
    fill(sheet, "similar")
    table = pl.read_csv(sheet, infer_schema=False)
    first = table.select(pl.struct("query", "candidate").is_first_distinct()).to_series()
    for part, name in ((table.filter(first), "first.csv"), (table.filter(~first), "again.csv")):
        part.write_csv(tmp_path / name)
    total = expert(run, asked, "Anna")["total"]
    assert run("label", "import", asked.path, tmp_path / "again.csv").code == 0
    assert run("label", "import", asked.path, tmp_path / "first.csv").code == 0
    row = expert(run, asked, "Anna")
    assert (row["answered"], row["total"], row["self_consistency"]) == (total, total, 1.0)
