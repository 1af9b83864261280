"""The first version that migrations start from."""

# A new database does not run any migration: `Database.migrate` creates it from the metadata and marks it with the
# newest revision. So no copy of the tables is needed here, and this revision changes nothing. Later revisions change
# databases that exist already; tests/store/database/test_migrations.py compares both ways with the metadata.

revision = "1000"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change nothing: the tables were created with the database."""


def downgrade() -> None:
    """Change nothing: there is no earlier version."""
