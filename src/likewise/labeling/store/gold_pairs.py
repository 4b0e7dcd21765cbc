"""Gold pairs, whose answer is known: examples in the guidelines, practice, and catch pairs hidden among the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, delete, select, update
from sqlalchemy.orm import aliased

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.images import insert_many
from likewise.labeling.store.models import GoldPair, Image, Pair
from likewise.labeling.store.pairs import ensure_pairs
from likewise.labeling.store.project import add_log_entry
from likewise.labeling.votes import ANSWERS, CANNOT_TELL

EXAMPLE, PRACTICE, CATCH = "example", "practice", "catch"
USES = (EXAMPLE, PRACTICE, CATCH)


def set_gold_pairs(engine: Engine, use: str, gold: Sequence[tuple[str, str, str, str]]) -> None:
    """Replace the examples, practice pairs or catch pairs by these (query, candidate, answer, note).

    Catch pairs are assigned to experts among the others; examples and practice pairs are not, and neither are votes.
    """
    if use not in USES:
        raise LikewiseError(f"gold pairs are used as {', '.join(USES)}, not as {use!r}.")
    for query, candidate, answer, _ in gold:
        if answer not in ANSWERS or answer == CANNOT_TELL:
            raise LikewiseError(f"the known answer to ({query}, {candidate}) is {answer!r}: similar or not similar.")
    with write_transaction(engine) as connection:
        ids = ensure_pairs(connection, [(q, c, 0) for q, c, _, _ in gold], asked=use == CATCH, counts=False)
        if use == CATCH:
            connection.execute(update(Pair).where(Pair.id.in_(ids.values())).values(asked=True))
        rows = {
            ids[query, candidate, 0]: {"answer": answer, "note": note, "use": use}
            for query, candidate, answer, note in gold
        }
        if rows == _stored(connection, use):
            return  # said again: nothing changes, and nothing is logged
        connection.execute(delete(GoldPair).where(GoldPair.use == use))
        insert_many(connection, GoldPair, [{"pair": pair, **row} for pair, row in rows.items()])
        add_log_entry(connection, f"{len(rows)} pairs are used as {use} now.")


def _stored(connection: Connection, use: str) -> dict[int, dict[str, str]]:
    found = connection.execute(select(GoldPair.pair, GoldPair.answer, GoldPair.note).where(GoldPair.use == use))
    return {pair: {"answer": answer, "note": note, "use": use} for pair, answer, note in found}


@dataclass(frozen=True)
class PairWithAnswer:
    """A pair whose answer the owner knows, with the ids of its pictures."""

    pair: int
    query_image: int
    candidate_image: int
    answer: str
    note: str


def read_gold_pairs(engine: Engine, use: str) -> list[PairWithAnswer]:
    with read_transaction(engine) as connection:
        found = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image, GoldPair.answer, GoldPair.note)
            .join(GoldPair, GoldPair.pair == Pair.id)
            .where(GoldPair.use == use)
            .order_by(Pair.id)
        )
        return [PairWithAnswer(*row) for row in found]


def read_catch_pairs(engine: Engine) -> list[tuple[str, str, str]]:
    """The catch pairs by their keys: query, candidate, known answer."""
    query, candidate = aliased(Image), aliased(Image)
    with read_transaction(engine) as connection:
        found = connection.execute(
            select(query.key, candidate.key, GoldPair.answer)
            .join(Pair, Pair.id == GoldPair.pair)
            .join(query, query.id == Pair.query_image)
            .join(candidate, candidate.id == Pair.candidate_image)
            .where(GoldPair.use == CATCH)
        )
        return [(key, other, answer) for key, other, answer in found]


def sample_pairs(engine: Engine, count: int) -> list[PairWithAnswer]:
    """Some of the project's pairs, always the same: ids are random, so the smallest ones are a random sample."""
    with read_transaction(engine) as connection:
        found = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image)
            .where(Pair.asked, Pair.asking == 0)
            .order_by(Pair.id)
            .limit(max(0, count))
        )
        return [PairWithAnswer(*row, answer="", note="") for row in found]
