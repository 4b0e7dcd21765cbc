"""Images and pairs: what experts are asked about, and (kept apart) who proposed it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl
from sqlalchemy import Connection, Engine, func, select, update
from sqlalchemy.orm import aliased

from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.images import KEYS_PER_SELECT, ensure_images, free_ids, in_batches, insert_many
from likewise.labeling.store.models import Event, Image, Pair, Provenance
from likewise.labeling.store.project import add_log_entry, read_setting
from likewise.labeling.votes import PAIR

PairKey = tuple[str, str]


@dataclass(frozen=True)
class AddedPairs:
    """How many pairs are asked from now on, how many were asked before and how many proposers were added.

    `voted` counts those of the first that have votes already, from a file.
    """

    added: int
    known: int
    provenance_added: int
    voted: int = 0

    def __add__(self, other: "AddedPairs") -> "AddedPairs":
        return AddedPairs(
            self.added + other.added,
            self.known + other.known,
            self.provenance_added + other.provenance_added,
            self.voted + other.voted,
        )


def add_pairs(engine: Engine, pool: pl.DataFrame) -> AddedPairs:
    """Ask experts about every pair of a pool (query, candidate, and generator, rank, score where known).

    Pairs that are already there keep their votes; what another generator says about them is added beside.
    """
    with write_transaction(engine) as connection:
        return add_pairs_within(connection, pool)[0]


def add_pairs_within(connection: Connection, pool: pl.DataFrame) -> tuple[AddedPairs, list[int]]:
    """The same within the transaction of whoever calls, and the ids of the pairs."""
    pairs = pool.select(PAIR).unique().sort(PAIR)
    before = set(connection.scalars(select(Pair.id).where(Pair.asked, Pair.asking == 0)))
    ids = ensure_pairs(connection, [(q, c, 0) for q, c in pairs.iter_rows()], asked=True, counts=True)
    mark_pairs_as_asked(connection, ids.values())
    new = set(ids.values()) - before
    added, voted = len(new), 0
    for some in in_batches(sorted(new), KEYS_PER_SELECT):
        voted += len(set(connection.scalars(select(Event.pair).where(Event.pair.in_(some)))))
    proposed = _add_provenance(connection, pool, ids) if "generator" in pool.columns else 0
    if added or proposed:
        add_log_entry(connection, f"{added} pairs were added, with {proposed} proposals by generators.")
    return AddedPairs(added, len(ids) - added, proposed, voted), list(ids.values())


def mark_pairs_as_asked(connection: Connection, pairs: Iterable[int]) -> None:
    """Pairs that only imported votes, or exercises, knew so far are assigned to experts and count from now on."""
    for some in in_batches(list(pairs), KEYS_PER_SELECT):
        connection.execute(update(Pair).where(Pair.id.in_(some)).values(asked=True, counts=True))


def _add_provenance(connection: Connection, pool: pl.DataFrame, ids: dict[tuple[str, str, int], int]) -> int:
    there = {tuple(row) for row in connection.execute(select(Provenance.pair, Provenance.generator))}
    moment, rows = store_time_now(), []
    columns = [pl.col(name) if name in pool.columns else pl.lit(None).alias(name) for name in ("rank", "score")]
    for query, candidate, generator, rank, score in pool.select(*PAIR, "generator", *columns).iter_rows():
        pair = ids[query, candidate, 0]
        if (pair, generator) not in there:
            there.add((pair, generator))
            rows.append({"pair": pair, "generator": generator, "rank": rank, "score": score, "added": moment})
    insert_many(connection, Provenance, rows)
    return len(rows)


def ensure_pairs(
    connection: Connection, wanted: Iterable[tuple[str, str, int]], *, asked: bool, counts: bool
) -> dict[tuple[str, str, int], int]:
    """The id of every (query, candidate, asking), made where it is new."""
    keys = sorted(set(wanted))
    images = ensure_images(connection, [key for pair in keys for key in pair[:2]])
    by_images: dict[tuple[int, int, int], int] = {}
    for some in in_batches(sorted({images[pair[0]] for pair in keys}), KEYS_PER_SELECT):
        found = connection.execute(
            select(Pair.query_image, Pair.candidate_image, Pair.asking, Pair.id).where(Pair.query_image.in_(some))
        )
        by_images.update(((query, candidate, asking), number) for query, candidate, asking, number in found)
    by_key = {key: by_images.get((images[key[0]], images[key[1]], key[2])) for key in keys}
    ids = {key: number for key, number in by_key.items() if number is not None}
    salt = str(read_setting(connection, "salt"))
    new = free_ids(connection, Pair, salt, {key: ("pair", *key) for key in keys if key not in ids})
    rows = [
        {
            "id": number,
            "query_image": images[query],
            "candidate_image": images[candidate],
            "asking": asking,
            "asked": asked,
            "counts": counts,
        }
        for (query, candidate, asking), number in new.items()
    ]
    insert_many(connection, Pair, rows)
    return ids | new


def count_asked_pairs(engine: Engine) -> int:
    """How many different pairs experts are asked about, repeats not counted."""
    with read_transaction(engine) as connection:
        wanted = select(func.count()).select_from(Pair).where(Pair.asked, Pair.counts, Pair.asking == 0)
        return connection.execute(wanted).scalar_one()


def pair_ids(engine: Engine, keys: Sequence[PairKey]) -> dict[PairKey, int]:
    """The ids of pairs (their first asking) that are in the project."""
    query, candidate = aliased(Image), aliased(Image)
    ids: dict[PairKey, int] = {}
    with read_transaction(engine) as connection:
        for some in in_batches(sorted({key[0] for key in keys}), KEYS_PER_SELECT):
            found = connection.execute(
                select(query.key, candidate.key, Pair.id)
                .select_from(Pair)
                .join(query, query.id == Pair.query_image)
                .join(candidate, candidate.id == Pair.candidate_image)
                .where(query.key.in_(some), Pair.asking == 0)
            )
            ids.update(((key, other), number) for key, other, number in found)
    return {key: ids[key] for key in keys if key in ids}


def pair_keys(engine: Engine, ids: Sequence[int]) -> dict[int, PairKey]:
    """The catalog keys of pairs."""
    query, candidate = aliased(Image), aliased(Image)
    keys: dict[int, PairKey] = {}
    with read_transaction(engine) as connection:
        for some in in_batches(sorted(set(ids)), KEYS_PER_SELECT):
            found = connection.execute(
                select(Pair.id, query.key, candidate.key)
                .select_from(Pair)
                .join(query, query.id == Pair.query_image)
                .join(candidate, candidate.id == Pair.candidate_image)
                .where(Pair.id.in_(some))
            )
            keys.update((number, (key, other)) for number, key, other in found)
    return keys
