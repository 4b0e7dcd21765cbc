"""Pairs whose answer the owner knows: examples in the guidelines, practice, and catch pairs hidden among the others."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Engine, delete, select, update
from sqlalchemy.orm import aliased

from likewise.errors import LikewiseError
from likewise.labeling.store.engine import reading, writing
from likewise.labeling.store.images import insert_many
from likewise.labeling.store.models import Image, KnownPair, Pair
from likewise.labeling.store.pairs import ensure_pairs
from likewise.labeling.store.project import log
from likewise.labeling.votes import ANSWERS, CANNOT_TELL

EXAMPLE, PRACTICE, CATCH = "example", "practice", "catch"
USES = (EXAMPLE, PRACTICE, CATCH)


def set_known_pairs(engine: Engine, use: str, known: Sequence[tuple[str, str, str, str]]) -> None:
    """Replace the examples, practice pairs or catch pairs by these (query, candidate, answer, note).

    Catch pairs are dealt to experts among the others; examples and practice pairs are not, and neither are votes.
    """
    if use not in USES:
        raise LikewiseError(f"known pairs are used as {', '.join(USES)}, not as {use!r}.")
    for query, candidate, answer, _ in known:
        if answer not in ANSWERS or answer == CANNOT_TELL:
            raise LikewiseError(f"the known answer to ({query}, {candidate}) is {answer!r}: similar or not similar.")
    with writing(engine) as connection:
        connection.execute(delete(KnownPair).where(KnownPair.use == use))
        ids = ensure_pairs(connection, [(q, c, 0) for q, c, _, _ in known], asked=use == CATCH, counts=False)
        if use == CATCH:
            connection.execute(update(Pair).where(Pair.id.in_(ids.values())).values(asked=True))
        rows = {
            ids[query, candidate, 0]: {"answer": answer, "note": note, "use": use}
            for query, candidate, answer, note in known
        }
        insert_many(connection, KnownPair, [{"pair": pair, **row} for pair, row in rows.items()])
        log(connection, f"{len(rows)} pairs are used as {use} now.")


@dataclass(frozen=True)
class Known:
    """A pair whose answer the owner knows, with the ids of its pictures."""

    pair: int
    query_image: int
    candidate_image: int
    answer: str
    note: str


def read_known_pairs(engine: Engine, use: str) -> list[Known]:
    with reading(engine) as connection:
        found = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image, KnownPair.answer, KnownPair.note)
            .join(KnownPair, KnownPair.pair == Pair.id)
            .where(KnownPair.use == use)
            .order_by(Pair.id)
        )
        return [Known(*row) for row in found]


def read_catch_pairs(engine: Engine) -> list[tuple[str, str, str]]:
    """The catch pairs by their keys: query, candidate, known answer."""
    query, candidate = aliased(Image), aliased(Image)
    with reading(engine) as connection:
        found = connection.execute(
            select(query.key, candidate.key, KnownPair.answer)
            .join(Pair, Pair.id == KnownPair.pair)
            .join(query, query.id == Pair.query_image)
            .join(candidate, candidate.id == Pair.candidate_image)
            .where(KnownPair.use == CATCH)
        )
        return [(key, other, answer) for key, other, answer in found]


def sample_pairs(engine: Engine, count: int) -> list[Known]:
    """Some of the project's pairs, always the same: ids are random, so the smallest ones are a random sample."""
    with reading(engine) as connection:
        found = connection.execute(
            select(Pair.id, Pair.query_image, Pair.candidate_image)
            .where(Pair.asked, Pair.asking == 0)
            .order_by(Pair.id)
            .limit(max(0, count))
        )
        return [Known(*row, answer="", note="") for row in found]
