"""The first schema: one table of votes."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "votes",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("candidate", sa.Text, nullable=False),
        sa.Column("expert", sa.Text, nullable=False),
        sa.Column("answer", sa.String(16), nullable=False),
        sa.Column("time", sa.String(32)),
        sa.Column("source", sa.Text, nullable=False),
        sa.UniqueConstraint("query", "candidate", "expert", name="votes_once"),
        sa.CheckConstraint("answer IN ('similar', 'not similar', 'cannot tell')", name="votes_answer"),
    )
    op.create_index("ix_votes_expert", "votes", ["expert"])
