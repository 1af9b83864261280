"""Tokens of programs have a scope and an end. Existing ones keep what they can do for 90 more days."""

import sqlalchemy as sa
from alembic import op

from lookalike.core.clock import now_ms

revision = "1002"
down_revision = "1001"
branch_labels = None
depends_on = None

DAYS = 90 * 24 * 3600 * 1000


def upgrade() -> None:
    """Add both columns; the defaults are those of a token that can do nothing."""
    op.add_column("api_token", sa.Column("scope", sa.Text, nullable=False, server_default="read"))
    op.add_column("api_token", sa.Column("until", sa.BigInteger, nullable=False, server_default="0"))
    op.execute(
        sa.text(
            "UPDATE api_token SET until = :until, scope = CASE WHEN annotator IN "
            "(SELECT id FROM annotator WHERE role = 'lead') THEN 'lead' ELSE 'label' END"
        ).bindparams(until=now_ms() + DAYS)
    )


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
