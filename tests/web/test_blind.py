"""Nothing an expert can get says who proposed a pair, where it ranked, what others answered, or a file's name."""

import re
from collections.abc import Callable
from uuid import uuid4

import polars as pl
from fastapi import FastAPI
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from likewise.labeling.store.gold_pairs import PRACTICE, set_gold_pairs
from likewise.labeling.store.project import change_project
from likewise.labeling.store.questionnaires import add_questionnaire
from likewise.labeling.store.questions import NewQuestion, add_questions
from likewise.web.extension_pages import EXPERT, GUEST
from likewise.web.routes import expert_api, expert_pages, questions
from likewise.workspace import WorkspaceFolder

from .conftest import BASE, GENERATORS, Browser, csrf_of
from .test_access import MAY, VALUES, routes_of

WORDS = ("generator", "provenance", "rank", "score", "encoder")
SECRETS = (*GENERATORS, *WORDS, "0.98", "Benedikta", "not-for-you", ".png", "circle")
WRONG = ("/api/next?count=0", "/api/next?skip=x", "/nowhere", "/media/full/17", "/owner", "/owner/export/events.csv")


def everything_an_expert_gets(browser: Browser, app: FastAPI) -> list[tuple[str, str]]:
    """The text (and headers) of every reply of every route that an expert may call, in all states of the work."""
    replies = []

    def keep(path: str, reply: object) -> None:
        headers = " ".join(f"{name}: {value}" for name, value in reply.headers.items())  # type: ignore[attr-defined]
        replies.append((path, headers + reply.text))  # type: ignore[attr-defined]

    pages = {path for method, path in routes_of(expert_pages.router.routes) if method == "GET" and "{" not in path}
    calls = {path for method, path in routes_of(expert_api.router.routes) if method == "GET"}
    calls |= {"/questions", "/api/questions/next"}
    assert {"/work", "/grid", "/welcome", "/practice"} <= pages
    assert ("GET", "/api/questions/next") in set(routes_of(questions.router.routes))
    for path in sorted(pages | calls):
        keep(path, browser.get(path, headers={"Accept": "text/html"}))
    for answer in ("similar", "not similar", "cannot tell", "later"):
        reply = browser.get("/api/next?count=5")
        keep("/api/next", reply)
        shown = reply.json()["pairs"]
        events = [{"client_id": str(uuid4()), "pair": pair["pair"], "answer": answer} for pair in shown]
        keep("/api/answers", browser.post("/api/answers", {"events": events}))
        keep("/api/answers", browser.post("/api/answers", {"events": [events[0] | {"pair": 17}]}))
        keep("/api/undo", browser.post("/api/undo", {"client_id": str(uuid4()), "pair": shown[0]["pair"]}))
        keep("/api/undo", browser.post("/api/undo", {"client_id": str(uuid4()), "pair": 17}))
        keep("/api/grid", browser.get("/api/grid"))
        for picture in (shown[0]["query"], shown[0]["candidate"]):
            for size in ("thumb", "full"):
                got = browser.get(picture[size])
                assert got.status_code == 200
                replies.append((picture[size], " ".join(f"{k}: {v}" for k, v in got.headers.items())))
    asked = browser.get("/api/questions/next")
    keep("/api/questions/next", asked)
    event = {"client_id": str(uuid4()), "question": asked.json()["question"]["id"], "value": "keep"}
    keep("/api/questions/answers", browser.post("/api/questions/answers", {"events": [event]}))
    for wrong in WRONG:
        keep(wrong, browser.get(wrong))
    return replies + every_page(browser, EXPERT)


def every_page(browser: Browser, role: str) -> list[tuple[str, str]]:
    """Whatever a role may open at all, and every file that its pages load."""
    guessed = VALUES | {"key": "the-owners-key-is-not-known"}
    waiting = [path.format(**guessed) for (method, path), may in MAY.items() if method == "GET" and role in may]
    replies: dict[str, str] = {}
    while waiting:
        path = waiting.pop()
        reply = browser.get(path, headers={"Accept": "text/html"})
        is_picture = reply.headers.get("content-type", "").startswith("image/")
        headers = " ".join(f"{name}: {value}" for name, value in reply.headers.items())
        replies[path] = headers if is_picture else headers + reply.text
        loaded = re.findall(r"/static/[\w./]+", replies[path])
        loaded += [f"/static/{name}" for name in re.findall(r'from "\./([\w.]+)"', replies[path])]
        waiting += [file for file in loaded if file not in replies]
    assert any(path.startswith("/static/") for path in replies)
    return list(replies.items())


def test_every_reply_is_blind(
    app: FastAPI, engine: Engine, expert: Callable[[str], Browser], workspace: WorkspaceFolder
) -> None:
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    set_gold_pairs(engine, PRACTICE, [(images[0], images[9], "similar", "a note")])
    add_questions(
        engine, "keep", [NewQuestion("not-for-you-1", (images[0],)), NewQuestion("not-for-you-2", (images[1],))]
    )
    change_project(engine, repeat_share=0.3)
    other = expert("Benedikta")
    shown = other.get("/api/next?count=20").json()["pairs"]
    events = [{"client_id": str(uuid4()), "pair": pair["pair"], "answer": "similar"} for pair in shown]
    other.post("/api/answers", {"events": events})
    replies = everything_an_expert_gets(expert("Anna"), app)
    assert len(replies) > 50
    assert_blind(replies)


def test_a_guest_of_a_public_questionnaire_learns_no_more(
    app: FastAPI, engine: Engine, expert: Callable[[str], Browser], workspace: WorkspaceFolder
) -> None:
    images = pl.read_parquet(workspace.catalog_file)["image"].to_list()
    add_questionnaire(engine, "open", "Open", consent="Really?", public=True, most_guests=5)
    add_questions(engine, "keep", [NewQuestion("not-for-you-1", (images[0],))], questionnaire="open")
    expert("Benedikta")
    client = TestClient(app, base_url=BASE)
    guest = Browser(client, csrf_of(client.get("/q/open").text))
    assert guest.form("/q/open", agree="yes").status_code == 303
    guest.csrf = csrf_of(client.get("/questions").text)
    asked = guest.get("/api/questions/next")
    event = {"client_id": str(uuid4()), "question": asked.json()["question"]["id"], "value": "keep"}
    answered = guest.post("/api/questions/answers", {"events": [event]})
    assert answered.json()["accepted"] == [event["client_id"]]
    replies = every_page(guest, GUEST)
    assert len(replies) > 10
    assert_blind([*replies, ("asked", asked.text), ("answered", answered.text)])


def assert_blind(replies: list[tuple[str, str]]) -> None:
    for path, text in replies:
        for secret in SECRETS:
            assert secret.lower() not in text.lower(), (path, secret, text[:300])


def test_a_repeat_looks_like_any_other_pair(engine: Engine, expert: Callable[[str], Browser]) -> None:
    change_project(engine, repeat_share=0.5)
    anna, pairs = expert("Anna"), []
    while shown := anna.get("/api/next?count=3").json()["pairs"]:
        pairs += shown
        events = [{"client_id": str(uuid4()), "pair": pair["pair"], "answer": "similar"} for pair in shown]
        anna.post("/api/answers", {"events": events})
    assert len(pairs) > 26
    assert len({pair["pair"] for pair in pairs}) == len(pairs)
    assert all(set(pair) == {"pair", "query", "candidate"} for pair in pairs)
    assert all(pair["pair"] > 10**6 for pair in pairs)  # ids are random, not counted
