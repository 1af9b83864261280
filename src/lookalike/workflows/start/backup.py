"""`backup` and `restore`: the database of a workspace as one file, and back."""

from dataclasses import dataclass
from pathlib import Path

from lookalike.core.errors import StorageError, WorkspaceError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.store.disk import lock
from lookalike.store.settings import WorkspaceSettings, read_settings
from lookalike.store.sql.backup import checked, counts, is_empty, restore_backup, write_backup
from lookalike.store.sql.database import Database
from lookalike.store.sql.rows import read_catalog
from lookalike.store.workspace import CATALOG, DATABASE, Workspace

MAIN_TABLES = (
    "image",
    "label",
    "pool_pair",
    "question",
    "vote",
    "annotator",
)  # whose rows a backup reports


@dataclass(frozen=True)
class BackedUp:
    """What a backup holds: rows by table, bytes; and what else belongs to the workspace and is not in it."""

    file: str
    rows: dict[str, int]
    size: int
    not_in_it: tuple[str, ...]


@dataclass(frozen=True)
class Restored:
    """What was restored: rows by table, and how the catalog differs from the one that was here.

    `was` is the version of the backup; `lost` and `back` are images that only the catalog before, or only the
    backup has. `photos_missing` of the `photos` checked are not where the settings say.
    """

    file: str
    rows: dict[str, int]
    was: str
    lost: int
    back: int
    photos: int
    photos_missing: int


def backup(workspace: Workspace, path: Path, progress: Progress | None = None) -> BackedUp:
    """Write the database as it is at this moment into one file. Others can write at the same time."""
    if path.resolve() == (workspace.folder / DATABASE).resolve():
        raise WorkspaceError(
            f"{path} is the database itself.", fix="Name another file, best on another disk."
        )
    write_backup(workspace.database, path, progress)
    rows = counts(Database(path)) if workspace.database.is_sqlite else counts(workspace.database)
    return BackedUp(str(path), _main_rows(rows), path.stat().st_size, tuple(_not_in_it(workspace)))


def restore(folder: Path, path: Path, *, replace: bool = False, progress: Progress | None = None) -> Restored:
    """Put a backup in the place of a workspace's database, of whichever kind the settings name."""
    settings = read_settings(folder)
    database = Database(settings.database or folder / DATABASE)
    with (
        lock(folder, CATALOG, "restore"),
        lock(folder, "labels", "restore"),
        checked(path, folder) as (held, was),
    ):
        catalog = _catalog(held)
        before = _before(database, replace)
        lost, back = _compared(before, catalog, path)
        rows = counts(held)
        restore_backup(Path(str(held.url.database)), database, progress)
    photos, missing = _photos(folder, settings, catalog)
    return Restored(str(path), _main_rows(rows), was, lost, back, photos, missing)


def _catalog(database: Database) -> Catalog:
    return database.fetch(read_catalog)


def _before(database: Database, replace: bool) -> Catalog | None:
    """The catalog that is here, None where there is none; what is here is replaced only on request."""
    if database.is_sqlite and not Path(str(database.url.database)).is_file():
        return None
    try:
        if is_empty(database):
            return None
        found = "holds a workspace already"
    except StorageError:
        found = "is damaged, and part of it may be readable"
    if not replace:
        raise WorkspaceError(
            f"{database.name} {found}.",
            fix="Add --overwrite to put the backup in its place; `lookalike backup FILE` keeps what is here now."
            if found.startswith("holds")
            else "Keep a copy of that file, then add --overwrite to put the backup in its place.",
        )
    try:
        return _catalog(database)
    except WorkspaceError:
        return None


def _compared(before: Catalog | None, now: Catalog, path: Path) -> tuple[int, int]:
    if before is None:
        return 0, 0
    had, has = set(before.image), set(now.image)
    if had and not had & has:
        raise WorkspaceError(
            f"{path} is a backup of another catalog: it has none of this workspace's {len(had):,} images.",
            fix="Name the workspace it was made of (--workspace FOLDER), or restore it in a folder with that "
            "workspace's lookalike.toml.",
        )
    return len(had - has), len(has - had)


def _photos(
    folder: Path, settings: WorkspaceSettings, catalog: Catalog, most: int = 1_000
) -> tuple[int, int]:
    """How many photos were checked, evenly over the catalog, and how many of them are missing."""
    if not settings.photos:
        return 0, 0
    paths = catalog.path[:: max(1, len(catalog) // most)]
    return len(paths), sum(not (folder / settings.photos / path).is_file() for path in paths)


def _not_in_it(workspace: Workspace) -> list[str]:
    """What a workspace has besides its database."""
    listed = ["lookalike.toml, the settings"]
    if workspace.photos is not None:
        listed.append(f"the photos, in {workspace.photos}")
    folders = {
        "embeddings": "vectors, which `lookalike embed` can compute again",
        "views": "vectors of augmented views, computed again when needed",
        "models": "trained heads and networks",
        "tuning": "trials of `lookalike tune`",
        "reports": "reports",
    }
    return listed + [
        f"{name}/, {what}" for name, what in folders.items() if (workspace.folder / name).is_dir()
    ]


def _main_rows(rows: dict[str, int]) -> dict[str, int]:
    return {name: rows[name] for name in MAIN_TABLES}
