"""Moments as the database keeps them: ISO-8601 text in UTC with milliseconds, which sorts like time.

Simulated experts live in simulated time: inside `simulated_time` the clock stands still and nothing is left to chance,
so that two simulations with one seed give the same file.

Nothing is put in order by a moment: clocks are set back. The order of an expert's answers is that of their revisions,
which the database counts.
"""

import hashlib
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta

_frozen_time: ContextVar[str | None] = ContextVar("frozen_time", default=None)


@contextmanager
def simulated_store_time(moment: str) -> Iterator[None]:
    """Let `now` be `moment`, and `random_hex` follow from it."""
    before = _frozen_time.set(moment)
    try:
        yield
    finally:
        _frozen_time.reset(before)


def random_hex(n_bytes: int) -> str:
    """Hex digits nobody can guess, except in simulated time."""
    moment = _frozen_time.get()
    if moment is None:
        return secrets.token_hex(n_bytes)
    return hashlib.blake2b(moment.encode(), digest_size=n_bytes).hexdigest()


def format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def store_time_now() -> str:
    return _frozen_time.get() or format_time(datetime.now(UTC))


def days_from_now(days: float) -> str:
    return format_time(parse_time(store_time_now()) + timedelta(days=days))


def parse_time(text: str) -> datetime:
    return datetime.fromisoformat(text)
