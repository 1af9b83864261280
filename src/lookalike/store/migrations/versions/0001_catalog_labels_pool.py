"""Catalog, labels and the pool."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def text(name: str) -> sa.Column[str]:
    """A text column that is never empty of a value."""
    return sa.Column(name, sa.Text, nullable=False)


def whole(name: str, **options: bool) -> sa.Column[int]:
    """A whole-number column."""
    return sa.Column(name, sa.Integer, **options)  # type: ignore[arg-type]


def upgrade() -> None:
    """Create the first tables."""
    op.create_table(
        "image",
        whole("row", primary_key=True),
        sa.Column("image", sa.Text, nullable=False, unique=True),
        *(text(name) for name in ("path", "item", "category", "role", "split")),
        whole("position", nullable=False),
        text("digest"),
        whole("width", nullable=False),
        whole("height", nullable=False),
        text("columns"),
    )
    op.create_table(
        "left_out", whole("position", primary_key=True), text("image"), text("path"), text("reason")
    )
    op.create_table(
        "label",
        whole("id", primary_key=True),
        text("query"),
        text("candidate"),
        whole("label", nullable=False),
        text("source"),
        sa.UniqueConstraint("query", "candidate", "label"),
    )
    op.create_table("pool", whole("id", primary_key=True), whole("top", nullable=False), text("generators"))
    op.create_table("pool_query", whole("place", primary_key=True), text("query"))
    op.create_table(
        "pool_pair",
        whole("pair", primary_key=True),
        text("query"),
        text("item"),
        text("candidate"),
        sa.UniqueConstraint("query", "item"),
    )
    op.create_table(
        "pool_source",
        whole("id", primary_key=True),
        sa.Column("pair", sa.Integer, sa.ForeignKey("pool_pair.pair"), nullable=False),
        text("generator"),
        whole("rank", nullable=False),
        sa.Column("score", sa.Float, nullable=False),
    )
    op.create_index("pool_source_pair", "pool_source", ["pair"])


def downgrade() -> None:
    """Drop them."""
    for name in ("pool_source", "pool_pair", "pool_query", "pool", "label", "left_out", "image"):
        op.drop_table(name)
