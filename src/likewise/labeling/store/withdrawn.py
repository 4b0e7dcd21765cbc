"""Withdrawing pairs: a pool that was replaced asks no more about them. Votes stay, and a pair may come back."""

from collections.abc import Collection

from sqlalchemy import Connection, select, update
from sqlalchemy.orm import aliased

from likewise.labeling.store.assignment import refresh_queue_states
from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.images import KEYS_PER_SELECT, in_batches
from likewise.labeling.store.models import ANSWERED, HELD, OPEN, RETIRED, GoldPair, Image, Pair, Provenance, QueueEntry
from likewise.labeling.store.pairs import PairKey


def pairs_to_withdraw(connection: Connection, asked: set[PairKey], chosen_by_people: Collection[str]) -> list[int]:
    """Pairs that generators proposed, that experts are asked, and that are not among those asked from now on."""
    query, candidate = aliased(Image), aliased(Image)
    proposed = select(Provenance.pair).where(Provenance.generator.not_in(chosen_by_people))
    found = connection.execute(
        select(Pair.id, query.key, candidate.key)
        .join(query, query.id == Pair.query_image)
        .join(candidate, candidate.id == Pair.candidate_image)
        .where(Pair.asked, Pair.counts, Pair.asking == 0, Pair.id.in_(proposed))
        .where(Pair.id.not_in(select(GoldPair.pair)))
    )
    return [number for number, key, other in found if (key, other) not in asked]


def withdraw_pairs(connection: Connection, pairs: Collection[int]) -> int:
    """Take pairs and their hidden repeats out of every queue where they are not answered; how many had an answer."""
    both = _with_repeats(connection, pairs)
    answered: set[int] = set()
    for some in in_batches(both, KEYS_PER_SELECT):
        connection.execute(update(Pair).where(Pair.id.in_(some)).values(asked=False, withdrawn=store_time_now()))
        of_pairs = QueueEntry.pair.in_(some)
        answered |= set(connection.scalars(select(QueueEntry.pair).where(of_pairs, QueueEntry.state == ANSWERED)))
        connection.execute(update(QueueEntry).where(of_pairs, QueueEntry.state != ANSWERED).values(state=RETIRED))
    if both:
        _recount(connection)
    return len(answered & set(pairs))


def ask_again(connection: Connection, pairs: Collection[int]) -> None:
    """Pairs that were withdrawn and are wanted again go back to where they were in the queues."""
    known = list[int]()
    for some in in_batches(list(pairs), KEYS_PER_SELECT):
        known += connection.scalars(select(Pair.id).where(Pair.id.in_(some), Pair.withdrawn.is_not(None)))
    both = _with_repeats(connection, known)
    for some in in_batches(both, KEYS_PER_SELECT):
        connection.execute(update(Pair).where(Pair.id.in_(some)).values(asked=True, withdrawn=None))
        entries = update(QueueEntry).where(QueueEntry.pair.in_(some), QueueEntry.state == RETIRED)
        repeats = select(Pair.id).where(Pair.asking > 0)
        connection.execute(entries.where(QueueEntry.pair.in_(repeats)).values(state=HELD))
        connection.execute(entries.values(state=OPEN))
    if both:
        _recount(connection)


def _with_repeats(connection: Connection, pairs: Collection[int]) -> list[int]:
    first, twin = aliased(Pair), aliased(Pair)
    same = (first.query_image == twin.query_image) & (first.candidate_image == twin.candidate_image)
    found = list[int]()
    for some in in_batches(list(pairs), KEYS_PER_SELECT):
        found += connection.scalars(select(twin.id).join(first, same).where(first.id.in_(some)))
    return found


def _recount(connection: Connection) -> None:
    for expert in list(connection.scalars(select(QueueEntry.expert).distinct())):
        refresh_queue_states(connection, expert)
