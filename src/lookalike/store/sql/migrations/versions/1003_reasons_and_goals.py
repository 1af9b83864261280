"""Answers have a reason and people a goal; the answers of each hour are counted again without undone ones."""

import sqlalchemy as sa
from alembic import op

revision = "1003"
down_revision = "1002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Earlier answers have no reason. A check that was undone has no row of its own, so its answer never counted."""
    for table in ("vote", "claim", "hidden_check"):
        op.add_column(table, sa.Column("reason", sa.Text, nullable=False, server_default=""))
    op.add_column("annotator", sa.Column("goal", sa.Integer, nullable=True))
    connection = op.get_bind()
    counted = connection.execute(sa.text(LIVE)).all()
    connection.execute(sa.text("UPDATE pace SET answers = 0"))
    one = sa.text("UPDATE pace SET answers = :answers WHERE annotator = :annotator AND hour = :hour")
    for row in counted:
        connection.execute(one, dict(row._mapping))


LIVE = """
SELECT annotator, at / 3600000 AS hour, COUNT(*) AS answers FROM (
    SELECT annotator, at FROM vote WHERE answer NOT IN ('skip', 'undo')
        AND NOT EXISTS (SELECT 1 FROM vote AS undone WHERE undone.token = 'undo:' || vote.token)
    UNION ALL
    SELECT annotator, at FROM hidden_check WHERE answer NOT IN ('', 'skip')
) AS live GROUP BY annotator, at / 3600000
"""


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
