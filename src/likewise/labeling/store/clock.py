"""Moments as the database keeps them: ISO-8601 text in UTC with milliseconds, which sorts like time."""

from datetime import UTC, datetime, timedelta


def text_of(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def now() -> str:
    return text_of(datetime.now(UTC))


def in_days(days: float) -> str:
    return text_of(datetime.now(UTC) + timedelta(days=days))


def moment_of(text: str) -> datetime:
    return datetime.fromisoformat(text)
