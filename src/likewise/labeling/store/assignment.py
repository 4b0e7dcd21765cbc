"""Assigning pairs to experts: each one's own random order, hidden repeats among it, whole or in shares.

Which share a pair belongs to, which pairs are repeated, and every order depend on the seed, the pair and the expert
only; what was assigned stays where it is, and pairs that come later are added at the end of each queue.
"""

import numpy as np
import polars as pl
from sqlalchemy import Connection, Engine, delete, func, select, update
from sqlalchemy.orm import aliased

from likewise.labeling.store.current_vote import current_event, queue_state_of
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.images import ROWS_PER_BATCH, insert_many
from likewise.labeling.store.models import (
    ANSWERED,
    HELD,
    INVITED,
    OPEN,
    PUT_OFF,
    RETIRED,
    Event,
    Expert,
    Image,
    Pair,
    QueueEntry,
)
from likewise.labeling.store.pairs import ensure_pairs
from likewise.labeling.store.project import Project, load_project
from likewise.labeling.votes import PAIR, PAIRS_BEFORE_REPEAT, REPEAT_SPREAD, hash_bytes


def assign_all_pairs(engine: Engine) -> None:
    """Bring every invited expert's queue up to date with the project's pairs."""
    add_hidden_repeats(engine)
    with read_transaction(engine) as connection:
        experts = list(connection.scalars(select(Expert.id).where(Expert.kind == INVITED, Expert.revoked.is_(None))))
    for expert in experts:
        assign_pairs(engine, expert)


def add_hidden_repeats(engine: Engine) -> None:
    """Give the chosen share of the pairs a hidden twin that will be asked again."""
    with write_transaction(engine) as connection:
        project = load_project(connection)
        query, candidate = aliased(Image), aliased(Image)
        found = connection.execute(
            select(query.key, candidate.key)
            .select_from(Pair)
            .join(query, query.id == Pair.query_image)
            .join(candidate, candidate.id == Pair.candidate_image)
            .where(Pair.asked, Pair.counts, Pair.asking == 0)
        )
        chosen = [(key, other, 1) for key, other in found if is_repeated(project, key, other)]
        ensure_pairs(connection, chosen, asked=True, counts=True)


def is_repeated(project: Project, query: str, candidate: str) -> bool:
    """Whether a pair is among those that are asked twice."""
    return _hash_fraction("repeat", project.order_seed, query, candidate) < project.repeat_share


def assign_pairs(engine: Engine, expert: int) -> int:
    """Add the pairs that are missing from an expert's queue; how many were added.

    In batches, so that others can vote meanwhile; an assignment that was cut short is finished by the next one.
    """
    with read_transaction(engine) as connection:
        missing = _unassigned_pairs(connection, expert)
    added = 0
    while missing.height:
        with write_transaction(engine, expert) as connection:
            added += _append_to_queue(connection, expert, missing.head(ROWS_PER_BATCH))
        missing = missing.slice(ROWS_PER_BATCH)
    return added


def _unassigned_pairs(connection: Connection, expert: int) -> pl.DataFrame:
    """Pairs meant for this expert and not assigned yet, in the order in which they will be asked: pair, asking."""
    project = load_project(connection)
    name, share = connection.execute(select(Expert.name, Expert.share).where(Expert.id == expert)).one()
    assigned = select(QueueEntry.pair).where(QueueEntry.expert == expert)
    query, candidate = aliased(Image), aliased(Image)
    found = connection.execute(
        select(Pair.id, Pair.asking, query.key, candidate.key)
        .join(query, query.id == Pair.query_image)
        .join(candidate, candidate.id == Pair.candidate_image)
        .where(Pair.asked, Pair.id.not_in(assigned))
    )
    schema = {"pair": pl.Int64, "asking": pl.Int64, "query": pl.String, "candidate": pl.String}
    pairs = pl.DataFrame([tuple(row) for row in found], schema=schema, orient="row").sort(*PAIR, "asking")
    if project.experts_per_pair is not None:
        mine = [_in_share(project, share, *key) for key in pairs.select(PAIR).rows()]
        pairs = pairs.filter(pl.Series(mine, dtype=pl.Boolean))
    random = np.random.default_rng(list(hash_bytes(16, "queue", project.order_seed, name)))
    pairs = pairs[random.permutation(pairs.height)]
    if project.grouped_by_query:
        queries = pairs["query"].unique().sort()
        place = pl.DataFrame({"query": queries, "place": random.permutation(queries.len())})
        pairs = pairs.join(place, on="query", maintain_order="left").sort("place", maintain_order=True)
    return pairs.sort("asking", maintain_order=True).select("pair", "asking")


def _append_to_queue(connection: Connection, expert: int, pairs: pl.DataFrame) -> int:
    """Append these pairs: a first asking at the end of the queue, a repeat some pairs after it."""
    own = select(QueueEntry.pair).where(QueueEntry.expert == expert, QueueEntry.pair.in_(pairs["pair"]))
    assigned = set(connection.scalars(own))
    pairs = pairs.filter(~pl.col("pair").is_in(list(assigned)))
    states = _states_from_events(connection, expert)
    end = connection.execute(select(Expert.end_of_queue).where(Expert.id == expert)).scalar_one()
    rows = []
    for pair in pairs.filter(pl.col("asking") == 0)["pair"]:
        rows.append({"expert": expert, "pair": pair, "position": end, "state": states.get(pair, OPEN)})
        end += 1
    insert_many(connection, QueueEntry, rows)
    again = pairs.filter(pl.col("asking") > 0)
    if again.height:
        first, twin = aliased(Pair), aliased(Pair)
        same = (first.query_image == twin.query_image) & (first.candidate_image == twin.candidate_image)
        found = connection.execute(
            select(twin.id, QueueEntry.position, QueueEntry.state)
            .join(first, same & (first.asking == 0))
            .join(QueueEntry, (QueueEntry.pair == first.id) & (QueueEntry.expert == expert))
            .where(twin.id.in_(again["pair"].to_list()))
        )
        # What was answered elsewhere before (an imported vote) is not asked again here.
        repeats = [
            {
                "expert": expert,
                "pair": pair,
                "position": position + PAIRS_BEFORE_REPEAT + int(REPEAT_SPREAD * _hash_fraction("wait", expert, pair)),
                "state": HELD,
            }
            for pair, position, state in found
            if state != ANSWERED
        ]
        insert_many(connection, QueueEntry, repeats)
        rows += repeats
    connection.execute(update(Expert).where(Expert.id == expert).values(end_of_queue=end))
    recount_queue(connection, expert)
    return len(rows)


def refresh_queue_states(connection: Connection, expert: int) -> None:
    """Set the state of every queue entry from the events, after votes came or went in bulk."""
    states = _states_from_events(connection, expert)
    own = QueueEntry.expert == expert
    for pair, state in list(connection.execute(select(QueueEntry.pair, QueueEntry.state).where(own))):
        right = states.get(pair, state if state in (HELD, RETIRED) else OPEN)
        if right != state and not (state in (HELD, RETIRED) and right == OPEN):
            connection.execute(update(QueueEntry).where(own, QueueEntry.pair == pair).values(state=right))
    recount_queue(connection, expert)


def drop_repeats_answered_elsewhere(connection: Connection, expert: int) -> None:
    """Take repeats out of a queue whose pair was answered elsewhere, without the repeat: it is not asked again here."""
    first, twin, answered = aliased(Pair), aliased(Pair), aliased(QueueEntry)
    same = (first.query_image == twin.query_image) & (first.candidate_image == twin.candidate_image)
    held = (
        select(twin.id)
        .join(first, same & (first.asking == 0))
        .join(answered, (answered.pair == first.id) & (answered.expert == expert) & (answered.state == ANSWERED))
        .where(twin.asking > 0)
    )
    own = (QueueEntry.expert == expert) & (QueueEntry.state == HELD)
    connection.execute(delete(QueueEntry).where(own, QueueEntry.pair.in_(held)))
    recount_queue(connection, expert)


def queued_pairs(engine: Engine, name: str) -> pl.DataFrame | None:
    """What an invited expert is still to be asked (query, candidate, asking); None for somebody without a queue."""
    query, candidate = aliased(Image), aliased(Image)
    own = select(QueueEntry.pair).join(Expert, Expert.id == QueueEntry.expert).where(Expert.name == name)
    wanted = (
        select(query.key, candidate.key, Pair.asking)
        .select_from(Pair)
        .join(query, query.id == Pair.query_image)
        .join(candidate, candidate.id == Pair.candidate_image)
        .where(Pair.id.in_(own.where(QueueEntry.state.in_((OPEN, PUT_OFF, HELD)))))
    )
    with read_transaction(engine) as connection:
        if connection.execute(own.limit(1)).first() is None:
            return None
        rows = [tuple(row) for row in connection.execute(wanted)]
    return pl.DataFrame(rows, schema={"query": pl.String, "candidate": pl.String, "asking": pl.Int64}, orient="row")


def recount_queue(connection: Connection, expert: int) -> None:
    """Make the expert's counters say what the queue says."""
    counted = connection.execute(
        select(QueueEntry.state, func.count()).where(QueueEntry.expert == expert).group_by(QueueEntry.state)
    )
    by_state = {row[0]: row[1] for row in counted}
    connection.execute(
        update(Expert)
        .where(Expert.id == expert)
        .values(
            n_total=sum(by_state.values()) - by_state.get(RETIRED, 0),
            n_answered=by_state.get(ANSWERED, 0),
            n_put_off=by_state.get(PUT_OFF, 0),
        )
    )


def _states_from_events(connection: Connection, expert: int) -> dict[int, int]:
    """The state that an expert's own events give each pair."""
    events: dict[int, list[tuple[int, str, int | None]]] = {}
    found = connection.execute(
        select(Event.pair, Event.revision, Event.answer, Event.undoes).where(Event.expert == expert)
    )
    for pair, revision, answer, undoes in found:
        events.setdefault(pair, []).append((revision, answer, undoes))
    return {pair: queue_state_of(current_event(of_pair)) for pair, of_pair in events.items()}


def _in_share(project: Project, share: int, query: str, candidate: str) -> bool:
    """Whether a pair belongs to a share: to `experts_per_pair` neighbouring ones, starting from a random one."""
    first = int(_hash_fraction("share", project.order_seed, query, candidate) * project.n_shares)
    return (share - first) % project.n_shares < (project.experts_per_pair or project.n_shares)


def _hash_fraction(*key: object) -> float:
    """A number from 0 to 1 (exclusive) that depends on the key only."""
    return int.from_bytes(hash_bytes(6, *key), "big") / 2.0**48
