"""An expert's way through the site, as their page goes it."""

from collections.abc import Callable
from uuid import uuid4

from sqlalchemy import Engine

from likewise.labeling import read_votes
from likewise.labeling.store.experts import revoke_expert
from likewise.labeling.store.gold_pairs import EXAMPLE, PRACTICE, set_gold_pairs
from likewise.labeling.store.project import change_project

from .conftest import Browser

Expert = Callable[[str], Browser]


def event(pair: int, answer: str = "similar", **more: object) -> dict[str, object]:
    return {"client_id": str(uuid4()), "pair": pair, "answer": answer, "reason": None, "milliseconds": 1200} | more


def test_from_the_invitation_to_the_last_pair(expert: Expert, engine: Engine) -> None:
    anna = expert("Anna")
    assert "Anna" in anna.get("/welcome").text
    while True:
        reply = anna.get("/api/next?count=5").json()
        if not reply["pairs"]:
            break
        sent = [event(pair["pair"]) for pair in reply["pairs"]]
        said = anna.post("/api/answers", {"events": sent})
        assert said.json()["accepted"] == [one["client_id"] for one in sent]
    assert reply["progress"] == {"answered": 24, "total": 24, "later": 0, "seconds_per_pair": 1.2}
    assert reply["paused"] is False
    assert read_votes(engine).group_by("expert", "answer").len().rows() == [("Anna", "similar", 24)]


def test_the_grid_gives_one_query_at_a_time(expert: Expert, engine: Engine) -> None:
    anna, seen = expert("Anna"), set()
    while True:
        page = anna.get("/api/grid").json()
        if page["query"] is None:
            break
        assert page["query"]["image"] not in seen
        seen.add(page["query"]["image"])
        answers = ["similar"] + ["not similar"] * (len(page["candidates"]) - 1)
        pairs = [one["pair"] for one in page["candidates"]]
        anna.post("/api/answers", {"events": [event(p, a) for p, a in zip(pairs, answers, strict=True)]})
    assert len(seen) == 4
    assert read_votes(engine)["answer"].value_counts().sort("count").rows() == [("similar", 4), ("not similar", 20)]


def test_undo_shows_the_pair_again(expert: Expert, engine: Engine) -> None:
    anna = expert("Anna")
    pair = anna.get("/api/next?count=1").json()["pairs"][0]
    assert anna.post("/api/undo", {"client_id": str(uuid4()), "pair": pair["pair"]}).status_code == 409
    anna.post("/api/answers", {"events": [event(pair["pair"])]})
    undone = anna.post("/api/undo", {"client_id": str(uuid4()), "pair": pair["pair"]}).json()
    assert undone["pair"] == pair
    assert undone["progress"]["answered"] == 0
    assert anna.get("/api/next?count=1").json()["pairs"] == [pair]
    assert read_votes(engine).is_empty()
    assert anna.post("/api/undo", {"client_id": str(uuid4()), "pair": 4711}).status_code == 404


def test_one_expert_cannot_touch_anothers_votes(expert: Expert, engine: Engine) -> None:
    anna, ben = expert("Anna"), expert("Ben")
    sent = event(anna.get("/api/next?count=1").json()["pairs"][0]["pair"])
    anna.post("/api/answers", {"events": [sent]})
    stolen = ben.post("/api/answers", {"events": [sent | {"answer": "not similar"}]}).json()
    assert stolen["accepted"] == []
    assert stolen["refused"][0]["why"] == "this client id belongs to another answer"
    assert ben.post("/api/undo", {"client_id": str(uuid4()), "pair": sent["pair"]}).status_code == 409
    assert ben.get("/api/next").json()["progress"]["answered"] == 0
    assert read_votes(engine).select("expert", "answer").rows() == [("Anna", "similar")]


def test_a_pause_stops_new_pairs_but_not_answers_under_way(expert: Expert, engine: Engine) -> None:
    anna = expert("Anna")
    pair = anna.get("/api/next").json()["pairs"][0]["pair"]
    change_project(engine, paused=True)
    reply = anna.get("/api/next").json()
    assert (reply["pairs"], reply["paused"]) == ([], True)
    assert anna.get("/api/grid").json()["paused"] is True
    assert anna.post("/api/answers", {"events": [event(pair)]}).json()["progress"]["answered"] == 1


def test_a_revoked_expert_is_out_at_once(expert: Expert, engine: Engine) -> None:
    anna = expert("Anna")
    pair = anna.get("/api/next").json()["pairs"][0]["pair"]
    revoke_expert(engine, "Anna")
    assert anna.get("/api/next").status_code == 401
    assert anna.post("/api/answers", {"events": [event(pair)]}).status_code == 401
    assert read_votes(engine).is_empty()


def test_practice_and_examples_are_shown_and_never_stored(expert: Expert, engine: Engine) -> None:
    known = [("circle/blue-0.png", "circle/red-0.png", "similar", "same <b>figure</b>")]
    set_gold_pairs(engine, PRACTICE, known)
    set_gold_pairs(engine, EXAMPLE, known)
    anna = expert("Anna")
    welcome, practice = anna.get("/welcome").text, anna.get("/practice").text
    assert "same &lt;b&gt;figure&lt;/b&gt;" in welcome
    assert "<b>figure" not in welcome + practice
    assert '"answer": "similar"' in practice
    assert anna.get("/api/next").json()["progress"]["total"] == 24


def test_reasons_and_times_are_kept(expert: Expert, engine: Engine) -> None:
    from likewise.labeling.store import read_events

    anna = expert("Anna")
    pair = anna.get("/api/next").json()["pairs"][0]["pair"]
    anna.post("/api/answers", {"events": [event(pair, "cannot tell", reason="too dark ☁", milliseconds=4321)]})
    stored = read_events(engine).select("answer", "reason", "milliseconds", "source").rows()
    assert stored == [("cannot tell", "too dark ☁", 4321, "site")]
    for wrong in ({"reason": "x" * 301}, {"milliseconds": -1}, {"milliseconds": 1.5}, {"pair": "17"}, {"more": 1}):
        reply = anna.post("/api/answers", {"events": [event(pair) | wrong]})
        assert reply.status_code == 422
        assert isinstance(reply.json()["detail"], str)
    assert read_events(engine).height == 1


def test_grades_are_taken_where_they_are_asked_for(expert: Expert, engine: Engine) -> None:
    anna = expert("Anna")
    pair = anna.get("/api/next?count=1").json()["pairs"][0]["pair"]
    stale = anna.post("/api/answers", {"events": [event(pair, "exact")]}).json()
    assert stale["accepted"] == [] and stale["refused"][0]["why"].startswith("this project asks for similar or not")
    change_project(engine, graded=True)
    assert len(anna.post("/api/answers", {"events": [event(pair, "exact")]}).json()["accepted"]) == 1
    assert read_votes(engine)["answer"].to_list() == ["exact"]
