"""The vote writer stores answers of many at once; who is told "saved" finds it stored, and a fault is one's own."""

from concurrent.futures import CancelledError

import pytest
from sqlalchemy import Engine, event

from likewise.labeling.store import read_events
from likewise.labeling.store.engine import StoreError
from likewise.labeling.store.events import SubmittedAnswer
from likewise.labeling.store.project import change_project
from likewise.labeling.store.queue import next_pairs
from likewise.labeling.store.vote_writer import VoteWriter

from .projects import client_id, start


def test_what_comes_together_is_stored_together_and_once(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)
    experts = start(engine, 2, 5, "ann", "bob", "cleo")
    commits: list[object] = []
    event.listen(engine, "commit", commits.append)
    writer, sent = VoteWriter(engine), []
    for expert in experts:
        for pair in next_pairs(engine, expert, 10)[0]:
            given = SubmittedAnswer(client_id(), pair.pair, "similar", None, 1000)
            sent += [(given, writer.add(expert, [given])), (given, writer.add(expert, [given]))]  # a double click
    for given, done in sent:
        assert done.result(timeout=30).accepted == [given.client_id]
    writer.close()
    assert 0 < len(commits) - len(experts) < len(sent)  # each reading of the queue ends with one too
    assert read_events(engine).height == 30
    for expert in experts:
        found, progress = next_pairs(engine, expert, 1)
        assert (found, progress.answered, progress.seconds_per_pair) == ([], 10, 1.0)


def test_progress_counts_the_answers_before_it_in_the_same_turn(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)
    (ann,) = start(engine, 1, 3, "ann")
    writer, pairs = VoteWriter(engine), next_pairs(engine, ann, 3)[0]
    done = [writer.add(ann, [SubmittedAnswer(client_id(), pair.pair, "later")]) for pair in pairs]
    assert [future.result(timeout=30).progress.later for future in done] == [1, 2, 3]  # type: ignore[union-attr]
    assert [pair.pair for pair in next_pairs(engine, ann, 3)[0]] == [pair.pair for pair in pairs]
    writer.close()


def test_another_experts_client_id_is_refused_even_in_the_same_turn(engine: Engine) -> None:
    ann, bob = start(engine, 1, 3, "ann", "bob")
    writer, pair = VoteWriter(engine), next_pairs(engine, ann, 1)[0][0].pair
    given = SubmittedAnswer(client_id(), pair, "similar")
    first, second = writer.add(ann, [given]), writer.add(bob, [given])
    assert first.result(timeout=30).accepted == [given.client_id]
    assert second.result(timeout=30).refused == [(given.client_id, "this client id belongs to another answer")]
    writer.close()


def test_one_request_that_cannot_be_stored_does_not_take_the_others_with_it(engine: Engine) -> None:
    ann, bob = start(engine, 1, 3, "ann", "bob")
    writer, pair = VoteWriter(engine), next_pairs(engine, ann, 1)[0][0].pair
    mine = next_pairs(engine, bob, 1)[0][0].pair
    broken = writer.add(
        ann, [SubmittedAnswer(client_id(), pair, "similar", reason="\ud800")]
    )  # no letter of any alphabet
    sound = writer.add(bob, [SubmittedAnswer(client_id(), mine, "similar")])
    assert len(sound.result(timeout=30).accepted) == 1
    with pytest.raises((UnicodeEncodeError, StoreError)):
        broken.result(timeout=30)
    assert read_events(engine)["expert"].to_list() == ["bob"]
    writer.close()


def test_what_waits_is_stored_before_closing(engine: Engine) -> None:
    (ann,) = start(engine, 1, 5, "ann")
    writer = VoteWriter(engine)
    sent = [
        writer.add(ann, [SubmittedAnswer(client_id(), pair.pair, "similar")]) for pair in next_pairs(engine, ann, 5)[0]
    ]
    withdrawn = sent[-1].cancel()
    writer.close()
    assert all(future.done() for future in sent)
    assert read_events(engine).height == len(sent) - withdrawn
    if withdrawn:
        with pytest.raises(CancelledError):
            sent[-1].result()


def test_a_scribe_that_was_closed_begins_again(engine: Engine) -> None:
    (ann,) = start(engine, 1, 5, "ann")
    writer = VoteWriter(engine)
    for pair in next_pairs(engine, ann, 2)[0]:
        assert writer.add(ann, [SubmittedAnswer(client_id(), pair.pair, "similar")]).result(timeout=30).accepted
        writer.close()
    writer.close()
