"""A new database has the tables that the code knows, and one that this program cannot open is refused."""

import sqlite3
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import text
from voting_teams import shop

from lookalike.core.errors import LookalikeError, WorkspaceError
from lookalike.store.sql import database as module
from lookalike.store.sql import labelling_schema
from lookalike.store.sql.database import BASELINE, VERSION, Database
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.backup import backup, restore


def test_a_new_database_has_the_tables_that_the_code_knows(database_place):
    database = Database(database_place)
    database.migrate()
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), labelling_schema.tables) == []
    assert database.version() == VERSION


def test_migrating_again_changes_nothing(database_place):
    Database(database_place).migrate()
    with Database(database_place).write() as connection:
        connection.execute(text("INSERT INTO audit (at, action) VALUES (1, 'did')"))
    Database(database_place).migrate()
    with Database(database_place).read() as connection:
        assert connection.execute(text("SELECT action FROM audit")).scalars().all() == ["did"]


def test_the_migrations_go_from_the_baseline_to_the_version_of_the_code():
    config = Config()
    config.set_main_option("script_location", str(Path(module.__file__).parent / "migrations"))
    scripts = ScriptDirectory.from_config(config)
    revisions = [one.revision for one in scripts.walk_revisions()]
    assert (revisions[0], revisions[-1]) == (VERSION, BASELINE)
    assert revisions == sorted(
        revisions, reverse=True
    )  # their order distinguishes a newer one from an older one


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


@pytest.mark.parametrize(
    ("version", "why", "fix"),
    [("0003", "before 1.0", "lookalike init"), ("9999", "newer", "pip install --upgrade")],
)
def test_a_database_of_another_time_is_refused_and_left_alone(tmp_path, database_place, version, why, fix):
    workspace = shop(tmp_path / "w", database_place if isinstance(database_place, str) else "")
    backup(workspace, tmp_path / "kept")
    with workspace.database.write() as connection:
        connection.execute(text(f"UPDATE alembic_version SET version_num = '{version}'"))
    with pytest.raises(WorkspaceError, match=f"{why}.*{version}") as refused:
        Workspace(tmp_path / "w")
    assert fix in refused.value.fix
    with workspace.database.read() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM image")).scalar() == 24
    assert workspace.database.version() == version
    with sqlite3.connect(tmp_path / "kept") as changed:
        changed.execute(f"UPDATE alembic_version SET version_num = '{version}'")
    changed.close()
    with pytest.raises(WorkspaceError, match=f"{why}.*kept .*{version}"):
        restore(tmp_path / "w", tmp_path / "kept", replace=True)
