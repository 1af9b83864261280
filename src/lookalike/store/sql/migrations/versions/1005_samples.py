"""Samples: pairs that are drawn at random for one value, with their design and what they were drawn from."""

import sqlalchemy as sa
from alembic import op

revision = "1005"
down_revision = "1004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Two new tables."""
    number, text = sa.Integer, sa.Text
    op.create_table(
        "sample",
        sa.Column("id", number, primary_key=True),
        sa.Column("name", text, nullable=False, unique=True),
        sa.Column("question", text, nullable=False),
        sa.Column("seed", sa.BigInteger, nullable=False),
        sa.Column("looks", text, nullable=False),
        sa.Column("catalog", text, nullable=False),
        sa.Column("made", sa.BigInteger, nullable=False),
        sa.Column("frame", sa.LargeBinary),
    )
    op.create_table(
        "sample_pair",
        sa.Column("sample", number, sa.ForeignKey("sample.id"), primary_key=True),
        sa.Column("place", number, primary_key=True),
        *(sa.Column(name, text, nullable=False) for name in ("query", "candidate", "low", "high", "item")),
        sa.Column("stratum", number, nullable=False),
        sa.Column("probability", sa.Float, nullable=False),
        sa.UniqueConstraint("sample", "low", "high"),
    )
    op.create_index("sample_pair_ends", "sample_pair", ["low", "high"])


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
