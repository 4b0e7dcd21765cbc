"""The tables of the votes database."""

from sqlalchemy import CheckConstraint, String, Text, UniqueConstraint
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from likewise.labeling.votes import ANSWERS


class Base(DeclarativeBase):
    pass


class Vote(Base):
    """What one expert says about one pair, when, and how the vote came here."""

    __tablename__ = "votes"
    __table_args__ = (
        UniqueConstraint("query", "candidate", "expert", name="votes_once"),
        CheckConstraint(f"answer IN ({', '.join(map(repr, ANSWERS))})", name="votes_answer"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    query: Mapped[str] = mapped_column(Text)
    candidate: Mapped[str] = mapped_column(Text)
    expert: Mapped[str] = mapped_column(Text, index=True)
    answer: Mapped[str] = mapped_column(String(16))
    time: Mapped[str | None] = mapped_column(String(32))  # ISO-8601 in UTC; null: not known
    source: Mapped[str] = mapped_column(Text)
