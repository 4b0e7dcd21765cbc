"""Images and pairs: what experts are asked about, and (kept apart) who proposed it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
from sqlalchemy import Connection, Engine, func, insert, select, update
from sqlalchemy.orm import aliased

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import now
from likewise.labeling.store.engine import reading, writing
from likewise.labeling.store.models import Base, Image, KnownPair, Pair, Provenance
from likewise.labeling.store.project import log, read_setting
from likewise.labeling.votes import ANSWERS, CANNOT_TELL, PAIR, random_bytes

ROWS_AT_ONCE = 5000
KEYS_PER_SELECT = 500
EXAMPLE, PRACTICE, CATCH = "example", "practice", "catch"
USES = (EXAMPLE, PRACTICE, CATCH)

PairKey = tuple[str, str]


@dataclass(frozen=True)
class AddedPairs:
    """How many pairs are new to the project, and how many known ones got another proposer."""

    added: int
    known: int
    provenance_added: int


def add_pairs(engine: Engine, pool: pl.DataFrame) -> AddedPairs:
    """Ask experts about every pair of a pool (query, candidate, and generator, rank, score where known).

    Pairs that are already there keep their votes; what another generator says about them is added beside.
    """
    pairs = pool.select(PAIR).unique().sort(PAIR)
    with writing(engine) as connection:
        before = set(connection.scalars(select(Pair.id).where(Pair.asked, Pair.asking == 0)))
        ids = ensure_pairs(connection, [(q, c, 0) for q, c in pairs.iter_rows()], asked=True, counts=True)
        ask_about(connection, ids.values())
        added = len(set(ids.values()) - before)
        proposed = _add_provenance(connection, pool, ids) if "generator" in pool.columns else 0
        if added or proposed:
            log(connection, f"{added} pairs were added, and {proposed} notes of who proposed a pair.")
    return AddedPairs(added, len(ids) - added, proposed)


def ask_about(connection: Connection, pairs: Iterable[int]) -> None:
    """Pairs that only imported votes, or exercises, knew so far are dealt to experts and count from now on."""
    for some in _in_lots(list(pairs), KEYS_PER_SELECT):
        connection.execute(update(Pair).where(Pair.id.in_(some)).values(asked=True, counts=True))


def _add_provenance(connection: Connection, pool: pl.DataFrame, ids: dict[tuple[str, str, int], int]) -> int:
    there = {tuple(row) for row in connection.execute(select(Provenance.pair, Provenance.generator))}
    moment, rows = now(), []
    columns = [pl.col(name) if name in pool.columns else pl.lit(None).alias(name) for name in ("rank", "score")]
    for query, candidate, generator, rank, score in pool.select(*PAIR, "generator", *columns).iter_rows():
        pair = ids[query, candidate, 0]
        if (pair, generator) not in there:
            there.add((pair, generator))
            rows.append({"pair": pair, "generator": generator, "rank": rank, "score": score, "added": moment})
    insert_many(connection, Provenance, rows)
    return len(rows)


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
        connection.execute(KnownPair.__table__.delete().where(KnownPair.use == use))  # type: ignore[attr-defined]
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


def ensure_images(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """The id of every image, made where it is new; ids depend on the project and the key only."""
    wanted, ids = sorted(set(keys)), dict[str, int]()
    for some in _in_lots(wanted, KEYS_PER_SELECT):
        ids.update(
            (key, number) for key, number in connection.execute(select(Image.key, Image.id).where(Image.key.in_(some)))
        )
    salt = str(read_setting(connection, "salt"))
    new = {key: hidden_id(salt, "image", key) for key in wanted if key not in ids}
    insert_many(connection, Image, [{"id": number, "key": key} for key, number in new.items()])
    return ids | new


def ensure_pairs(
    connection: Connection, wanted: Iterable[tuple[str, str, int]], *, asked: bool, counts: bool
) -> dict[tuple[str, str, int], int]:
    """The id of every (query, candidate, asking), made where it is new."""
    keys = sorted(set(wanted))
    images = ensure_images(connection, [key for pair in keys for key in pair[:2]])
    by_images: dict[tuple[int, int, int], int] = {}
    for some in _in_lots(sorted({images[pair[0]] for pair in keys}), KEYS_PER_SELECT):
        found = connection.execute(
            select(Pair.query_image, Pair.candidate_image, Pair.asking, Pair.id).where(Pair.query_image.in_(some))
        )
        by_images.update(((query, candidate, asking), number) for query, candidate, asking, number in found)
    salt, ids, rows = str(read_setting(connection, "salt")), dict[tuple[str, str, int], int](), []
    for key in keys:
        query, candidate, asking = key
        there = by_images.get((images[query], images[candidate], asking))
        ids[key] = there if there is not None else hidden_id(salt, "pair", *key)
        if there is None:
            rows.append(
                {
                    "id": ids[key],
                    "query_image": images[query],
                    "candidate_image": images[candidate],
                    "asking": asking,
                    "asked": asked,
                    "counts": counts,
                }
            )
    insert_many(connection, Pair, rows)
    return ids


def image_key(engine: Engine, image: int) -> str | None:
    """The catalog key behind an image id."""
    with reading(engine) as connection:
        return connection.execute(select(Image.key).where(Image.id == image)).scalar_one_or_none()


def image_ids(engine: Engine, keys: Iterable[str]) -> dict[str, int]:
    """The ids of images that have one."""
    ids: dict[str, int] = {}
    with reading(engine) as connection:
        for some in _in_lots(sorted(set(keys)), KEYS_PER_SELECT):
            found = connection.execute(select(Image.key, Image.id).where(Image.key.in_(some)))
            ids.update((key, number) for key, number in found)
    return ids


def hidden_id(salt: str, *key: object) -> int:
    """A number under 2^53 (JavaScript's exact integers) that says nothing about what it stands for."""
    return 1 + int.from_bytes(random_bytes(6, salt, *key), "big")


def insert_many(connection: Connection, model: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    for some in _in_lots(rows, ROWS_AT_ONCE):
        connection.execute(insert(model), some)


def _in_lots(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (values[start : start + size] for start in range(0, len(values), size))


def count_asked_pairs(engine: Engine) -> int:
    """How many different pairs experts are asked about, repeats not counted."""
    with reading(engine) as connection:
        wanted = select(func.count()).select_from(Pair).where(Pair.asked, Pair.counts, Pair.asking == 0)
        return connection.execute(wanted).scalar_one()


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


def pair_ids(engine: Engine, keys: Sequence[PairKey]) -> dict[PairKey, int]:
    """The ids of pairs (their first asking) that are in the project."""
    query, candidate = aliased(Image), aliased(Image)
    ids: dict[PairKey, int] = {}
    with reading(engine) as connection:
        for some in _in_lots(sorted({key[0] for key in keys}), KEYS_PER_SELECT):
            found = connection.execute(
                select(query.key, candidate.key, Pair.id)
                .select_from(Pair)
                .join(query, query.id == Pair.query_image)
                .join(candidate, candidate.id == Pair.candidate_image)
                .where(query.key.in_(some), Pair.asking == 0)
            )
            ids.update(((key, other), number) for key, other, number in found)
    return {key: ids[key] for key in keys if key in ids}
