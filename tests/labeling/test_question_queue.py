"""Questions of other kinds: everybody's own order, shares, progress, and nothing asked twice or forgotten."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, text

from likewise.errors import LikewiseError
from likewise.labeling.store import open_votes
from likewise.labeling.store.experts import invite_expert, read_experts
from likewise.labeling.store.question_queue import next_question, question_progress
from likewise.labeling.store.questionnaires import add_questionnaire, close_questionnaire
from likewise.labeling.store.questions import NewQuestion, add_question_answers, add_questions, read_answers
from tests.databases import KINDS, new_database


@pytest.fixture(params=KINDS)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    opened = open_votes(new_database(request.param, tmp_path))
    yield opened
    opened.dispose()


def expert(engine: Engine, name: str) -> int:
    invite_expert(engine, name)
    return next(one.id for one in read_experts(engine) if one.name == name)


def outfits(n: int) -> list[NewQuestion]:
    return [NewQuestion(f"o{number}", ("a.png", "b.png")) for number in range(n)]


def walk(engine: Engine, who: int) -> list[int]:
    """Answer until nothing is left; the ids in the order they were asked."""
    seen = []
    while (asked := next_question(engine, who, None)[0]) is not None:
        seen.append(asked.id)
        add_question_answers(engine, who, None, [(str(uuid.uuid4()), asked.id, "keep", 500)])
        assert len(seen) < 1000
    return seen


def test_everybody_is_asked_everything_once_in_an_order_of_their_own(engine: Engine) -> None:
    add_questions(engine, "keep", outfits(30))
    add_questions(engine, "keep", outfits(10), "more")
    first, second = walk(engine, expert(engine, "Anna")), walk(engine, expert(engine, "Ben"))
    assert len(first) == len(set(first)) == 40
    assert set(first) == set(second)
    assert first != second


def test_shares_are_disjoint_even_and_complete(engine: Engine) -> None:
    people = [expert(engine, name) for name in ("Anna", "Ben", "Carla")]
    add_questions(engine, "keep", outfits(31), "keep", n_shares=3)
    parts = [walk(engine, who) for who in people]
    assert sorted(len(part) for part in parts) == [10, 10, 11]
    assert len(set().union(*parts)) == 31
    assert question_progress(engine, people[0], None).total == len(parts[0])
    late = expert(engine, "Dora")  # a fourth shares the first one's share
    assert set(walk(engine, late)) == set(parts[0])
    with pytest.raises(LikewiseError, match="3 shares, not 4"):
        add_questions(engine, "keep", outfits(2), "keep", n_shares=4)


def test_questions_passed_by_come_back_at_the_end(engine: Engine) -> None:
    who = expert(engine, "Anna")
    add_questions(engine, "keep", outfits(6))
    held: list[int] = []
    for _ in range(3):  # a page fetches three ahead and is closed; only the last is answered
        asked = next_question(engine, who, None, held)[0]
        assert asked is not None
        held.append(asked.id)
    add_question_answers(engine, who, None, [("x", held[2], "keep", None)])
    rest = walk(engine, who)
    assert set(held[:2]) <= set(rest)
    assert len(rest) == 5
    assert question_progress(engine, who, None).answered == 6


def test_progress_counts_a_question_once_and_forgets_closed_questionnaires(engine: Engine) -> None:
    who = expert(engine, "Anna")
    add_questions(engine, "keep", outfits(3), "first")
    add_questions(engine, "keep", outfits(4), "second")
    asked = next_question(engine, who, None)[0]
    assert asked is not None
    for client, value in (("1", "keep"), ("2", "delete"), ("2", "delete")):
        add_question_answers(engine, who, None, [(client, asked.id, value, 1000)])
    progress = question_progress(engine, who, None)
    assert (progress.answered, progress.total, progress.seconds_per_pair) == (1, 7, 1.0)
    assert read_answers(engine)["value"].to_list() == ["delete"]
    close_questionnaire(engine, "first")
    assert question_progress(engine, who, None).total == 4
    assert question_progress(engine, who, None).answered == 0


def test_a_database_of_yesterday_keeps_its_progress(tmp_path: Path) -> None:
    engine = open_votes(new_database("sqlite", tmp_path))
    who = expert(engine, "Anna")
    add_questionnaire(engine, "main", "Questions")
    add_questions(engine, "keep", outfits(5))
    asked = next_question(engine, who, None)[0]
    assert asked is not None
    add_question_answers(engine, who, None, [("1", asked.id, "keep", 700)])
    url = str(engine.url)
    with engine.begin() as connection:  # back to the second schema
        for statement in (
            "ALTER TABLE pairs DROP COLUMN withdrawn",
            "DROP TABLE notes",
            "DROP TABLE question_progress",
            "DROP INDEX questions_next",
            "ALTER TABLE questions DROP COLUMN share",
            "ALTER TABLE questionnaires DROP COLUMN n_shares",
            "UPDATE alembic_version SET version_num = '0002'",
        ):
            connection.execute(text(statement))
    engine.dispose()
    again = open_votes(url)
    progress = question_progress(again, who, None)
    assert (progress.answered, progress.total, progress.seconds_per_pair) == (1, 5, 0.7)
    again.dispose()
