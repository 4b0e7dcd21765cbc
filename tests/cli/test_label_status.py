"""What the owner reads of `label status` and `label invite`: ties, hidden repeats, hasty answers, a stopped site."""

import json
import socket
import threading
import uuid
from pathlib import Path

import polars as pl
import pytest

from likewise.discovery.stored_pool import read_stored_pool
from likewise.labeling.store import opened_votes
from likewise.labeling.store.events import SubmittedAnswer, add_answers
from likewise.labeling.store.experts import read_experts
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs
from likewise.workspace import WorkspaceFolder

from .conftest import Run


@pytest.fixture
def asked(workspace: WorkspaceFolder, run: Run) -> WorkspaceFolder:
    assert run("encode", workspace.path, "--with", "colour,shape").code == 0
    assert run("discover", workspace.path, "--k", 3, "--n-queries", 6, "--random", 0).code == 0
    return workspace


def test_ties_are_called_what_they_are_where_labels_are_made(asked: WorkspaceFolder, run: Run, tmp_path: Path) -> None:
    pairs = pl.read_parquet(asked.pool_file).select("query", "candidate").unique().sort("query", "candidate")
    anna = pairs.with_columns(expert=pl.lit("Anna"), answer=pl.lit("yes"))
    no = pl.int_range(pl.len()) < 3
    ben = pairs.with_columns(expert=pl.lit("Ben"), answer=pl.when(no).then(pl.lit("no")).otherwise(pl.lit("yes")))
    pl.concat([anna, ben]).write_csv(tmp_path / "votes.csv")
    assert "3 ties (counted as not similar)" in run("label", "import", asked.path, tmp_path / "votes.csv").out
    assert "3 of them tied (counted as not similar)" in run("label", "status", asked.path).out
    assert "3 ties (left without a label)" in run("label", "consensus", asked.path, "--rule", "exclude").out
    assert "3 of them tied (left without a label)" in run("label", "status", asked.path).out


def test_the_table_of_experts_fits_80_columns(
    asked: WorkspaceFolder, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("Anna", "Bartholomew Featherstonehaugh"):
        assert run("label", "invite", asked.path, "--name", name).code == 0
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("label", "status", asked.path).out
    table = shown[: shown.index("agreement:")]
    assert "…" not in table
    for word in ("expert", "answered", "per", "hour", "repeats", "control", "pairs", "agrees", "Anna"):
        assert word in table.split()
    assert max(map(len, table.splitlines())) <= 80
    assert "hidden repeats (5 %" in shown


def answer_quickly_and_carefully(asked: WorkspaceFolder, run: Run) -> int:
    """Two experts answer every pair, one of them without looking; how many pairs there are."""
    pairs = pl.read_parquet(asked.pool_file).select("query", "candidate").n_unique()
    for name, milliseconds in (("Quick", 100), ("Careful", 4000)):
        assert run("label", "invite", asked.path, "--name", name).code == 0
        with opened_votes(asked) as engine:
            number = next(one.id for one in read_experts(engine) if one.name == name)
            given = [
                SubmittedAnswer(str(uuid.uuid4()), pair.pair, "similar", None, milliseconds)
                for pair in next_pairs(engine, number, pairs)[0]
            ]
            add_answers(engine, number, given)
    return pairs


def test_answers_faster_than_anybody_can_look_are_flagged(asked: WorkspaceFolder, run: Run) -> None:
    pairs = answer_quickly_and_carefully(asked, run)
    shown = run("label", "status", asked.path).out
    assert "Quick answers faster than anybody can look" in shown
    assert "Careful answers faster" not in shown
    board = json.loads(run("label", "status", asked.path, "--json").out)
    assert {row["name"]: row["hasty"] for row in board["experts"]} == {"Quick": True, "Careful": False}
    every_pair = read_stored_pool(asked)
    assert every_pair is not None
    hours = every_pair.n_all_pairs * 4.0 / 3600.0  # as long as Careful takes, who looks
    assert board["cost"]["brute_force_hours"] == pytest.approx(hours)
    assert f"brute force: {60 * hours:.0f} min each" in shown
    spent = f"{pairs * 4.1 / 60:.0f} min" if pairs * 4.1 >= 60 else f"{pairs * 4.1:.0f} s"
    assert f"time: {spent} spent on {pairs} pairs" in shown


def test_labels_and_the_report_name_who_did_not_look(asked: WorkspaceFolder, run: Run) -> None:
    answer_quickly_and_carefully(asked, run)
    made = run("label", "consensus", asked.path).out
    assert "Quick answered faster than anybody can look" in made and "Careful answered" not in made
    assert run("report", asked.path).code == 0
    page = asked.report_file.read_text()
    assert "<strong>Quick answered faster than anybody can look:</strong>" in page
    assert run("label", "remove-votes", asked.path, "--expert", "Quick", "--reason", "did not look").code == 0
    assert run("report", asked.path).code == 0
    assert "faster than anybody" not in asked.report_file.read_text()


def test_settings_are_printed_in_words(asked: WorkspaceFolder, run: Run) -> None:
    printed = run("label", "settings", asked.path, "--graded").out.splitlines()
    assert {"graded: yes", "paused: no", "experts per pair: all", "repeat share: 0.05"} <= set(printed)


def test_an_invitation_says_when_no_site_answers(asked: WorkspaceFolder, run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        with opened_votes(asked) as engine:
            change_project(engine, url=f"http://127.0.0.1:{port}")
        answering = threading.Thread(target=lambda: listening.accept()[0].close(), daemon=True)
        answering.start()
        assert "no site answers" not in run("label", "invite", asked.path, "--name", "Anna").out
        answering.join()
    stopped = run("label", "invite", asked.path, "--name", "Ben").out
    assert f"no site answers there now: start it with `likewise label serve {asked.path} --port {port}`" in stopped
    with opened_votes(asked) as engine:
        change_project(engine, url="https://label.example.org")  # another machine: nobody is asked
    assert "no site answers" not in run("label", "invite", asked.path, "--name", "Cleo").out
