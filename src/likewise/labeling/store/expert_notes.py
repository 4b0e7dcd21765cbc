"""What people write down on the site beside answers: drafts, votes on them, tags; added to, never changed."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Engine, insert, select

from likewise.labeling.store.clock import store_time_now
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.models import Expert, Note


@dataclass(frozen=True)
class ExpertNote:
    """The latest note of somebody under a key; `author` is None for the owner."""

    key: str
    author: str | None
    body: Any
    stored: str


def add_note(engine: Engine, kind: str, key: str, expert: int | None, body: Any) -> None:
    row = {"kind": kind, "key": key, "expert": expert, "body": json.dumps(body), "stored": store_time_now()}
    with write_transaction(engine, *(() if expert is None else (expert,))) as connection:
        connection.execute(insert(Note), row)


def read_notes(engine: Engine, kind: str) -> list[ExpertNote]:
    """Of every key and author the latest note, in the order in which their first ones were written."""
    wanted = (
        select(Note.key, Expert.name, Note.body, Note.stored)
        .outerjoin(Expert, Expert.id == Note.expert)
        .where(Note.kind == kind)
        .order_by(Note.id)
    )
    found: dict[tuple[str, str | None], ExpertNote] = {}
    with read_transaction(engine) as connection:
        for key, name, body, stored in connection.execute(wanted):
            found[key, name] = ExpertNote(key, name, json.loads(body), stored)
    return list(found.values())
