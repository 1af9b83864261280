"""Sessions are rows, so that one of them can end; the counter that ended all sessions of a person at once goes."""

import sqlalchemy as sa
from alembic import op

revision = "1001"
down_revision = "1000"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer, "sqlite")


def upgrade() -> None:
    """Everybody logs in once more: no session is known yet."""
    op.create_table(
        "session",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("annotator", KEY, sa.ForeignKey("annotator.id"), nullable=False),
        sa.Column("began", sa.BigInteger, nullable=False),
    )
    op.create_index("session_of", "session", ["annotator"])
    op.drop_column("annotator", "epoch")


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
