"""A workspace holds several pools by name. The pool that is there, and its random pairs, are the pool `main`."""

import sqlalchemy as sa
from alembic import op

revision = "1004"
down_revision = "1003"
branch_labels = None
depends_on = None

OLD = "_of_1003"
COLUMNS = {
    "pool_query": "place, query",
    "pool_pair": "pair, query, item, candidate",
    "pool_source": "pair, generator, rank, score",  # ids are given anew, in their order
    "random_pair": "place, query, item, candidate",
}


def upgrade() -> None:
    """Tables whose keys change are made again with the rows that they have."""
    op.add_column("pool", sa.Column("name", sa.Text, nullable=False, server_default="main"))
    op.create_index("pool_name", "pool", ["name"], unique=True)
    op.drop_index("pool_source_pair", "pool_source")
    for table in COLUMNS:
        op.rename_table(table, table + OLD)
    text, number, name = (
        sa.Text,
        sa.Integer,
        sa.Column("pool", sa.Text, server_default="main", nullable=False),
    )
    op.create_table(
        "pool_query",
        name.copy(),
        sa.Column("place", number),
        sa.Column("query", text, nullable=False),
        sa.PrimaryKeyConstraint("pool", "place"),
    )
    op.create_table(
        "pool_pair",
        sa.Column("pair", number, primary_key=True),
        name.copy(),
        *(sa.Column(column, text, nullable=False) for column in ("query", "item", "candidate")),
        sa.UniqueConstraint("pool", "query", "item"),
    )
    op.create_table(
        "pool_source",
        sa.Column("id", number, primary_key=True),
        sa.Column("pair", number, sa.ForeignKey("pool_pair.pair"), nullable=False),
        sa.Column("generator", text, nullable=False),
        sa.Column("rank", number, nullable=False),
        sa.Column("score", sa.Float, nullable=False),
    )
    op.create_table(
        "random_pair",
        name.copy(),
        sa.Column("place", number),
        *(sa.Column(column, text, nullable=False) for column in ("query", "item", "candidate")),
        sa.PrimaryKeyConstraint("pool", "place"),
        sa.UniqueConstraint("pool", "query", "item"),
    )
    for table, columns in COLUMNS.items():
        order = "id" if table == "pool_source" else columns.partition(",")[0]
        op.execute(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {table}{OLD} ORDER BY {order}")
    for table in ("pool_source", "pool_pair", "pool_query", "random_pair"):
        op.drop_table(table + OLD)
    op.create_index("pool_source_pair", "pool_source", ["pair"])


def downgrade() -> None:
    """Not supported: a backup of the earlier version is restored instead."""
    raise NotImplementedError
