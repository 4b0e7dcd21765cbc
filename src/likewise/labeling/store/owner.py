"""What only the owner does to votes: take an expert's out, decide ties. Both are events; nothing is deleted."""

import polars as pl
from sqlalchemy import Engine, func, select
from sqlalchemy.orm import aliased

from likewise.errors import LikewiseError
from likewise.labeling.store.add import add_votes
from likewise.labeling.store.assignment import refresh_queue_states
from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.current_vote import current_event
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.images import insert_many
from likewise.labeling.store.models import ADJUDICATOR, REMOVED, Event, Expert, Image, Pair
from likewise.labeling.store.project import add_log_entry
from likewise.labeling.store.read import VOTES
from likewise.labeling.votes import ANSWERS, CANNOT_TELL, NEGATIVE_ANSWERS, POSITIVE_ANSWERS

ADJUDICATOR_NAME = "adjudicator"


def remove_votes(engine: Engine, name: str, reason: str) -> int:
    """Take all of an expert's current answers out of the votes; how many. The answers stay in the event log."""
    reason = " ".join(reason.split())
    if not reason:
        raise LikewiseError("say why the votes are removed: the reason is kept in the log.")
    with write_transaction(engine) as connection:
        expert = connection.execute(select(Expert.id).where(Expert.name == name)).scalar_one_or_none()
        if expert is None:
            raise LikewiseError(f"nobody called {name!r} has votes here: see `likewise label status`.")
        events: dict[int, list[tuple[int, str, int | None]]] = {}
        found = connection.execute(
            select(Event.pair, Event.revision, Event.answer, Event.undoes).where(Event.expert == expert)
        )
        for pair, revision, answer, undoes in found:
            events.setdefault(pair, []).append((revision, answer, undoes))
        rows, moment = [], store_time_now()
        for pair, of_pair in events.items():
            current = current_event(of_pair)
            if current is not None and current[1] in ANSWERS:
                row: dict[str, object] = {
                    "pair": pair,
                    "expert": expert,
                    "revision": max(event[0] for event in of_pair) + 1,
                }
                row |= {"answer": REMOVED, "reason": reason, "time": moment, "stored": moment, "source": "owner"}
                rows.append(row)
        insert_many(connection, Event, rows)
        refresh_queue_states(connection, expert)
        add_log_entry(connection, f"{len(rows)} votes of {name} were removed: {reason}")
    return len(rows)


def adjudicate(engine: Engine, pair: int, answer: str) -> None:
    """Decide a tie: the owner's answer is a vote of one more expert, the adjudicator."""
    if answer not in ANSWERS or answer == CANNOT_TELL:
        raise LikewiseError(f"a tie is decided as similar or not similar, not as {answer!r}.")
    query, candidate = aliased(Image), aliased(Image)
    with read_transaction(engine) as connection:
        row = connection.execute(
            select(query.key, candidate.key)
            .select_from(Pair)
            .join(query, query.id == Pair.query_image)
            .join(candidate, candidate.id == Pair.candidate_image)
            .where(Pair.id == pair)
        ).one_or_none()
        if row is None:
            raise LikewiseError("there is no such pair.")
        given = connection.execute(
            select(VOTES.c.answer, func.count())
            .where(VOTES.c.query == row[0], VOTES.c.candidate == row[1], VOTES.c.expert != ADJUDICATOR_NAME)
            .group_by(VOTES.c.answer)
        )
        counts = {found[0]: found[1] for found in given}
    n_for, n_against = (sum(counts.get(one, 0) for one in side) for side in (POSITIVE_ANSWERS, NEGATIVE_ANSWERS))
    if not n_for or n_for != n_against:
        raise LikewiseError("there is no tie to decide about this pair.")
    vote = {
        "query": row[0],
        "candidate": row[1],
        "expert": ADJUDICATOR_NAME,
        "answer": answer,
        "time": store_time_now(),
    }
    add_votes(engine, pl.DataFrame(vote), "adjudication", replace=True, kind=ADJUDICATOR)
    with write_transaction(engine) as connection:
        add_log_entry(connection, f"The pair ({row[0]}, {row[1]}) was decided as {answer}.")
