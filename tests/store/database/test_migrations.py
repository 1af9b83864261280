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

from lookalike.core.clock import now_ms
from lookalike.core.errors import LookalikeError, WorkspaceError
from lookalike.store.people import access, people, sessions
from lookalike.store.sql import database as module
from lookalike.store.sql import labelling_schema, pools
from lookalike.store.sql.database import BASELINE, VERSION, Database
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.backup import backup, restore


def test_a_new_database_has_the_tables_that_the_code_knows(database_place):
    database = Database(database_place)
    database.migrate()
    with database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), labelling_schema.tables) == []
    assert database.version() == VERSION


def test_partial_indexes_have_their_condition_in_both_databases(database_place):
    database = Database(database_place)
    database.migrate()
    table, name, definition = (
        ("sqlite_master", "name", "sql") if database.is_sqlite else ("pg_indexes", "indexname", "indexdef")
    )
    for index, condition in (("question_open", "free > 0"), ("lease_check", "hidden_check IS NOT NULL")):
        with database.read() as connection:
            found = connection.exec_driver_sql(f"SELECT {definition} FROM {table} WHERE {name} = '{index}'")
            assert condition in found.scalar_one()


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


OLD_ROWS = (
    "INSERT INTO annotator (name, folded, role, password, epoch, created, answers, last) VALUES "
    "('Lea', 'lea', 'lead', 'hash', 3, 10, 0, NULL), ('Ann', 'ann', 'annotator', 'other', 0, 11, 1, 20)",
    "INSERT INTO api_token (annotator, digest, name, at, revoked) VALUES "
    "(1, 'd1', 'sorter', 12, NULL), (2, 'd2', 'counter', 13, 14)",
    "INSERT INTO question (place, query, candidate, low, high, item, kind, needed, free, changed) VALUES "
    "(1, 'a', 'b', 'a', 'b', 'i', 'pool', 2, 1, 15)",
    "INSERT INTO vote (question, annotator, answer, place, side, at, token) VALUES (1, 2, 'similar', 0, 0, 20, 't')",
    "INSERT INTO audit (at, annotator, action) VALUES (9, 1, 'did')",
    "INSERT INTO claim (question, annotator, kind, answer, token, side, since, until) VALUES "
    "(1, 2, 'vote', 'similar', 't', 0, 20, 0)",
    *(
        "INSERT INTO vote (question, annotator, answer, place, side, at, token) "
        f"VALUES (1, 1, '{answer}', 0, 0, {at}, '{token}')"
        for answer, at, token in (
            ("similar", 3_600_010, "u"),
            ("undo", 3_600_020, "undo:u"),
            ("skip", 3_600_030, "v"),
            ("unsure", 7_200_000, "w"),
        )
    ),
    "INSERT INTO hidden_check (annotator, question, kind, turn, due, token, side, answer, at, took) VALUES "
    "(1, 1, 'repeat', 2, 3, 'x', 0, 'unsure', 7200005, 0), (1, 1, 'repeat', 3, 4, 'y', 0, '', NULL, 0)",
    "INSERT INTO pace (annotator, hour, answers, active) VALUES (2, 0, 1, 5), (1, 1, 1, 6), (1, 2, 3, 7)",
    'INSERT INTO pool (top, generators) VALUES (2, \'["color", "hog"]\')',
    "INSERT INTO pool_query (place, query) VALUES (0, 'a'), (1, 'c')",
    "INSERT INTO pool_pair (pair, query, item, candidate) VALUES (0, 'a', 'i', 'b'), (1, 'c', 'i', 'd')",
    "INSERT INTO pool_source (pair, generator, rank, score) VALUES (1, 'hog', 0, .5), (0, 'color', 1, .25)",
    "INSERT INTO random_pair (place, query, item, candidate) VALUES (0, 'c', 'j', 'e'), (1, 'a', 'j', 'e')",
)


@pytest.fixture
def old_database(database_place):
    """A database as the baseline created it, with people, tokens and votes."""
    database = Database(database_place)
    kind = "sqlite" if database.is_sqlite else "postgresql"
    statements = (Path(__file__).parent / "version_1000" / f"{kind}.sql").read_text().splitlines()
    with database.write() as connection:
        for statement in (*statements, *OLD_ROWS):
            connection.exec_driver_sql(statement)
    yield database
    database.close()


def test_a_database_of_the_baseline_keeps_its_rows(old_database):
    before = now_ms()
    old_database.migrate()
    with old_database.read() as connection:
        assert compare_metadata(MigrationContext.configure(connection), labelling_schema.tables) == []
        lea, ann = people.everyone(connection)[::-1]
        assert (lea.id, lea.name, lea.role, lea.created, lea.has_password) == (1, "Lea", "lead", 10, True)
        assert (ann.id, ann.name, ann.last) == (2, "Ann", 20)
        for one, name, scope, revoked in ((lea, "sorter", "lead", None), (ann, "counter", "label", 14)):
            (token,) = access.tokens(connection, one.id)
            assert (token.name, token.scope, token.revoked) == (name, scope, revoked)
            assert before + 90 * access.DAY_MS <= token.until <= now_ms() + 90 * access.DAY_MS
        columns = "question, annotator, answer, token, reason"
        rows = connection.execute(text(f"SELECT {columns} FROM vote ORDER BY id")).all()
        assert [tuple(row) for row in rows][:1] == [(1, 2, "similar", "t", "")]
        assert [row.reason for row in rows] == [""] * 5
        for table, count in (("claim", 1), ("hidden_check", 2)):
            found = connection.execute(text(f"SELECT reason FROM {table}")).scalars().all()
            assert found == [""] * count
        assert connection.execute(text("SELECT goal FROM annotator")).scalars().all() == [None, None]
        counted = connection.execute(text("SELECT annotator, hour, answers, active FROM pace ORDER BY 1, 2"))
        assert [tuple(row) for row in counted] == [(1, 1, 0, 6), (1, 2, 2, 7), (2, 0, 1, 5)]
        assert pools.pool_names(connection) == ("main",)
        pool, drawn = pools.every_pool(connection)["main"]
        assert (pool.top, pool.generators, pool.queries.tolist()) == (2, ("color", "hog"), ["a", "c"])
        pairs = zip(pool.query, pool.item, pool.candidate, strict=True)
        assert list(pairs) == [("a", "i", "b"), ("c", "i", "d")]
        sources = zip(
            *(getattr(pool, name).tolist() for name in ("pair", "source", "rank", "score")), strict=True
        )
        assert list(sources) == [(1, 1, 0, 0.5), (0, 0, 1, 0.25)]
        assert list(zip(drawn.query, drawn.item, drawn.candidate, strict=True)) == [
            ("c", "j", "e"),
            ("a", "j", "e"),
        ]
    with old_database.write() as connection:
        pools.write_pool(connection, "wild", pool)
        pools.write_random_pairs(connection, "wild", drawn)
        pools.write_pool(connection, "main", pool)
        assert pools.pool_names(connection) == ("main", "wild")
        assert people.add(connection, "New", "annotator", 30).id == 3
        sessions.begin_session(connection, ann.id, "nonce", 31)
        assert sessions.session_owner(connection, ann.id, "nonce") == ann
    with pytest.raises(LookalikeError, match="append-only"), old_database.write() as connection:
        connection.execute(text("DELETE FROM audit"))
    assert old_database.version() == VERSION


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
    [("0003", "before 1.0", "lookalike init"), ("9999", "newer", "pip install .")],
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
