"""The newest migration leaves exactly the tables that the code knows, on SQLite and on PostgreSQL."""

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import text

from lookalike.core.errors import LookalikeError
from lookalike.store import votes_schema
from lookalike.store.database import VERSION, Database


def test_the_migrations_make_the_tables_the_code_knows(database_place):
    database = Database(database_place)
    database.migrate()
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), votes_schema.tables) == []
    assert database.version() == VERSION


@pytest.mark.parametrize("change", ["DELETE FROM audit", "UPDATE audit SET action = 'forged'"])
def test_history_cannot_be_changed(database_place, change):
    database = Database(database_place)
    database.migrate()
    with database.write() as connection:
        connection.execute(text("INSERT INTO audit (at, action) VALUES (1, 'did')"))
    with pytest.raises(LookalikeError, match="append-only"), database.write() as connection:
        connection.execute(text(change))
    with database.read() as connection:
        assert connection.execute(text("SELECT action FROM audit")).scalars().all() == ["did"]
