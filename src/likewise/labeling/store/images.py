"""Images by id, and writing many rows at once."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Engine, insert, select, text

from likewise.labeling.store.engine import read_transaction
from likewise.labeling.store.models import Base, Image, Pair, table_of
from likewise.labeling.store.project import read_setting
from likewise.labeling.votes import hash_bytes

ROWS_PER_BATCH = 5000
MIN_ROWS_TO_ANALYZE = 1000
KEYS_PER_SELECT = 500


def ensure_images(connection: Connection, keys: Iterable[str]) -> dict[str, int]:
    """The id of every image, made where it is new; ids depend on the project and the key only."""
    wanted, ids = sorted(set(keys)), dict[str, int]()
    for some in in_batches(wanted, KEYS_PER_SELECT):
        ids.update(
            (key, number) for key, number in connection.execute(select(Image.key, Image.id).where(Image.key.in_(some)))
        )
    salt = str(read_setting(connection, "salt"))
    new = free_ids(connection, Image, salt, {key: ("image", key) for key in wanted if key not in ids})
    insert_many(connection, Image, [{"id": number, "key": key} for key, number in new.items()])
    return ids | new


def image_key(engine: Engine, image: int) -> str | None:
    """The catalog key behind an image id."""
    with read_transaction(engine) as connection:
        return connection.execute(select(Image.key).where(Image.id == image)).scalar_one_or_none()


def image_ids(engine: Engine, keys: Iterable[str]) -> dict[str, int]:
    """The ids of images that have one."""
    ids: dict[str, int] = {}
    with read_transaction(engine) as connection:
        for some in in_batches(sorted(set(keys)), KEYS_PER_SELECT):
            found = connection.execute(select(Image.key, Image.id).where(Image.key.in_(some)))
            ids.update((key, number) for key, number in found)
    return ids


def read_store_id(engine: Engine) -> str:
    """A name of this database that says nothing about it, different for every other one."""
    with read_transaction(engine) as connection:
        return str(opaque_id(str(read_setting(connection, "salt")), "store"))


def opaque_id(salt: str, *key: object) -> int:
    """A number under 2^53 (JavaScript's exact integers) that says nothing about what it stands for."""
    return 1 + int.from_bytes(hash_bytes(6, salt, *key), "big")


def free_ids(
    connection: Connection, model: type[Image] | type[Pair], salt: str, names: Mapping[Any, tuple[object, ...]]
) -> dict[Any, int]:
    """An id for each name that no other row has: what was renamed keeps the id of its first name."""
    ids = {key: opaque_id(salt, *name) for key, name in names.items()}
    used = {
        number
        for some in in_batches(sorted(ids.values()), KEYS_PER_SELECT)
        for number in connection.scalars(select(model.id).where(model.id.in_(some)))
    }
    if not used:
        return ids
    again = {key: (*names[key], "again") for key, number in ids.items() if number in used}
    return ids | free_ids(connection, model, salt, again)


def insert_many(connection: Connection, model: type[Base], rows: Sequence[dict[str, Any]]) -> None:
    for some in in_batches(rows, ROWS_PER_BATCH):
        connection.execute(insert(model), some)
    if len(rows) >= MIN_ROWS_TO_ANALYZE and connection.dialect.name == "postgresql":
        # PostgreSQL would learn of it within minutes; until then it would walk a queue of 100,000 from end to end.
        connection.execute(text(f"ANALYZE {table_of(model).name}"))


def in_batches(values: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (values[start : start + size] for start in range(0, len(values), size))
