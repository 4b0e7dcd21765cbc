"""One chain: after votes on the site, `report` is enough; what rests on other votes is never shown as current."""

import io
import json
import os
import uuid
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from likewise import Workspace
from likewise.discovery.step import PoolSettings, make_pool, store_pool
from likewise.encoders import encode_catalog
from likewise.errors import LikewiseError
from likewise.evaluation.bundles.bundle import make_bundle
from likewise.evaluation.exchange.labels_io import read_labels_file
from likewise.labeling.store import opened_votes, read_sourced_votes
from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.events import SubmittedAnswer, add_answers, undo_answer
from likewise.labeling.store.experts import invite_expert, open_owner_session, read_experts
from likewise.labeling.store.location import database_url, remember_database, remembered_database
from likewise.labeling.store.models import Event
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs
from likewise.labeling.store.read import VOTES
from likewise.report import make_report
from likewise.status import workspace_status
from likewise.web.app import create_app
from likewise.web.security import SESSION_COOKIE
from likewise.web.settings import SiteSettings
from likewise.workspace import WorkspaceFolder, read_json, write_json
from tests.cli.conftest import Run

from .answering import answer_all, open_site, same_colour, same_shape, states


def test_after_the_site_a_report_is_enough_and_a_second_expert_makes_all_of_it_stale(
    asked: WorkspaceFolder,
    run: Run,
) -> None:
    site = open_site(asked)
    n_pairs = answer_all(site, "Anna", same_shape)
    found = workspace_status(asked)
    assert found.part("labels").state == "missing"
    assert f"{n_pairs} votes are there, and no labels have been made from them yet" in found.part("labels").why
    assert found.next == f"likewise report {asked.path}"
    printed = run("status", asked.path).out
    assert "no labels have been made from them yet" in printed.replace("\n", " ")

    made = run("report", asked.path)
    assert made.code == 0, made.err
    assert set(states(asked).values()) == {"current"}
    assert len(pl.read_parquet(asked.labels_file)) == n_pairs
    first = asked.report_file.read_text()
    summary = read_json(asked.results_folder / "summary.json")
    assert summary["labels"]["agreement"]["n_experts"] == 1

    answer_all(site, "Ben", same_colour)
    found = workspace_status(asked)
    assert found.stale == ["labels", "results", "report"]
    assert f"({n_pairs} votes then, {2 * n_pairs} now)" in found.part("labels").why
    assert found.next == f"likewise report {asked.path}"
    assert "stale" in run("status", asked.path).out
    assert run("report", asked.path).code == 0
    assert set(states(asked).values()) == {"current"}
    assert read_json(asked.results_folder / "summary.json")["labels"]["agreement"]["n_experts"] == 2
    assert asked.report_file.read_text() != first


def test_evaluate_alone_makes_the_labels_that_are_missing_or_stale(asked: WorkspaceFolder, run: Run) -> None:
    site = open_site(asked)
    answer_all(site, "Anna", same_shape)
    ran = run("evaluate", asked.path)
    assert ran.code == 0, ran.err
    assert "no labels have been made from them yet; made now" in ran.out.replace("\n", " ")
    first = run("evaluate", asked.path, "--json").out
    answer_all(site, "Ben", same_colour)
    assert run("evaluate", asked.path, "--json").out != first
    assert states(asked)["labels"] == "current"


def test_touching_or_writing_the_same_again_changes_nothing(finished: WorkspaceFolder, run: Run) -> None:
    workspace = finished
    for path in workspace.path.rglob("*"):
        if path.is_file():
            os.utime(path, (2_000_000_000, 2_000_000_000))
    assert set(states(workspace).values()) == {"current"}
    for path in (*workspace.path.glob("*.parquet"), *workspace.results_folder.glob("*.parquet")):
        pl.read_parquet(path).write_parquet(path, compression="uncompressed")  # the same values, other bytes
    for path in workspace.path.rglob("*.json"):
        content = read_json(path)
        path.write_text(json.dumps(dict(reversed(content.items())) if isinstance(content, dict) else content))
    assert set(states(workspace).values()) == {"current"}
    assert run("label", "consensus", workspace.path).code == 0
    assert run("encode", workspace.path, "--with", "colour", "--workers", 1, "--force").code == 0
    assert set(states(workspace).values()) == {"current"}


def test_numbers_of_one_half_say_so_in_the_terminal_and_on_the_page(finished: WorkspaceFolder, run: Run) -> None:
    done = run("evaluate", finished.path, "--half", "test", "--store")
    assert "only the items of the half test" in done.out.replace("\n", " "), done.err
    assert run("report", finished.path).code == 0
    assert "Only the items of the half test" in finished.report_file.read_text(encoding="utf-8")


def test_a_report_that_the_site_shows_says_when_it_is_stale(finished: WorkspaceFolder, run: Run) -> None:
    app = create_app(SiteSettings(finished, explore_without_login=True))
    with TestClient(app, base_url="http://127.0.0.1:8000") as client:
        assert "This report is" not in client.get("/explore/report").text
        assert run("label", "consensus", finished.path, "--rule", "exclude").code == 0
        shown = client.get("/explore/report")
    assert shown.status_code == 200
    assert "This report is stale: the results are stale. “likewise report" in shown.text


def test_an_answer_taken_back_and_given_again_leaves_everything_current(finished: WorkspaceFolder) -> None:
    with opened_votes(finished) as engine:
        expert = next(one.id for one in read_experts(engine) if one.name == "Anna")
        with read_transaction(engine) as connection:
            pair, answer = connection.execute(select(Event.pair, Event.answer)).first() or (0, "")
        undo_answer(engine, expert, pair, str(uuid.uuid4()))
        assert "labels" in workspace_status(finished).stale
        add_answers(engine, expert, [SubmittedAnswer(str(uuid.uuid4()), pair, answer)])
    assert workspace_status(finished).stale == []


def test_votes_in_another_database_are_found_again_without_naming_it(
    asked: WorkspaceFolder,
    run: Run,
    database: str,
) -> None:
    site = open_site(asked, database)
    n_pairs = answer_all(site, "Anna", same_shape)
    assert not asked.votes_file.exists()
    assert f"{n_pairs} votes" in workspace_status(asked).part("labels").why
    assert run("report", asked.path).code == 0
    answer_all(site, "Ben", same_colour)
    assert workspace_status(asked).stale == ["labels", "results", "report"]
    assert run("report", asked.path).code == 0
    assert workspace_status(asked).stale == []
    site.dispose()


def test_a_database_that_needs_its_password_again_is_named_and_labels_are_not_called_current(
    asked: WorkspaceFolder,
    run: Run,
    tmp_path: Path,
) -> None:
    elsewhere = tmp_path / "elsewhere" / "votes.db"
    elsewhere.parent.mkdir()
    answer_all(open_site(asked, f"sqlite:///{elsewhere}"), "Anna", same_shape)
    assert run("report", asked.path).code == 0
    write_json({"database": "postgresql://owner@127.0.0.1:1/votes"}, asked.votes_location_file)
    found = workspace_status(asked)
    assert (found.part("votes").state, found.part("labels").state) == ("unchecked", "unchecked")
    assert "postgresql://owner@127.0.0.1:1/votes" in found.part("votes").why
    assert "--database URL" in found.part("votes").why
    assert found.part("votes").command == f"likewise status {asked.path} --database URL"
    ran = run("evaluate", asked.path)  # the labels are used as they are, and that is said
    assert (ran.code, "labels not checked" in ran.out) == (0, True)
    assert run("status", asked.path, "--database", f"sqlite:///{elsewhere}").code == 0
    assert states(asked)["labels"] == "current"
    assert run("status", asked.path, "--database", f"sqlite:///{asked.votes_file}").code == 0
    assert remembered_database(asked) is None


def test_passwords_are_not_remembered(workspace: WorkspaceFolder) -> None:
    remember_database(workspace, "postgresql://owner:secret@host:5432/votes?sslmode=require&password=other")
    assert read_json(workspace.votes_location_file) == {
        "database": "postgresql://owner@host:5432/votes?sslmode=require"
    }
    assert "secret" in database_url(workspace)  # this process was told


def test_every_way_out_gives_the_same_labels_under_the_chosen_rule(
    asked: WorkspaceFolder,
    run: Run,
    tmp_path: Path,
) -> None:
    """Two experts who disagree on many pairs: `exclude` has fewer labels than `majority`, wherever they are taken."""
    app = create_app(SiteSettings(asked))
    engine = app.state.site.engine
    change_project(engine, repeat_share=0.0)
    n_pairs = answer_all(engine, "Anna", same_shape)
    assert run("label", "consensus", asked.path, "--rule", "exclude").code == 0
    answer_all(engine, "Ben", same_colour)  # since then

    client = TestClient(app, base_url="http://127.0.0.1:8000")
    client.cookies.set(SESSION_COOKIE, open_owner_session(engine))
    downloaded = pl.read_parquet(io.BytesIO(client.get("/owner/export/labels.parquet").content))
    assert 0 < len(downloaded) < n_pairs
    pairs = downloaded.select("query", "candidate", "label")
    for name in ("vsd.json", "labels.qrels"):
        path = tmp_path / name
        path.write_bytes(client.get(f"/owner/export/{name}").content)
        assert read_labels_file(path).labels.select(pairs.columns).equals(pairs)
    for name in ("labels.csv", "labels.json", "labels.qrels", "labels.parquet"):
        path = tmp_path / "exported" / name
        path.parent.mkdir(exist_ok=True)
        assert run("label", "export", asked.path, path).code == 0
        assert read_labels_file(path).labels.select(pairs.columns).equals(pairs)
    bundle = make_bundle(asked, tmp_path / "bundle.zip", title="Shapes", licence="CC0")
    assert bundle.tables.labels.select(pairs.columns).equals(pairs)
    assert Workspace(asked.path).labels().table.select(pairs.columns).equals(pairs)


def test_python_asks_the_same_function(asked: WorkspaceFolder) -> None:
    found = Workspace(asked.path).status()
    assert found.table["part"].to_list()[-4:] == ["votes", "labels", "results", "report"]
    assert f"next: {workspace_status(asked).next}" in repr(found)


def test_votes_read_quickly_are_those_of_the_view(asked: WorkspaceFolder) -> None:
    """Answers, changes, undos, `later` and hidden repeats in random order: the database's own view agrees."""
    random = np.random.default_rng(5)
    engine = open_site(asked)
    change_project(engine, repeat_share=0.5)
    for name in ("Anna", "Ben"):
        invite_expert(engine, name)
    for expert in [one.id for one in read_experts(engine)]:
        pairs = [pair.pair for pair in next_pairs(engine, expert, 1000)[0]]
        for _ in range(150):
            pair = int(random.choice(pairs))
            kind = str(random.choice(["similar", "not similar", "cannot tell", "later", "undo"]))
            try:
                if kind == "undo":
                    undo_answer(engine, expert, pair, str(uuid.uuid4()))
                else:
                    add_answers(engine, expert, [SubmittedAnswer(str(uuid.uuid4()), pair, kind)])
            except Exception as error:  # nothing to take back
                assert "take back" in str(error)
    with read_transaction(engine) as connection:
        view = [tuple(row)[1:] for row in connection.execute(select(*VOTES.c))]
    assert read_sourced_votes(engine).rows() == sorted(view)


def test_labels_without_their_votes_can_be_used_but_are_not_called_checked(finished: WorkspaceFolder, run: Run) -> None:
    for file in finished.path.glob("votes.db*"):
        file.unlink()
    assert states(finished)["labels"] == "unchecked"
    assert run("evaluate", finished.path).code == 0


def test_without_labels_every_step_names_the_one_that_comes_next(workspace: WorkspaceFolder) -> None:
    def complaint() -> str:
        with pytest.raises(LikewiseError) as error:
            make_report(workspace, "")
        return str(error.value)

    assert f"run `likewise encode {workspace.path}`" in complaint()
    encode_catalog(workspace, ["colour", "shape"], workers=1)
    assert f"run `likewise discover {workspace.path}`" in complaint()
    store_pool(workspace, make_pool(workspace, PoolSettings(("colour", "shape"), k=2, n_queries=3)))
    assert f"run `likewise label serve {workspace.path}` or `likewise label import" in complaint()


def test_where_random_pairs_lack_labels_it_is_said_that_nothing_is_estimated(asked: WorkspaceFolder, run: Run) -> None:
    candidates = pl.read_parquet(asked.pool_file).filter(pl.col("generator") != "random")
    votes = candidates.select("query", "candidate", expert=pl.lit("Anna"), answer=pl.lit("similar")).unique()
    path = asked.path / "votes.csv"
    votes.sort("query", "candidate").write_csv(path)
    assert run("label", "import", asked.path, path).code == 0
    done = run("evaluate", asked.path)
    assert "similar pairs are is not estimated: fewer than 90 % of the 5 random pairs have a label" in done.out, done
    assert run("report", asked.path).code == 0
    assert "too few of the 5 random pairs have a label" in asked.report_file.read_text(encoding="utf-8")
