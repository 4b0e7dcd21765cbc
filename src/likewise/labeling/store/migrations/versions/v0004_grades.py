"""Answers may be graded: exact, substitute and different join the answers that events and votes know."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")
ANSWERS = "'similar', 'not similar', 'cannot tell', 'exact', 'substitute', 'different'"
ALLOWED = f"answer IN ({ANSWERS}, 'later', 'undo', 'removed')"

STANDING = f"""
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
WHERE place = 1 AND answer IN ({ANSWERS})
"""


def upgrade() -> None:
    op.execute("DROP VIEW votes")
    if op.get_bind().dialect.name == "sqlite":
        _replace_table()
    else:
        op.drop_constraint("events_answer", "events", type_="check")
        op.create_check_constraint("events_answer", "events", ALLOWED)
    op.execute(STANDING)


def _replace_table() -> None:
    """SQLite cannot change a constraint: the events move to a table that has the new one."""
    columns: list[sa.Column[Any]] = [
        sa.Column("id", Id, primary_key=True),
        sa.Column("pair", Id, sa.ForeignKey("pairs.id"), nullable=False),
        sa.Column("expert", Id, sa.ForeignKey("experts.id"), nullable=False),
        sa.Column("revision", sa.Integer, nullable=False),
        sa.Column("client_id", sa.String(64), unique=True),
        sa.Column("answer", sa.String(16), nullable=False),
        sa.Column("undoes", sa.Integer),
        sa.Column("reason", sa.Text),
        sa.Column("milliseconds", sa.Integer),
        sa.Column("time", sa.String(32)),
        sa.Column("stored", sa.String(32), nullable=False),
        sa.Column("source", sa.Text, nullable=False),
    ]
    names = ", ".join(column.name for column in columns)
    connection = op.get_bind()
    before = connection.execute(sa.text("SELECT count(*) FROM events")).scalar_one()
    op.create_table(
        "events_with_grades",
        *columns,
        sa.UniqueConstraint("pair", "expert", "revision", name="events_once"),
        sa.CheckConstraint(ALLOWED, name="events_answer"),
    )
    op.execute(f"INSERT INTO events_with_grades ({names}) SELECT {names} FROM events ORDER BY id")
    op.drop_table("events")
    op.rename_table("events_with_grades", "events")
    op.create_index("events_of_expert", "events", ["expert", "pair"])
    after = connection.execute(sa.text("SELECT count(*) FROM events")).scalar_one()
    if after != before:
        raise RuntimeError(f"{before} events became {after}")  # rolled back: the old table is still there
