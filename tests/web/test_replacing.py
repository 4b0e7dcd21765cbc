"""The pool or the catalog is replaced while people label: the site asks the new pairs at once, and the log says so."""

import subprocess
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import polars as pl
from fastapi import FastAPI
from sqlalchemy import Engine, select

from likewise.catalog import make_catalog
from likewise.labeling import open_votes, read_votes
from likewise.labeling.pool import follow_workspace
from likewise.labeling.store.experts import invite_expert
from likewise.labeling.store.models import Pair
from likewise.labeling.store.pairs import add_pairs, pair_keys
from likewise.labeling.store.project import change_project, read_log
from likewise.update import update_catalog
from likewise.workspace import WorkspaceFolder
from tests.warm import warm

from .conftest import Browser, write_pool
from .servers import free_port, logged_in, running


def asked_pairs(browser: Browser, engine: Engine) -> set[tuple[str, str]]:
    reply = browser.get("/api/next?count=50").json()
    return set(pair_keys(engine, [pair["pair"] for pair in reply["pairs"]]).values())


def pairs_of(pool: pl.DataFrame) -> set[tuple[str, str]]:
    return set(pool.select("query", "candidate").unique().iter_rows())


def answer(browser: Browser, pair: int) -> dict[str, object]:
    event = {"client_id": str(uuid4()), "pair": pair, "answer": "similar"}
    reply: dict[str, object] = browser.post("/api/answers", {"events": [event]}).json()
    return reply


def test_another_pool_is_asked_without_a_restart(
    workspace: WorkspaceFolder, app: FastAPI, engine: Engine, expert: Callable[[str], Browser]
) -> None:
    anna = expert("Anna")
    first = pairs_of(write_pool(workspace, 4, 6))
    assert asked_pairs(anna, engine) == first
    shown = anna.get("/api/next?count=3").json()["pairs"]
    answer(anna, shown[0]["pair"])
    second = pairs_of(write_pool(workspace, 3, 8))
    assert first - second
    assert asked_pairs(anna, engine) == second - pairs_of_ids(engine, shown[0]["pair"])
    withdrawn = len(first - second)
    assert any(f"{withdrawn} of an earlier pool withdrawn" in line["what"] for line in read_log(engine))
    assert anna.get("/api/next").json()["progress"]["total"] == len(second | pairs_of_ids(engine, shown[0]["pair"]))
    third = pairs_of(write_pool(workspace, 4, 6))  # the first again: what was withdrawn comes back
    assert third == first
    assert asked_pairs(anna, engine) == first - pairs_of_ids(engine, shown[0]["pair"])
    assert read_votes(engine).height == 1


def pairs_of_ids(engine: Engine, *ids: int) -> set[tuple[str, str]]:
    return set(pair_keys(engine, ids).values())


def test_an_answer_to_a_pair_that_was_just_withdrawn_is_kept(
    workspace: WorkspaceFolder, app: FastAPI, engine: Engine, expert: Callable[[str], Browser]
) -> None:
    anna = expert("Anna")
    on_the_page = anna.get("/api/next?count=50").json()["pairs"]
    kept = pairs_of(write_pool(workspace, 2, 3))
    gone = [pair["pair"] for pair in on_the_page if not pairs_of_ids(engine, pair["pair"]) <= kept]
    assert asked_pairs(anna, engine) == kept
    reply = answer(anna, gone[0])
    assert len(reply["accepted"]) == 1  # type: ignore[arg-type]
    assert reply["progress"]["answered"] == 1  # type: ignore[index]
    assert reply["progress"]["total"] == len(kept) + 1  # type: ignore[index]
    assert read_votes(engine).height == 1
    assert asked_pairs(anna, engine) == kept


def test_pairs_that_people_chose_are_not_withdrawn(
    workspace: WorkspaceFolder, app: FastAPI, engine: Engine, expert: Callable[[str], Browser]
) -> None:
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    own = (images[0], images[-1])
    add_pairs(engine, pl.DataFrame([own], schema=["query", "candidate"], orient="row"))
    follow_workspace(engine, workspace)
    anna = expert("Anna")
    kept = pairs_of(write_pool(workspace, 2, 3))
    assert asked_pairs(anna, engine) == kept | {own}


def test_hidden_repeats_are_withdrawn_with_their_pair(workspace: WorkspaceFolder, app: FastAPI, engine: Engine) -> None:
    change_project(engine, repeat_share=0.5)
    invite_expert(engine, "Anna")
    kept = pairs_of(write_pool(workspace, 2, 3))
    follow_workspace(engine, workspace)
    with engine.connect() as connection:
        still = list(connection.scalars(select(Pair.id).where(Pair.asked)))
    assert set(pair_keys(engine, still).values()) == kept


def test_another_catalog_asks_nothing_about_pictures_that_are_gone(
    workspace: WorkspaceFolder, app: FastAPI, engine: Engine, expert: Callable[[str], Browser]
) -> None:
    anna = expert("Anna")
    before = pl.read_parquet(workspace.catalog_file).select("image", "item", "category")
    asked = asked_pairs(anna, engine)
    picture = anna.get("/api/next").json()["pairs"][0]["query"]
    gone = before["image"][0]
    root = workspace.root
    make_catalog(workspace, before.filter(pl.col("image") != gone), root, "table", replace=True)
    left = {pair for pair in asked if gone not in pair}
    assert asked_pairs(anna, engine) == left < asked
    assert any(
        "The catalog was replaced" in line["what"] and "1 images gone" in line["what"] for line in read_log(engine)
    )
    for address in (value for value in picture.values() if str(value).startswith("/media")):
        assert anna.get(str(address)).status_code in (200, 404)
    make_catalog(workspace, before, root, "table", replace=True)
    assert asked_pairs(anna, engine) == asked


def test_open_work_goes_on_while_the_catalog_is_updated(
    workspace: WorkspaceFolder, app: FastAPI, engine: Engine, expert: Callable[[str], Browser]
) -> None:
    anna = expert("Anna")
    asked = asked_pairs(anna, engine)
    on_the_page = anna.get("/api/next?count=2").json()["pairs"]
    answer(anna, on_the_page[0]["pair"])
    rows, root = pl.read_parquet(workspace.catalog_file).select("image", "item", "category"), workspace.root
    done = pairs_of_ids(engine, on_the_page[0]["pair"])
    gone = next(image for image in rows["image"] if any(image in pair for pair in asked - done))
    update_catalog(workspace, rows.filter(pl.col("image") != gone), root)
    left = {pair for pair in asked - done if gone not in pair}
    assert asked_pairs(anna, engine) == left
    answer(anna, on_the_page[1]["pair"])  # was on her page all the time
    assert read_votes(engine).height == 2
    update_catalog(workspace, rows, root)  # next season it is back, and what is open is asked again
    assert asked_pairs(anna, engine) == asked - done - pairs_of_ids(engine, on_the_page[1]["pair"])


def test_the_command_withdraws_by_itself_and_says_so_while_a_server_runs(
    workspace: WorkspaceFolder, database: str, tmp_path: Path
) -> None:
    """`likewise discover --replace`, in a process of its own, beside a site in another."""
    command = warm("-m", "likewise")
    for arguments in (
        ("encode", workspace.path, "--with", "colour,layout", "--workers", "1"),
        ("discover", workspace.path, "--with", "colour", "--n-queries", "3", "--k", "2"),
    ):
        subprocess.run([*command, *map(str, arguments)], check=True, capture_output=True)
    engine, port = open_votes(database), free_port()
    change_project(engine, repeat_share=0.0)
    with running(workspace.path, database, port):
        client = logged_in(port, invite_expert(engine, "Anna"))
        before = pairs_of(pl.read_parquet(workspace.pool_file))
        seen = [pair["pair"] for pair in client.get("/api/next?count=50").json()["pairs"]]
        assert set(pair_keys(engine, seen).values()) == before
        replace = ("discover", workspace.path, "--with", "layout", "--n-queries", "3", "--k", "2", "--replace")
        said = subprocess.run([*command, *map(str, replace)], check=True, capture_output=True, text=True)
        after = pairs_of(pl.read_parquet(workspace.pool_file))
        assert before - after
        assert "withdrawn" in " ".join(said.stdout.split())
        seen = [pair["pair"] for pair in client.get("/api/next?count=50").json()["pairs"]]
        assert set(pair_keys(engine, seen).values()) == after
        client.close()
    engine.dispose()
