"""Votes become events: append-only, with experts, pairs and their provenance apart; `votes` becomes a view of them."""

import hashlib
import json
from typing import Any

import sqlalchemy as sa
from alembic import op

from likewise.labeling.store import clock

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

ROWS_AT_ONCE = 5000
Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")

# An undone answer does not stand, nor does one followed by "later" or "removed"; of a hidden repeat (asking > 0) the
# answer to the first asking stands.
STANDING = """
CREATE VIEW votes AS
SELECT id, query, candidate, expert, answer, time, source FROM (
    SELECT e.id, q.key AS query, c.key AS candidate, x.name AS expert, e.answer, e.time, e.source,
        row_number() OVER (
            PARTITION BY p.query_image, p.candidate_image, e.expert ORDER BY p.asking, e.revision DESC
        ) AS place
    FROM events e
    JOIN pairs p ON p.id = e.pair
    JOIN images q ON q.id = p.query_image
    JOIN images c ON c.id = p.candidate_image
    JOIN experts x ON x.id = e.expert
    WHERE p.counts AND e.answer <> 'undo' AND NOT EXISTS (
        SELECT 1 FROM events u WHERE u.pair = e.pair AND u.expert = e.expert AND u.undoes = e.revision
    )
) AS latest
WHERE place = 1 AND answer IN ('similar', 'not similar', 'cannot tell')
"""


def upgrade() -> None:
    connection = op.get_bind()
    old = connection.execute(
        sa.text("SELECT query, candidate, expert, answer, time, source FROM votes ORDER BY id")
    ).fetchall()
    op.drop_table("votes")
    _create_tables()
    _keep([tuple(row) for row in old])
    op.execute(STANDING)
    kept = connection.execute(sa.text("SELECT count(*) FROM votes")).scalar_one()
    if kept != len(old):
        raise RuntimeError(f"{len(old)} votes became {kept}")  # rolled back: the old table is still there


def _create_tables() -> None:
    op.create_table("settings", sa.Column("name", sa.String(64), primary_key=True), _text("value"))
    op.create_table(
        "images",
        sa.Column("id", Id, primary_key=True, autoincrement=False),
        sa.Column("key", sa.Text, nullable=False, unique=True),
    )
    op.create_table(
        "pairs",
        sa.Column("id", Id, primary_key=True, autoincrement=False),
        _to("query_image", "images.id"),
        _to("candidate_image", "images.id"),
        sa.Column("asking", sa.SmallInteger, nullable=False),
        sa.Column("asked", sa.Boolean, nullable=False),
        sa.Column("counts", sa.Boolean, nullable=False),
        sa.UniqueConstraint("query_image", "candidate_image", "asking", name="pairs_once"),
    )
    for column in ("candidate_image", "asked"):  # one by one: a table makes its own indexes in any order
        op.create_index(f"ix_pairs_{column}", "pairs", [column])
    op.create_table(
        "provenance",
        _to("pair", "pairs.id", primary_key=True),
        sa.Column("generator", sa.Text, primary_key=True),
        sa.Column("rank", sa.Integer),
        sa.Column("score", sa.Double),
        _moment("added"),
    )
    op.create_table(
        "known_pairs",
        _to("pair", "pairs.id", primary_key=True),
        sa.Column("use", sa.String(16), primary_key=True),
        sa.Column("answer", sa.String(16), nullable=False),
        _text("note"),
    )
    op.create_table(
        "questionnaires",
        sa.Column("slug", sa.String(64), primary_key=True),
        _text("title"),
        _text("consent"),
        sa.Column("public", sa.Boolean, nullable=False),
        sa.Column("open", sa.Boolean, nullable=False),
        _count("most_guests"),
    )
    op.create_table(
        "experts",
        sa.Column("id", Id, primary_key=True),
        sa.Column("name", sa.Text, nullable=False, unique=True),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("token_hash", sa.String(64), unique=True),
        _moment("created"),
        _moment("expires", nullable=True),
        _moment("revoked", nullable=True),
        _moment("last_seen", nullable=True),
        *(_count(name) for name in ("n_total", "n_answered", "n_put_off", "n_timed")),
        sa.Column("timed_milliseconds", sa.BigInteger, nullable=False),
        _count("end_of_queue"),
        _count("share"),
        sa.Column("questionnaire", sa.String(64), sa.ForeignKey("questionnaires.slug")),
    )
    op.create_table(
        "queue",
        _to("expert", "experts.id", primary_key=True),
        _to("pair", "pairs.id", primary_key=True, index=True),
        _count("position"),
        sa.Column("state", sa.SmallInteger, nullable=False),
    )
    op.create_index("queue_next", "queue", ["expert", "state", "position", "pair"])
    op.create_table(
        "events",
        sa.Column("id", Id, primary_key=True),
        _to("pair", "pairs.id"),
        _to("expert", "experts.id"),
        _count("revision"),
        sa.Column("client_id", sa.String(64), unique=True),
        sa.Column("answer", sa.String(16), nullable=False),
        sa.Column("undoes", sa.Integer),
        sa.Column("reason", sa.Text),
        sa.Column("milliseconds", sa.Integer),
        _moment("time", nullable=True),
        _moment("stored"),
        _text("source"),
        sa.UniqueConstraint("pair", "expert", "revision", name="events_once"),
        sa.CheckConstraint(
            "answer IN ('similar', 'not similar', 'cannot tell', 'later', 'undo', 'removed')", name="events_answer"
        ),
    )
    op.create_index("events_of_expert", "events", ["expert", "pair"])
    op.create_table(
        "owner",
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        _text("password_hash"),
        _moment("changed"),
    )
    op.create_table(
        "sessions",
        sa.Column("token_hash", sa.String(64), primary_key=True),
        sa.Column("expert", Id, sa.ForeignKey("experts.id")),
        _moment("created"),
        _moment("expires"),
    )
    op.create_table("log", sa.Column("id", Id, primary_key=True), _moment("time"), _text("what"))
    op.create_table(
        "questions",
        sa.Column("id", Id, primary_key=True, autoincrement=False),
        sa.Column("questionnaire", sa.String(64), sa.ForeignKey("questionnaires.slug"), nullable=False, index=True),
        _text("name"),
        sa.Column("kind", sa.String(16), nullable=False),
        _text("prompt"),
        _text("images"),
        _text("options"),
        sa.UniqueConstraint("questionnaire", "name", name="questions_once"),
    )
    op.create_table(
        "question_answers",
        sa.Column("id", Id, primary_key=True),
        _to("question", "questions.id"),
        _to("expert", "experts.id"),
        _count("revision"),
        sa.Column("client_id", sa.String(64), nullable=False, unique=True),
        _text("value"),
        sa.Column("milliseconds", sa.Integer),
        _moment("stored"),
        sa.UniqueConstraint("question", "expert", "revision", name="question_answers_once"),
    )
    op.create_index("question_answers_of_expert", "question_answers", ["expert", "question"])


def _keep(votes: list[tuple[Any, ...]]) -> None:
    """Every old vote as the first revision of its expert's answer to its pair."""
    salt, now = clock.random_hex(16), clock.store_time_now()
    _insert("settings", [{"name": "salt", "value": json.dumps(salt)}])
    image_id = {key: _hidden(salt, "image", key) for vote in votes for key in vote[:2]}
    _insert("images", [{"id": number, "key": key} for key, number in image_id.items()])
    pair_id = {vote[:2]: _hidden(salt, "pair", *vote[:2], 0) for vote in votes}
    _insert(
        "pairs",
        [
            {
                "id": number,
                "query_image": image_id[query],
                "candidate_image": image_id[candidate],
                "asking": 0,
                "asked": False,
                "counts": True,
            }
            for (query, candidate), number in pair_id.items()
        ],
    )
    zeros = ("n_total", "n_answered", "n_put_off", "n_timed", "timed_milliseconds", "end_of_queue", "share")
    counts = dict.fromkeys(zeros, 0)
    names = dict.fromkeys(vote[2] for vote in votes)
    _insert("experts", [{"name": name, "kind": "named", "created": now, **counts} for name in names])
    expert_id = {row[0]: row[1] for row in op.get_bind().execute(sa.text("SELECT name, id FROM experts"))}
    _insert(
        "events",
        [
            {
                "pair": pair_id[query, candidate],
                "expert": expert_id[expert],
                "revision": 1,
                "answer": answer,
                "time": time,
                "stored": now,
                "source": source,
            }
            for query, candidate, expert, answer, time, source in votes
        ],
    )


def _insert(table: str, rows: list[dict[str, Any]]) -> None:
    columns = ", ".join(rows[0]) if rows else ""
    values = ", ".join(f":{name}" for name in rows[0]) if rows else ""
    for start in range(0, len(rows), ROWS_AT_ONCE):
        op.get_bind().execute(
            sa.text(f"INSERT INTO {table} ({columns}) VALUES ({values})"), rows[start : start + ROWS_AT_ONCE]
        )


def _hidden(salt: str, *key: object) -> int:
    text = "\x1f".join(map(str, (salt, *key)))
    return 1 + int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")


def _text(name: str) -> "sa.Column[str]":
    return sa.Column(name, sa.Text, nullable=False)


def _count(name: str) -> "sa.Column[int]":
    return sa.Column(name, sa.Integer, nullable=False)


def _moment(name: str, nullable: bool = False) -> "sa.Column[str]":
    return sa.Column(name, sa.String(32), nullable=nullable)


def _to(name: str, target: str, primary_key: bool = False, index: bool = False) -> "sa.Column[int]":
    return sa.Column(name, Id, sa.ForeignKey(target), primary_key=primary_key, nullable=False, index=index)
