"""Pairs that are asked no more because the pool was replaced: since when."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("pairs", sa.Column("withdrawn", sa.String(32)))
