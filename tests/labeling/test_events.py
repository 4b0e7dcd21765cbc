"""Answers are events: each stored once, changed by adding another, taken back by adding another."""

import threading

import polars as pl
import pytest
from sqlalchemy import Engine, text

from likewise.errors import LikewiseError
from likewise.labeling import open_votes, read_votes
from likewise.labeling.store import read_events
from likewise.labeling.store.events import SubmittedAnswer, add_answers, undo_answer
from likewise.labeling.store.gold_pairs import CATCH, PRACTICE, set_gold_pairs
from likewise.labeling.store.owner import adjudicate, remove_votes
from likewise.labeling.store.project import change_project, read_log
from likewise.labeling.store.queue import next_grid, next_pairs

from .projects import answer_all, client_id, give, start


def progress_of(engine: Engine, expert: int) -> tuple[int, int, int]:
    _, progress = next_pairs(engine, expert, 1)
    return progress.answered, progress.total, progress.later


def answers_of(engine: Engine) -> list[str]:
    return read_votes(engine)["answer"].to_list()


@pytest.fixture
def no_repeats(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)


@pytest.mark.usefixtures("no_repeats")
class TestOneExpert:
    def test_a_double_click_is_one_vote(self, engine: Engine) -> None:
        (ann,) = start(engine, 1, 4, "ann")
        pair = next_pairs(engine, ann, 1)[0][0].pair
        given = SubmittedAnswer(client_id(), pair, "similar", None, 900)
        assert add_answers(engine, ann, [given, given]).accepted == [given.client_id] * 2
        assert add_answers(engine, ann, [given]).accepted == [given.client_id]
        assert read_events(engine).height == 1
        assert progress_of(engine, ann) == (1, 4, 0)

    def test_two_tabs_make_two_revisions_and_one_vote(self, engine: Engine) -> None:
        (ann,) = start(engine, 1, 4, "ann")
        pair = next_pairs(engine, ann, 1)[0][0].pair
        give(engine, ann, pair, "similar")
        give(engine, ann, pair, "not similar")
        assert answers_of(engine) == ["not similar"]
        assert read_events(engine)["revision"].to_list() == [1, 2]
        assert progress_of(engine, ann) == (1, 4, 0)

    def test_a_replay_of_everything_changes_nothing(self, engine: Engine) -> None:
        (ann,) = start(engine, 2, 5, "ann")
        sent = [
            SubmittedAnswer(client_id(), pair.pair, "similar", "looks it", 100)
            for pair in next_pairs(engine, ann, 10)[0]
        ]
        add_answers(engine, ann, sent)
        before = read_events(engine)
        add_answers(engine, ann, sent[::-1])
        assert read_events(engine).equals(before)
        assert progress_of(engine, ann) == (10, 10, 0)

    def test_undo_brings_the_pair_back_and_what_was_said_before(self, engine: Engine) -> None:
        (ann,) = start(engine, 1, 4, "ann")
        pair = next_pairs(engine, ann, 1)[0][0].pair
        give(engine, ann, pair, "similar")
        give(engine, ann, pair, "not similar")
        undo = client_id()
        undo_answer(engine, ann, pair, undo)
        undo_answer(engine, ann, pair, undo)  # sent twice, done once
        assert answers_of(engine) == ["similar"]
        assert progress_of(engine, ann) == (1, 4, 0)
        undo_answer(engine, ann, pair, client_id())
        assert answers_of(engine) == []
        assert next_pairs(engine, ann, 1)[0][0].pair == pair
        assert progress_of(engine, ann) == (0, 4, 0)
        with pytest.raises(LikewiseError, match="no answer of yours"):
            undo_answer(engine, ann, pair, client_id())
        give(engine, ann, pair, "cannot tell")
        assert answers_of(engine) == ["cannot tell"]
        assert read_events(engine)["answer"].to_list() == ["similar", "not similar", "undo", "undo", "cannot tell"]

    def test_later_comes_back_at_the_end(self, engine: Engine) -> None:
        (ann,) = start(engine, 1, 5, "ann")
        first = next_pairs(engine, ann, 1)[0][0].pair
        give(engine, ann, first, "later")
        assert answers_of(engine) == []
        assert progress_of(engine, ann) == (0, 5, 1)
        order = [pair.pair for pair in next_pairs(engine, ann, 5)[0]]
        assert (order[-1], len(order)) == (first, 5)
        give(engine, ann, order[0], "later")
        assert [pair.pair for pair in next_pairs(engine, ann, 5)[0]][-2:] == [first, order[0]]
        give(engine, ann, first, "similar")
        assert progress_of(engine, ann) == (1, 5, 1)

    def test_what_the_page_holds_is_left_out(self, engine: Engine) -> None:
        (ann,) = start(engine, 1, 6, "ann")
        order = [pair.pair for pair in next_pairs(engine, ann, 6)[0]]
        assert [pair.pair for pair in next_pairs(engine, ann, 2, order[:3])[0]] == order[3:5]
        assert next_pairs(engine, ann, 6, order)[0] == []

    def test_the_grid_has_all_that_is_left_of_one_query(self, engine: Engine) -> None:
        (ann,) = start(engine, 3, 4, "ann")
        page, _ = next_grid(engine, ann)
        assert page is not None
        assert len(page.candidates) == 4
        assert {pair.query_image for pair, _ in page.candidates} == {page.query_image}
        give(engine, ann, page.candidates[0][0].pair)
        give(engine, ann, page.candidates[1][0].pair, "later")
        again, _ = next_grid(engine, ann, skip=[page.candidates[2][0].pair])
        while again is not None and again.query_image != page.query_image:
            for pair, _ in again.candidates:
                give(engine, ann, pair.pair)
            again, _ = next_grid(engine, ann, skip=[page.candidates[2][0].pair])
        assert again is not None
        assert sorted(str(answer) for _, answer in again.candidates) == ["None", "later"]


@pytest.mark.usefixtures("no_repeats")
def test_nobody_writes_for_somebody_else(engine: Engine) -> None:
    ann, bob = start(engine, 1, 3, "ann", "bob")
    pair = next_pairs(engine, ann, 1)[0][0].pair
    sent = SubmittedAnswer(client_id(), pair, "similar")
    add_answers(engine, ann, [sent])
    assert add_answers(engine, bob, [sent]).refused == [(sent.client_id, "this client id belongs to another answer")]
    with pytest.raises(LikewiseError, match="belongs to another answer"):
        undo_answer(engine, bob, pair, sent.client_id)
    assert (
        add_answers(engine, ann, [SubmittedAnswer(client_id(), 12345, "similar")])
        .refused[0][1]
        .startswith("this pair is")
    )
    assert read_votes(engine).select("expert", "answer").rows() == [("ann", "similar")]


def test_many_threads_lose_nothing_and_count_right(database: str) -> None:
    engine = open_votes(database, serving=True)
    experts = start(engine, 3, 10, "ann", "bob", "cid", "dee")
    threads = [threading.Thread(target=answer_all, args=(engine, expert)) for expert in experts for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    assert read_votes(engine).height == 4 * 30
    for expert in experts:
        answered, total, later = progress_of(engine, expert)
        assert (answered, later) == (total, 0)
    with engine.connect() as connection:
        twice = "SELECT count(*) FROM (SELECT 1 FROM events GROUP BY pair, expert, revision HAVING count(*) > 1) AS t"
        assert connection.execute(text(twice)).scalar_one() == 0
    engine.dispose()


def test_of_a_hidden_repeat_the_first_answer_counts(engine: Engine) -> None:
    change_project(engine, repeat_share=0.5)
    (ann,) = start(engine, 4, 10, "ann")
    first = answer_all(engine, ann, "similar")
    assert len(first) > 45  # 40 pairs and about 20 repeats
    assert len(set(first)) == len(first)  # a repeat has an id of its own
    log = read_events(engine)
    repeats = log.filter(pl.col("asking") > 0)
    assert repeats.height == len(first) - 40
    order = {(q, c, a): n for n, (q, c, a) in enumerate(log.select("query", "candidate", "asking").iter_rows())}
    gaps = [order[q, c, 1] - order[q, c, 0] for q, c, a in order if a == 1]
    assert min(gaps) >= 1
    assert sum(gap >= 12 for gap in gaps) > len(gaps) / 2  # the last ones have nothing left to hide behind
    for pair in first:
        give(engine, ann, pair, "not similar")  # second thoughts about everything, the originals included
    assert answers_of(engine) == ["not similar"] * 40
    events = read_events(engine).filter(pl.col("asking") > 0)
    assert events.height == 2 * repeats.height


def test_only_the_repeat_changed_keeps_the_vote(engine: Engine) -> None:
    change_project(engine, repeat_share=0.5)
    (ann,) = start(engine, 2, 10, "ann")
    asked = answer_all(engine, ann, "similar")
    with engine.connect() as connection:
        repeats = list(connection.scalars(text("SELECT id FROM pairs WHERE asking > 0")))
    assert repeats
    for pair in set(repeats) & set(asked):
        give(engine, ann, pair, "not similar")
    assert answers_of(engine) == ["similar"] * 20


@pytest.mark.usefixtures("no_repeats")
def test_catch_and_practice_pairs_are_no_votes(engine: Engine) -> None:
    set_gold_pairs(engine, CATCH, [("q0.png", "q0-again.png", "similar", "")])
    set_gold_pairs(engine, PRACTICE, [("q0.png", "far.png", "not similar", "other shape")])
    (ann,) = start(engine, 1, 4, "ann")
    assert len(answer_all(engine, ann)) == 5  # the catch pair is among them, the practice pair is not
    assert read_votes(engine).height == 4
    assert read_events(engine).height == 5


@pytest.mark.usefixtures("no_repeats")
def test_removed_votes_stay_in_the_log_with_the_reason(engine: Engine) -> None:
    ann, bob = start(engine, 1, 4, "ann", "bob")
    answer_all(engine, ann)
    answer_all(engine, bob)
    assert remove_votes(engine, "ann", "  pressed one key ") == 4
    assert remove_votes(engine, "ann", "again") == 0
    assert set(read_votes(engine)["expert"]) == {"bob"}
    log = read_events(engine).filter(pl.col("expert") == "ann")
    assert log["answer"].to_list() == ["similar"] * 4 + ["removed"] * 4
    assert log["reason"].to_list()[-1] == "pressed one key"
    assert "4 votes of ann were removed: pressed one key" in [line["what"] for line in read_log(engine)]
    assert progress_of(engine, ann) == (0, 4, 0)  # they may answer again
    answer_all(engine, ann, "not similar")
    assert read_votes(engine).filter(pl.col("expert") == "ann")["answer"].to_list() == ["not similar"] * 4
    with pytest.raises(LikewiseError, match="say why"):
        remove_votes(engine, "ann", " ")
    with pytest.raises(LikewiseError, match="nobody called 'eve'"):
        remove_votes(engine, "eve", "why")


@pytest.mark.usefixtures("no_repeats")
def test_a_tie_is_decided_by_one_more_voice_and_only_a_tie(engine: Engine) -> None:
    ann, bob = start(engine, 1, 2, "ann", "bob")
    tied, agreed = (pair.pair for pair in next_pairs(engine, ann, 2)[0])
    for expert, answers in ((ann, ("similar", "similar")), (bob, ("not similar", "similar"))):
        give(engine, expert, tied, answers[0])
        give(engine, expert, agreed, answers[1])
    adjudicate(engine, tied, "similar")
    adjudicate(engine, tied, "not similar")  # minds change
    decided = read_votes(engine).filter(pl.col("expert") == "adjudicator")
    assert decided["answer"].to_list() == ["not similar"]
    for pair, answer in ((agreed, "similar"), (99, "similar"), (tied, "cannot tell")):
        with pytest.raises(LikewiseError):
            adjudicate(engine, pair, answer)
