"""The owner's side: the board, what can be done from it, exports, and the same from the command line."""

import io
import json
import re
from collections.abc import Callable
from uuid import uuid4

import polars as pl
from fastapi.testclient import TestClient
from sqlalchemy import Engine

from likewise.labeling import read_votes
from likewise.labeling.store.gold_pairs import CATCH, EXAMPLE, read_gold_pairs, set_gold_pairs
from likewise.labeling.store.pairs import pair_keys
from likewise.labeling.store.project import change_project, read_log, read_project
from likewise.labeling.store.questionnaires import add_questionnaire, close_questionnaire
from likewise.labeling.store.questions import NewQuestion, add_questions, read_answers
from likewise.web.dashboard import dashboard_context

from .conftest import Browser, csrf_of

Expert = Callable[[str], Browser]


def answer_everything(browser: Browser, engine: Engine, say: Callable[[str, str], str]) -> None:
    while shown := browser.get("/api/next?count=20").json()["pairs"]:
        keys = pair_keys(engine, [pair["pair"] for pair in shown])
        events = [
            {"client_id": str(uuid4()), "pair": pair["pair"], "answer": say(*keys[pair["pair"]]), "milliseconds": 2000}
            for pair in shown
        ]
        assert browser.post("/api/answers", {"events": events}).status_code == 200


def same_colour(query: str, candidate: str) -> str:
    return "similar" if query.split("/")[1][:3] == candidate.split("/")[1][:3] else "not similar"


def test_the_board_says_how_the_project_stands(expert: Expert, owner: Browser, engine: Engine, app: object) -> None:
    change_project(engine, repeat_share=0.4)
    set_gold_pairs(engine, CATCH, [("circle/blue-0.png", "circle/blue-1.png", "similar", "")])
    anna, ben, carla = expert("Anna"), expert("Ben"), expert("Carla")
    answer_everything(anna, engine, same_colour)
    answer_everything(ben, engine, same_colour)
    first = carla.get("/api/next?count=4").json()["pairs"]
    keys = pair_keys(engine, [pair["pair"] for pair in first])
    opposite = {"similar": "not similar", "not similar": "similar"}
    events = [
        {"client_id": str(uuid4()), "pair": p["pair"], "answer": opposite[same_colour(*keys[p["pair"]])]} for p in first
    ]
    carla.post("/api/answers", {"events": events})
    board = dashboard_context(app.state.site)  # type: ignore[attr-defined]
    rows = {row["name"]: row for row in board["experts"]}
    assert rows["Anna"]["answered"] == rows["Anna"]["total"] > 24
    assert rows["Anna"]["self_consistency"] == 1.0
    assert rows["Anna"]["catch_correct"] == 1.0
    assert rows["Anna"]["seconds_per_pair"] == 2.0
    assert rows["Carla"]["answered"] == 4
    assert rows["Carla"]["agreement"] == 0.0
    assert len(board["divided"]) in (3, 4)  # her four, one of which may be the catch pair
    assert board["agreement"]["alpha_low"] <= board["agreement"]["alpha"] <= board["agreement"]["alpha_high"]
    assert board["cost"]["pairs"] == 24
    assert board["cost"]["speed_up"] == 4 * 10 / 24  # four queries, ten other items
    assert sum(row["answered"] for row in board["per_query"]) == 24
    page = owner.get("/owner").text
    assert "Carla" in page
    assert board["divided"][0]["query"]["thumb"] in page


def test_what_the_owner_does_is_done_and_logged(expert: Expert, owner: Browser, engine: Engine) -> None:
    anna = expert("Anna")
    answer_everything(anna, engine, same_colour)
    assert owner.form("/owner/pause").status_code == 303
    assert read_project(engine).paused
    assert anna.get("/api/next").json()["paused"] is True
    assert owner.form("/owner/resume").status_code == 303
    invited = owner.form("/owner/invite", name="Ben <b>", days="7").text
    link = re.search(r"http://127\.0\.0\.1:8000(/i/[\w-]+)", invited)
    assert link
    assert TestClient(owner.client.app, base_url="http://127.0.0.1:8000").get(link[1]).status_code == 200
    assert owner.form("/owner/remove-votes", expert="Anna", reason="a test").status_code == 303
    assert read_votes(engine).is_empty()
    assert owner.form("/owner/revoke", expert="Anna").status_code == 303
    assert anna.get("/api/next").status_code == 401
    assert owner.form("/owner/revoke", expert="Nobody").status_code == 400
    assert owner.form("/owner/invite", name="Zoe", days="-1").status_code == 422
    done = [line["what"] for line in read_log(engine)]
    for words in ("was paused", "was resumed", "Ben <b> was invited", "removed: a test", "invitation was revoked"):
        assert any(words in line for line in done), words


def test_exports_open_with_other_tools(expert: Expert, owner: Browser, engine: Engine) -> None:
    answer_everything(expert("Anna"), engine, same_colour)
    answer_everything(expert("Ben"), engine, same_colour)
    labels = pl.read_parquet(io.BytesIO(owner.get("/owner/export/labels.parquet").content))
    tags = json.loads(owner.get("/owner/export/vsd.json").text)
    crowd = pl.read_csv(io.BytesIO(owner.get("/owner/export/crowdkit.csv").content))
    events = pl.read_csv(io.BytesIO(owner.get("/owner/export/events.csv").content))
    assert labels.height == len(tags) == 24
    assert {tuple(tag["key"]): tag["value"] for tag in tags} == {
        (query, candidate): label for query, candidate, label in labels.select("query", "candidate", "label").rows()
    }
    assert crowd.columns == ["task", "worker", "label"]
    assert (crowd.height, events.height) == (48, 48)
    assert owner.get("/owner/export/passwords.csv").status_code == 404


def test_guidelines_and_examples_are_the_owners(expert: Expert, owner: Browser, engine: Engine) -> None:
    page = owner.get("/owner/guidelines").text
    pairs = re.findall(r'name="pair" value="(\d+)"', page)
    assert len(pairs) == 24
    fields = {
        "text": "Shape first.\n\nColour second.",
        "pair": pairs[:3],
        "use": ["example", "practice", ""],
        "answer": ["similar", "not similar", "similar"],
        "note": ["both round", "", ""],
    }
    assert owner.form("/owner/guidelines", **fields).status_code == 303
    assert [known.note for known in read_gold_pairs(engine, EXAMPLE)] == ["both round"]
    welcome = expert("Anna").get("/welcome").text
    assert "Colour second." in welcome
    assert "both round" in welcome
    assert owner.form("/owner/guidelines", **(fields | {"use": ["example"]})).status_code == 422


def test_questions_of_every_kind(expert: Expert, engine: Engine, stranger: TestClient) -> None:
    images = ["circle/red-0.png", "square/red-0.png", "square/blue-0.png"]
    options = tuple((name, name, key) for name, key in zip("ab", images[1:], strict=True))
    add_questions(engine, "triplet", [NewQuestion("t1", (images[0],), options)])
    add_questions(engine, "rating", [NewQuestion("r1", tuple(images))])
    add_questions(engine, "keep", [NewQuestion("k1", tuple(images))])
    assert add_questions(engine, "choice", [NewQuestion("c1", tuple(images[:1]), options, "Which bag?")] * 2) == 1
    anna, given = expert("Anna"), {}
    while (asked := anna.get("/api/questions/next").json())["question"]:
        question = asked["question"]
        value = question["options"][-1]["value"]
        event = {"client_id": str(uuid4()), "question": question["id"], "value": value, "milliseconds": 700}
        wrong = anna.post("/api/questions/answers", {"events": [event | {"value": "zzz"}]}).json()
        assert wrong["refused"][0]["why"] == "this is not one of the question's answers"
        for _ in range(2):  # sent twice, stored once
            said = anna.post("/api/questions/answers", {"events": [event]}).json()
            assert said["accepted"] == [event["client_id"]]
        given[question["kind"]] = value
    assert given == {"triplet": "b", "rating": "10", "keep": "delete", "choice": "b"}
    assert asked["progress"]["answered"] == 4
    answers = read_answers(engine)
    assert answers.select("question", "value").rows() == [("c1", "b"), ("k1", "delete"), ("r1", "10"), ("t1", "b")]


def test_a_public_questionnaire_is_opened_on_purpose_and_has_limits(
    stranger: TestClient, expert: Expert, engine: Engine
) -> None:
    add_questions(engine, "keep", [NewQuestion("secret", ("circle/red-0.png",))])
    assert stranger.get("/q/crowd").status_code == 404
    add_questionnaire(engine, "crowd", "Outfits", consent="We ask.\n\nYou answer.", public=True, most_guests=1)
    add_questions(engine, "keep", [NewQuestion("k1", ("circle/red-0.png",))], "crowd")
    page = stranger.get("/q/crowd").text
    token = csrf_of(page)
    assert "You answer." in page
    assert stranger.post("/q/crowd", data={"csrf_token": token}).status_code == 200  # asked to tick the box
    assert stranger.get("/questions").status_code == 401
    assert stranger.post("/q/crowd", data={"csrf_token": token, "agree": "yes"}).status_code == 200
    asked = stranger.get("/api/questions/next").json()
    assert asked["progress"]["total"] == 1  # their questionnaire, nothing else
    assert stranger.get("/api/next").status_code == 401
    second = TestClient(stranger.app, base_url="http://127.0.0.1:8000")
    token = csrf_of(second.get("/q/crowd").text)
    assert "all the answers it needs" in second.post("/q/crowd", data={"csrf_token": token, "agree": "yes"}).text
    assert expert("Anna").get("/api/questions/next").json()["progress"]["total"] == 1  # an expert: the other one
    close_questionnaire(engine, "crowd")
    assert second.get("/q/crowd").status_code == 404
