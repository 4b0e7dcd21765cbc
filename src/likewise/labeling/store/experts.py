"""Experts, their invitations, and the browsers that are logged in. Tokens are stored as hashes only."""

import hashlib
import secrets
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, Engine, bindparam, delete, func, insert, select, update

from likewise.errors import LikewiseError
from likewise.labeling.store.clock import days_from_now, store_time_now
from likewise.labeling.store.engine import read_once, read_transaction, write_transaction
from likewise.labeling.store.models import ADJUDICATOR, INVITED, NAMED, Expert, Owner, Session
from likewise.labeling.store.project import add_log_entry

TOKEN_BYTES = 24
SESSION_DAYS = 30.0
OWNER_SESSION_DAYS = 0.5
MAX_NAME_LENGTH = 80
SELECT_VISITORS = (
    select(
        Session.token_hash,
        Session.expert,
        Session.expires,
        Expert.name,
        Expert.revoked,
        Expert.expires,
        Expert.questionnaire,
    )
    .outerjoin(Expert, Expert.id == Session.expert)
    .where(Session.token_hash.in_(bindparam("hashed", expanding=True)), Session.expires > bindparam("moment"))
)


@dataclass(frozen=True)
class Visitor:
    """Who a browser is logged in as: an expert, or the owner (expert None)."""

    expert: int | None
    name: str
    questionnaire: str | None = None

    @property
    def is_owner(self) -> bool:
        return self.expert is None


@dataclass(frozen=True)
class ExpertState:
    """An expert as the owner sees them."""

    id: int
    name: str
    kind: str
    state: str  # active, revoked, expired, or "votes only" for someone who never had an invitation
    answered: int
    total: int
    later: int
    last_seen: str | None
    expires: str | None


def token_hash(token: str) -> str:
    """Tokens are 192 random bits: a plain hash cannot be turned back, and needs no salt."""
    return hashlib.sha256(token.encode()).hexdigest()


def invite_expert(engine: Engine, name: str, days: float = 30.0) -> str:
    """A new invitation's token, shown this once. An earlier invitation of the same person stops working."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME_LENGTH or not name.isprintable():
        raise LikewiseError(f"an expert's name has 1 to {MAX_NAME_LENGTH} printable characters, not {name!r}.")
    if name.lower() == ADJUDICATOR:
        raise LikewiseError(f"{name!r} is the name under which doubtful pairs are settled: choose another.")
    if not 0 < days <= 3650:
        raise LikewiseError(f"an invitation is valid for more than 0 and at most 3650 days, not {days:g}.")
    token = secrets.token_urlsafe(TOKEN_BYTES)
    values: dict[str, str | int | None] = {
        "kind": INVITED,
        "token_hash": token_hash(token),
        "expires": days_from_now(days),
        "revoked": None,
    }
    with write_transaction(engine) as connection:
        found = connection.execute(select(Expert.id, Expert.kind).where(Expert.name == name)).one_or_none()
        if found is None:
            number = add_expert(connection, name, INVITED)
        elif found.kind not in (INVITED, NAMED):
            raise LikewiseError(f"{name!r} is a {found.kind}'s name in this project: choose another.")
        else:
            number = found.id
            connection.execute(delete(Session).where(Session.expert == number))
        if found is None or found.kind == NAMED:
            values["share"] = connection.execute(
                select(func.count()).select_from(Expert).where(Expert.kind == INVITED, Expert.id != number)
            ).scalar_one()
        connection.execute(update(Expert).where(Expert.id == number).values(**values))
        add_log_entry(connection, f"{name} was invited for {days:g} days.")
    from likewise.labeling.store.assignment import add_hidden_repeats, assign_pairs

    add_hidden_repeats(engine)
    assign_pairs(engine, number)
    return token


def has_invitation(engine: Engine, name: str) -> bool:
    """Whether this person has a link that works, which another invitation ends."""
    return any(expert.name == " ".join(name.split()) and expert.state == "active" for expert in read_experts(engine))


def revoke_expert(engine: Engine, name: str) -> None:
    """End an expert's invitation and sessions; votes stay."""
    with write_transaction(engine) as connection:
        found = connection.execute(
            select(Expert.id).where(Expert.name == name, Expert.kind == INVITED)
        ).scalar_one_or_none()
        if found is None:
            raise LikewiseError(f"nobody called {name!r} was invited: see `likewise label status`.")
        connection.execute(update(Expert).where(Expert.id == found).values(revoked=store_time_now()))
        connection.execute(delete(Session).where(Session.expert == found))
        add_log_entry(connection, f"{name}'s invitation was revoked.")


def redeem_invitation(engine: Engine, token: str) -> str | None:
    """Exchange an invitation for a session; None if it does not exist, was revoked or has expired."""
    with write_transaction(engine) as connection:
        expert = connection.execute(
            select(Expert.id).where(
                Expert.token_hash == token_hash(token), Expert.revoked.is_(None), Expert.expires > store_time_now()
            )
        ).scalar_one_or_none()
        return None if expert is None else open_session(connection, expert)


def open_session(connection: Connection, expert: int | None) -> str:
    """A new session's token; sessions that have long been over are swept out on the way.

    Long: a login while the clock runs ahead must not end everybody's session for good.
    """
    token, days = secrets.token_urlsafe(TOKEN_BYTES), _session_days(expert)
    connection.execute(delete(Session).where(Session.expires <= days_from_now(-SESSION_DAYS)))
    connection.execute(
        insert(Session),
        {
            "token_hash": token_hash(token),
            "expert": expert,
            "created": store_time_now(),
            "expires": days_from_now(days),
        },
    )
    return token


def _session_days(expert: int | None) -> float:
    return OWNER_SESSION_DAYS if expert is None else SESSION_DAYS


def open_owner_session(engine: Engine) -> str:
    with write_transaction(engine) as connection:
        return open_session(connection, None)


def close_session(engine: Engine, token: str) -> None:
    with write_transaction(engine) as connection:
        connection.execute(delete(Session).where(Session.token_hash == token_hash(token)))


def read_visitors(engine: Engine, tokens: Sequence[str]) -> list[Visitor | None]:
    """Who each session token belongs to; a revoked or expired expert is nobody, at once.

    A session that would last for more than twice its days was begun by a clock that ran ahead: it is over, too.
    """
    moment, hashes = store_time_now(), [token_hash(token) for token in tokens]
    visitors: dict[str, Visitor] = {}
    with read_once(engine) as connection:
        named = {"hashed": sorted(set(hashes)), "moment": moment}
        for hashed, expert, ends, name, revoked, expires, questionnaire in connection.execute(SELECT_VISITORS, named):
            if ends > days_from_now(2 * _session_days(expert)):
                continue
            if expert is None:
                visitors[hashed] = Visitor(None, "owner")
            elif revoked is None and (expires is None or expires > moment):
                visitors[hashed] = Visitor(expert, name, questionnaire)
    return [visitors.get(hashed) for hashed in hashes]


def read_experts(engine: Engine) -> list[ExpertState]:
    """Everyone who was invited or whose votes are here, by name."""
    moment = store_time_now()
    with read_transaction(engine) as connection:
        rows = list(connection.execute(select(Expert.__table__).order_by(Expert.id)))
    found = []
    for row in rows:
        expired = row.expires is not None and row.expires <= moment
        state = "revoked" if row.revoked else "expired" if expired else "active"
        if row.kind != INVITED:
            state = "votes only"
        found.append(
            ExpertState(
                row.id,
                row.name,
                row.kind,
                state,
                row.n_answered,
                row.n_total,
                row.n_put_off,
                row.last_seen,
                row.expires,
            )
        )
    return sorted(found, key=lambda expert: expert.name)


def ensure_experts(connection: Connection, names: list[str], kind: str = NAMED) -> dict[str, int]:
    """The id of everyone named, made where they are new."""
    found = connection.execute(select(Expert.name, Expert.id))
    ids = {row[0]: row[1] for row in found}
    for name in names:
        if name not in ids:
            ids[name] = add_expert(connection, name, kind)
    return ids


def add_expert(connection: Connection, name: str, kind: str, questionnaire: str | None = None) -> int:
    row = {"name": name, "kind": kind, "created": store_time_now(), "questionnaire": questionnaire}
    number: int = connection.execute(insert(Expert).returning(Expert.id), row).scalar_one()
    return number


def set_owner_password_hash(engine: Engine, password_hash: str) -> None:
    with write_transaction(engine) as connection:
        connection.execute(delete(Owner))
        connection.execute(insert(Owner), {"id": 1, "password_hash": password_hash, "changed": store_time_now()})
        connection.execute(delete(Session).where(Session.expert.is_(None)))
        add_log_entry(connection, "The owner's password was set.")


def owner_password_hash(engine: Engine) -> str | None:
    with read_transaction(engine) as connection:
        return connection.execute(select(Owner.password_hash)).scalar_one_or_none()
