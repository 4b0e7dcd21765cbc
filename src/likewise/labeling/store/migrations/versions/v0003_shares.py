"""Questions in shares, progress by questionnaire, and notes of experts."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

Id = sa.BigInteger().with_variant(sa.Integer, "sqlite")

COUNTED = """
INSERT INTO question_progress (expert, questionnaire, n_answered, n_timed, timed_milliseconds)
SELECT a.expert, q.questionnaire, count(DISTINCT a.question), count(a.milliseconds), coalesce(sum(a.milliseconds), 0)
FROM question_answers a JOIN questions q ON q.id = a.question GROUP BY a.expert, q.questionnaire
"""


def upgrade() -> None:
    op.add_column("questionnaires", sa.Column("n_shares", sa.Integer, nullable=False, server_default="0"))
    op.add_column("questions", sa.Column("share", sa.Integer, nullable=False, server_default="0"))
    op.create_index("questions_next", "questions", ["questionnaire", "share", "id"])
    op.create_table(
        "question_progress",
        sa.Column("expert", Id, sa.ForeignKey("experts.id"), primary_key=True),
        sa.Column("questionnaire", sa.String(64), sa.ForeignKey("questionnaires.slug"), primary_key=True),
        sa.Column("n_answered", sa.Integer, nullable=False),
        sa.Column("n_timed", sa.Integer, nullable=False),
        sa.Column("timed_milliseconds", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "notes",
        sa.Column("id", Id, primary_key=True),
        sa.Column("kind", sa.String(32), nullable=False),
        sa.Column("key", sa.Text, nullable=False),
        sa.Column("expert", Id, sa.ForeignKey("experts.id")),
        sa.Column("body", sa.Text, nullable=False),
        sa.Column("stored", sa.String(32), nullable=False),
    )
    op.create_index("notes_of_key", "notes", ["kind", "key"])
    op.execute(COUNTED)
