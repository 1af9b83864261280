"""What comes before a new workspace: a database that is free, and no files of an old workspace."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import select

from lookalike.core.errors import WorkspaceError
from lookalike.store.disk import disk_errors
from lookalike.store.mounts import require_local
from lookalike.store.settings import FILE
from lookalike.store.sql import schema
from lookalike.store.sql.database import Database
from lookalike.store.vectors.models import remove_runs


def require_database(given: str, folder: Path, *, replace: bool) -> None:
    """Raise WorkspaceError if a PostgreSQL database cannot be reached or has another workspace's catalog.

    Without one, the folder must be on a local disk: its SQLite file would not be safe elsewhere.
    """
    if not given:
        require_local(
            folder,
            fix="Use a folder on a local disk (--workspace FOLDER), or a PostgreSQL database "
            "(lookalike init PHOTOS_OR_TABLE --database postgresql://user@host/name).",
        )
        return
    database = Database(given)
    if database.version() is None or replace:
        return
    with database.read() as connection:
        used = connection.execute(select(schema.image.c.row).limit(1)).first()
    if used is not None:
        raise WorkspaceError(
            f"The database {database.name} holds a workspace already.",
            fix="Use another database (createdb NAME), or start again with --overwrite, which also "
            "deletes its labels, votes and pool.",
        )


def clear(folder: Path, files: Sequence[str], folders: Sequence[str]) -> None:
    """Delete a workspace's own files. The settings go first, so that a kill leaves no incomplete workspace."""
    with disk_errors("clearing the workspace", folder):
        (folder / FILE).unlink(missing_ok=True)
        for name in files:
            (folder / name).unlink(missing_ok=True)
        for name in folders:
            shutil.rmtree(folder / name, ignore_errors=True)
    remove_runs(folder)  # not the folder: it can have weights of the user
