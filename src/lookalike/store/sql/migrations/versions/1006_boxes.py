"""An image may have a box: the part of its photo that encoders see."""

import sqlalchemy as sa
from alembic import op

revision = "1006"
down_revision = "1005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Photos of earlier catalogs are seen as a whole."""
    op.add_column("image", sa.Column("box", sa.Text, nullable=False, server_default=""))


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
