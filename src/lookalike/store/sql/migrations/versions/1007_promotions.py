"""Promotions: which encoder is served, with its history."""

import sqlalchemy as sa
from alembic import op

revision = "1007"
down_revision = "1006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """A new table. No encoder of an earlier workspace is served."""
    number, text = sa.Integer, sa.Text
    op.create_table(
        "promotion",
        sa.Column("id", number, primary_key=True),
        *(sa.Column(name, text, nullable=False) for name in ("encoder", "origin", "search_index", "action")),
        sa.Column("returns", number),
        sa.Column("gate", text, nullable=False),
        sa.Column("made", sa.BigInteger, nullable=False),
    )


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
