"""A database of the version before labelling comes to this one with all it held, in its place and as a backup."""

import sqlite3
import zipfile
from pathlib import Path

import pytest
from databases import KINDS
from sqlalchemy import text
from voting_teams import shop

from lookalike.core.errors import WorkspaceError
from lookalike.recipes.backup import restore
from lookalike.recipes.queue import queue_pairs
from lookalike.store.database import VERSION, Database
from lookalike.store.settings import read_settings
from lookalike.store.workspace import Workspace

WRITTEN = Path(__file__).parent / "workspaces"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A workspace of database version 0002: 12 photos, a pool of 36 pairs, 10 random ones, 27 labels."""
    with zipfile.ZipFile(WRITTEN / "database-0002.zip") as packed:
        packed.extractall(tmp_path / "old")
    assert Database(tmp_path / "old/lookalike.db").version() == "0002"
    return tmp_path / "old"


def whole(workspace: Workspace) -> None:
    assert workspace.database.version() == VERSION
    assert (len(workspace.catalog), len(workspace.pool()), len(workspace.random_pairs())) == (12, 36, 10)
    labels = workspace.labels()
    assert (len(labels), int(labels.label.sum())) == (27, sum(
        q.split("/")[0] == c.split("/")[0] for q, c in zip(labels.query, labels.candidate, strict=True)
    ))  # fmt: skip


def test_it_is_migrated_where_it_lies_and_takes_questions(folder):
    whole(Workspace(folder))
    assert queue_pairs(Workspace(folder)).new > 0
    whole(Workspace(folder))
    Workspace(folder).database.check()


@pytest.mark.parametrize("kind", KINDS)
def test_as_a_backup_it_is_migrated_into_either_kind(folder, tmp_path, kind, request):
    place = "" if kind == "sqlite" else request.getfixturevalue("postgresql").fresh()
    settings = read_settings(folder)
    (tmp_path / "new").mkdir()
    type(settings)(**{**vars(settings), "database": place}).write(tmp_path / "new")
    before = (folder / "lookalike.db").read_bytes()
    done = restore(tmp_path / "new", folder / "lookalike.db")
    assert (done.was, done.rows["label"], done.photos_missing) == ("0002", 27, 12)
    whole(Workspace(tmp_path / "new"))
    assert queue_pairs(Workspace(tmp_path / "new")).new > 0
    assert (folder / "lookalike.db").read_bytes() == before


def test_a_newer_one_is_refused_in_words(tmp_path, database_place):
    workspace = shop(tmp_path / "w", database_place if isinstance(database_place, str) else "")
    with workspace.database.write() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(WorkspaceError, match=r"newer Lookalike \(database version 9999") as refused:
        Workspace(tmp_path / "w")
    assert "Install the newer Lookalike" in refused.value.fix
    if workspace.database.is_sqlite:
        with sqlite3.connect(tmp_path / "w/lookalike.db") as found:
            assert found.execute("SELECT count(*) FROM image").fetchone() == (24,)
        found.close()
