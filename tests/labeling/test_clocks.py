"""A clock that is set back, or ran ahead for a while: which answer counts, who is let in, how fast somebody works."""

import time

import polars as pl
import pytest
from sqlalchemy import Engine

from likewise.labeling import add_votes, read_votes
from likewise.labeling.quality import answer_pace
from likewise.labeling.store import read_events
from likewise.labeling.store.clock import simulated_store_time
from likewise.labeling.store.experts import (
    invite_expert,
    open_owner_session,
    read_experts,
    read_visitors,
    redeem_invitation,
)
from likewise.labeling.store.owner import adjudicate
from likewise.labeling.store.project import change_project, read_log
from likewise.labeling.store.queue import next_pairs
from likewise.web.security import RateLimiter

from .factories import votes_of
from .projects import give, start

NOON, BEFORE, LONG_BEFORE = "2026-05-05T12:00:00.000Z", "2026-05-05T11:00:00.000Z", "1970-01-01T00:00:00.000Z"
NEXT_DAY, NEXT_YEAR = "2026-05-06T12:00:00.000Z", "2027-05-05T12:00:00.000Z"


def test_the_answer_given_last_counts_whatever_the_clock_said(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)
    (ann,) = start(engine, 1, 4, "ann")
    pair = next_pairs(engine, ann, 1)[0][0].pair
    for moment, answer in ((NOON, "similar"), (BEFORE, "not similar"), (LONG_BEFORE, "cannot tell")):
        with simulated_store_time(moment):
            give(engine, ann, pair, answer)
        assert read_votes(engine)["answer"].to_list() == [answer]
    assert read_events(engine)["answer"].to_list() == ["similar", "not similar", "cannot tell"]


def test_a_file_of_votes_that_replaces_earlier_ones_counts_whatever_its_times_say(engine: Engine) -> None:
    votes = votes_of(ann="s", bob="n")
    with simulated_store_time(NOON):
        add_votes(engine, votes.with_columns(time=pl.lit(NOON)), "first")
    other = votes.with_columns(answer=pl.lit("not similar"), time=pl.lit(LONG_BEFORE))
    with simulated_store_time(BEFORE):
        assert add_votes(engine, other, "second", replace=True).replaced == 1
    assert read_votes(engine)["answer"].to_list() == ["not similar", "not similar"]


def test_an_adjudication_is_changed_by_a_later_one_whatever_the_clock_says(engine: Engine) -> None:
    add_votes(engine, votes_of(ann="s", bob="n"), "file")
    pair = int(engine.connect().exec_driver_sql("SELECT id FROM pairs").scalar_one())
    for moment, answer in ((NOON, "similar"), (BEFORE, "not similar")):
        with simulated_store_time(moment):
            adjudicate(engine, pair, answer)
        decided = read_votes(engine).filter(pl.col("expert") == "adjudicator")
        assert decided["answer"].to_list() == [answer]
    assert read_log(engine)[0]["what"].endswith("not similar.")


def test_a_login_while_the_clock_runs_ahead_ends_nobodys_session(engine: Engine) -> None:
    with simulated_store_time(NOON):
        session = redeem_invitation(engine, invite_expert(engine, "Ann"))
        assert session is not None
    with simulated_store_time("2026-06-20T12:00:00.000Z"):
        assert read_visitors(engine, [session]) == [None]
        open_owner_session(engine)
    with simulated_store_time(NEXT_DAY):
        [visitor] = read_visitors(engine, [session])
        assert visitor is not None
        assert visitor.name == "Ann"
    with simulated_store_time(NEXT_YEAR):
        open_owner_session(engine)  # sweeps out what has been over for as long as sessions last
    with simulated_store_time(NEXT_DAY):
        assert read_visitors(engine, [session]) == [None]


def test_a_session_begun_by_a_clock_that_ran_ahead_does_not_last_for_as_long(engine: Engine) -> None:
    with simulated_store_time(NOON):
        link = invite_expert(engine, "Ann", days=3650)
    with simulated_store_time(NEXT_YEAR):
        sessions = [redeem_invitation(engine, link) or "", open_owner_session(engine)]
        assert None not in read_visitors(engine, sessions)
    with simulated_store_time(NOON):
        assert read_visitors(engine, sessions) == [None, None]


def test_a_clock_set_back_by_an_hour_ends_no_session(engine: Engine) -> None:
    with simulated_store_time(NOON):
        sessions = [redeem_invitation(engine, invite_expert(engine, "Ann")) or "", open_owner_session(engine)]
    with simulated_store_time(BEFORE):
        assert None not in read_visitors(engine, sessions)


def test_an_invitation_ends_at_its_date_and_at_once_when_it_is_revoked(engine: Engine) -> None:
    with simulated_store_time(NOON):
        link = invite_expert(engine, "Ann", days=1)
    with simulated_store_time(BEFORE):
        assert redeem_invitation(engine, link) is not None
    with simulated_store_time(NEXT_YEAR):
        assert redeem_invitation(engine, link) is None
        assert [expert.state for expert in read_experts(engine)] == ["expired"]


def test_hours_of_work_leave_out_a_clock_that_was_set_back(engine: Engine) -> None:
    change_project(engine, repeat_share=0.0)
    (ann,) = start(engine, 1, 6, "ann")
    moments = [f"2026-05-05T{clock}.000Z" for clock in ("12:00:00", "12:00:10", "11:00:05", "11:00:15")]
    for pair, moment in zip(next_pairs(engine, ann, 4)[0], moments, strict=True):
        with simulated_store_time(moment):
            give(engine, ann, pair.pair, "similar")
    pace = answer_pace(read_events(engine), "ann")
    assert round(3600 * pace.hours_worked) == 20
    assert pace.answers_per_hour == 360


@pytest.mark.parametrize("moment", [0.0, 4e9])
def test_guessing_is_slowed_down_whatever_the_clock_says(moment: float, monkeypatch: pytest.MonkeyPatch) -> None:
    limiter = RateLimiter(attempts=2, wait_seconds=300.0)
    assert [limiter.take_attempt("here") for _ in range(3)] == [True, True, False]
    monkeypatch.setattr(time, "time", lambda: moment)
    assert not limiter.take_attempt("here")
