"""Which photos show one thing twice, what they are recognised by, and pairs drawn at random for labelling."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add a column to the catalog and two tables."""
    op.add_column("image", sa.Column("duplicate", sa.Integer, nullable=False, server_default="-1"))
    op.create_table(
        "signature",
        sa.Column("digest", sa.Text, primary_key=True),
        sa.Column("signature", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "random_pair",
        sa.Column("place", sa.Integer, primary_key=True),
        sa.Column("query", sa.Text, nullable=False),
        sa.Column("item", sa.Text, nullable=False),
        sa.Column("candidate", sa.Text, nullable=False),
        sa.UniqueConstraint("query", "item"),
    )


def downgrade() -> None:
    """Take them away."""
    op.drop_table("random_pair")
    op.drop_table("signature")
    op.drop_column("image", "duplicate")
