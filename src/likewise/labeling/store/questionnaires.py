"""Sets of questions, and the guests of those that their owner opened to everybody."""

import secrets
from typing import Any

from sqlalchemy import Engine, func, insert, select, update

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import days_from_now
from likewise.labeling.store.engine import read_transaction, write_transaction
from likewise.labeling.store.experts import add_expert, open_session
from likewise.labeling.store.models import GUEST, Expert, Questionnaire
from likewise.labeling.store.project import add_log_entry

GUEST_DAYS = 7.0


def add_questionnaire(
    engine: Engine, slug: str, title: str, *, consent: str = "", public: bool = False, most_guests: int = 0
) -> None:
    """A set of questions; a public one is open to anyone with its address, up to `most_guests` people."""
    if not slug or len(slug) > 64 or not all(c.isascii() and (c.isalnum() or c == "-") for c in slug):
        raise LikewiseError(f"a questionnaire's address has letters, digits and dashes only, not {slug!r}.")
    if public and most_guests < 1:
        raise LikewiseError("a public questionnaire needs a limit: say how many guests may answer.")
    values = {"title": title, "consent": consent, "public": public, "open": True, "most_guests": most_guests}
    with write_transaction(engine) as connection:
        columns = [getattr(Questionnaire, name) for name in values]
        there = connection.execute(select(*columns).where(Questionnaire.slug == slug)).one_or_none()
        if there is not None and tuple(there) == tuple(values.values()):
            return  # said again: nothing changes, and nothing is logged
        if there is not None:
            connection.execute(update(Questionnaire).where(Questionnaire.slug == slug).values(**values))
        else:
            connection.execute(insert(Questionnaire), {"slug": slug, **values})
        add_log_entry(connection, f"The {'public ' if public else ''}questionnaire {slug} was opened.")


def close_questionnaire(engine: Engine, slug: str) -> None:
    with write_transaction(engine) as connection:
        connection.execute(update(Questionnaire).where(Questionnaire.slug == slug).values(open=False))
        add_log_entry(connection, f"The questionnaire {slug} was closed.")


def read_questionnaire(engine: Engine, slug: str) -> Questionnaire | None:
    """A public, open questionnaire with that address."""
    with read_transaction(engine) as connection:
        row = connection.execute(
            select(Questionnaire.__table__).where(
                Questionnaire.slug == slug, Questionnaire.public.is_(True), Questionnaire.open.is_(True)
            )
        ).one_or_none()
        return None if row is None else Questionnaire(**row._mapping)


def enter_as_guest(engine: Engine, slug: str) -> str | None:
    """A session for a new guest of a public questionnaire; None when it is full."""
    with write_transaction(engine) as connection:
        most = connection.execute(select(Questionnaire.most_guests).where(Questionnaire.slug == slug)).scalar_one()
        there = select(func.count()).select_from(Expert).where(Expert.kind == GUEST, Expert.questionnaire == slug)
        if connection.execute(there).scalar_one() >= most:
            return None
        guest = add_expert(connection, f"guest-{secrets.token_hex(6)}", GUEST, slug)
        connection.execute(update(Expert).where(Expert.id == guest).values(expires=days_from_now(GUEST_DAYS)))
        return open_session(connection, guest)


def visible_questionnaires(slug: str | None) -> Any:
    """A guest's own questionnaire, or all that are not public."""
    wanted = select(Questionnaire.slug).where(Questionnaire.open.is_(True))
    if slug is not None:
        return wanted.where(Questionnaire.slug == slug)
    return wanted.where(Questionnaire.public.is_(False))
