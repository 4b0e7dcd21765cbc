"""The tables of the votes database.

Answers are events: rows of `events` are added and never changed or deleted. The view `votes` (made by the migrations)
says which answer of each expert stands. Ids that reach a browser are random, so they tell nothing about a pair.
"""

from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Double,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from likewise.labeling.votes import ANSWERS

LATER, UNDO, REMOVED = "later", "undo", "removed"
EVENT_ANSWERS = (*ANSWERS, LATER, UNDO, REMOVED)

# States of an entry of an expert's queue; a repeat is held until its turn, a pair is retired while an image is gone
# or while it is withdrawn.
OPEN, PUT_OFF, ANSWERED, HELD, RETIRED = 0, 1, 2, 3, 4

INVITED, NAMED, GUEST, ADJUDICATOR = "invited", "named", "guest", "adjudicator"  # kinds of expert

BigId = BigInteger().with_variant(Integer, "sqlite")  # SQLite numbers rows itself only for INTEGER


class Base(DeclarativeBase):
    pass


def table_of(model: type[Base]) -> Table:
    """The table behind a model, for statements that skip the ORM."""
    table = model.__table__
    assert isinstance(table, Table)
    return table


class ProjectSetting(Base):
    """One setting of the project, as JSON."""

    __tablename__ = "settings"
    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    value: Mapped[str] = mapped_column(Text)


class Image(Base):
    """A picture that experts see: its key in the catalog, and the id by which browsers ask for it."""

    __tablename__ = "images"
    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    key: Mapped[str] = mapped_column(Text, unique=True)


class Pair(Base):
    """A question "do these look alike?". `asking` > 0 marks the hidden repeats of a pair."""

    __tablename__ = "pairs"
    __table_args__ = (UniqueConstraint("query_image", "candidate_image", "asking", name="pairs_once"),)

    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    query_image: Mapped[int] = mapped_column(ForeignKey("images.id"))
    candidate_image: Mapped[int] = mapped_column(ForeignKey("images.id"), index=True)
    asking: Mapped[int] = mapped_column(SmallInteger, default=0)
    asked: Mapped[bool] = mapped_column(Boolean, index=True)  # assigned to experts
    counts: Mapped[bool] = mapped_column(Boolean)  # answers are votes, not exercises
    withdrawn: Mapped[str | None] = mapped_column(String(32))  # since when a pool that was replaced asks it no more


class Provenance(Base):
    """Which generator proposed a pair, where and how sure it was. Nothing that an expert can ask for reads this."""

    __tablename__ = "provenance"
    pair: Mapped[int] = mapped_column(ForeignKey("pairs.id"), primary_key=True)
    generator: Mapped[str] = mapped_column(Text, primary_key=True)
    rank: Mapped[int | None]
    score: Mapped[float | None] = mapped_column(Double)
    added: Mapped[str] = mapped_column(String(32))


class GoldPair(Base):
    """A pair with a known answer: an example of the guidelines, a practice pair, or a hidden catch pair."""

    __tablename__ = "known_pairs"
    pair: Mapped[int] = mapped_column(ForeignKey("pairs.id"), primary_key=True)
    use: Mapped[str] = mapped_column(String(16), primary_key=True)
    answer: Mapped[str] = mapped_column(String(16))
    note: Mapped[str] = mapped_column(Text, default="")


class Expert(Base):
    """Someone who answers. The counters repeat what the queue says, so that progress costs nothing to show."""

    __tablename__ = "experts"
    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    name: Mapped[str] = mapped_column(Text, unique=True)
    kind: Mapped[str] = mapped_column(String(16))
    token_hash: Mapped[str | None] = mapped_column(String(64), unique=True)
    created: Mapped[str] = mapped_column(String(32))
    expires: Mapped[str | None] = mapped_column(String(32))
    revoked: Mapped[str | None] = mapped_column(String(32))
    last_seen: Mapped[str | None] = mapped_column(String(32))
    n_total: Mapped[int] = mapped_column(default=0)
    n_answered: Mapped[int] = mapped_column(default=0)
    n_put_off: Mapped[int] = mapped_column(default=0)
    n_timed: Mapped[int] = mapped_column(default=0)
    timed_milliseconds: Mapped[int] = mapped_column(BigInteger, default=0)
    end_of_queue: Mapped[int] = mapped_column(default=0)  # the next free position
    share: Mapped[int] = mapped_column(default=0)  # which of the project's shares this expert gets
    questionnaire: Mapped[str | None] = mapped_column(ForeignKey("questionnaires.slug"))


class QueueEntry(Base):
    """One pair in one expert's queue: its position and state."""

    __tablename__ = "queue"
    __table_args__ = (Index("queue_next", "expert", "state", "position", "pair"),)
    expert: Mapped[int] = mapped_column(ForeignKey("experts.id"), primary_key=True)
    pair: Mapped[int] = mapped_column(ForeignKey("pairs.id"), primary_key=True, index=True)
    position: Mapped[int]
    state: Mapped[int] = mapped_column(SmallInteger)


class Event(Base):
    """An answer, or the taking back of one. `time`: when it was given (null: unknown); `stored`: when it came here."""

    __tablename__ = "events"
    __table_args__ = (
        UniqueConstraint("pair", "expert", "revision", name="events_once"),
        CheckConstraint(f"answer IN ({', '.join(map(repr, EVENT_ANSWERS))})", name="events_answer"),
        Index("events_of_expert", "expert", "pair"),
    )
    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    pair: Mapped[int] = mapped_column(ForeignKey("pairs.id"))
    expert: Mapped[int] = mapped_column(ForeignKey("experts.id"))
    revision: Mapped[int]
    client_id: Mapped[str | None] = mapped_column(String(64), unique=True)  # null: not from a browser
    answer: Mapped[str] = mapped_column(String(16))
    undoes: Mapped[int | None]  # the revision that an undo takes back
    reason: Mapped[str | None] = mapped_column(Text)
    milliseconds: Mapped[int | None]
    time: Mapped[str | None] = mapped_column(String(32))
    stored: Mapped[str] = mapped_column(String(32))
    source: Mapped[str] = mapped_column(Text)


class Owner(Base):
    """The owner's password, hashed with argon2; one row at most."""

    __tablename__ = "owner"
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    password_hash: Mapped[str] = mapped_column(Text)
    changed: Mapped[str] = mapped_column(String(32))


class Session(Base):
    """A browser that is logged in: as an expert, or (expert null) as the owner."""

    __tablename__ = "sessions"
    token_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    expert: Mapped[int | None] = mapped_column(ForeignKey("experts.id"))
    created: Mapped[str] = mapped_column(String(32))
    expires: Mapped[str] = mapped_column(String(32))


class LogEntry(Base):
    """What the owner did, in words; added to, never changed."""

    __tablename__ = "log"
    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    time: Mapped[str] = mapped_column(String(32))
    what: Mapped[str] = mapped_column(Text)


class Questionnaire(Base):
    """A set of questions of other kinds. A public one is open to everybody who has its address, up to its limit."""

    __tablename__ = "questionnaires"
    slug: Mapped[str] = mapped_column(String(64), primary_key=True)
    title: Mapped[str] = mapped_column(Text)
    consent: Mapped[str] = mapped_column(Text, default="")
    public: Mapped[bool] = mapped_column(Boolean, default=False)
    open: Mapped[bool] = mapped_column(Boolean, default=True)
    most_guests: Mapped[int] = mapped_column(default=0)
    n_shares: Mapped[int] = mapped_column(default=0, server_default="0")  # 0: everybody is asked everything


class StoredQuestion(Base):
    """A triplet, a rating, a keep/delete or a multiple choice. `images` and `options` are JSON with image ids."""

    __tablename__ = "questions"
    id: Mapped[int] = mapped_column(BigId, primary_key=True, autoincrement=False)
    questionnaire: Mapped[str] = mapped_column(ForeignKey("questionnaires.slug"), index=True)
    name: Mapped[str] = mapped_column(Text)
    kind: Mapped[str] = mapped_column(String(16))
    prompt: Mapped[str] = mapped_column(Text)
    images: Mapped[str] = mapped_column(Text)
    options: Mapped[str] = mapped_column(Text)
    share: Mapped[int] = mapped_column(default=0, server_default="0")  # 0: for everybody, else from 1 to n_shares

    __table_args__ = (
        UniqueConstraint("questionnaire", "name", name="questions_once"),
        Index("questions_next", "questionnaire", "share", "id"),
    )


class QuestionAnswer(Base):
    """An answer to such a question; the latest revision stands."""

    __tablename__ = "question_answers"
    __table_args__ = (
        UniqueConstraint("question", "expert", "revision", name="question_answers_once"),
        Index("question_answers_of_expert", "expert", "question"),
    )
    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    question: Mapped[int] = mapped_column(ForeignKey("questions.id"))
    expert: Mapped[int] = mapped_column(ForeignKey("experts.id"))
    revision: Mapped[int]
    client_id: Mapped[str] = mapped_column(String(64), unique=True)
    value: Mapped[str] = mapped_column(Text)
    milliseconds: Mapped[int | None]
    stored: Mapped[str] = mapped_column(String(32))


class QuestionProgress(Base):
    """How far someone is in a questionnaire; repeats what the answers say, so that progress costs nothing to show."""

    __tablename__ = "question_progress"
    expert: Mapped[int] = mapped_column(ForeignKey("experts.id"), primary_key=True)
    questionnaire: Mapped[str] = mapped_column(ForeignKey("questionnaires.slug"), primary_key=True)
    n_answered: Mapped[int] = mapped_column(default=0)
    n_timed: Mapped[int] = mapped_column(default=0)
    timed_milliseconds: Mapped[int] = mapped_column(BigInteger, default=0)


class Note(Base):
    """Something an expert, or the owner (null), wrote down, as JSON; rows are added and never changed."""

    __tablename__ = "notes"
    __table_args__ = (Index("notes_of_key", "kind", "key"),)
    id: Mapped[int] = mapped_column(BigId, primary_key=True)
    kind: Mapped[str] = mapped_column(String(32))
    key: Mapped[str] = mapped_column(Text)
    expert: Mapped[int | None] = mapped_column(ForeignKey("experts.id"))
    body: Mapped[str] = mapped_column(Text)
    stored: Mapped[str] = mapped_column(String(32))
