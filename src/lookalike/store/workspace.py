"""The workspace: one folder a person can copy, and the only door to what is in it."""

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from sqlalchemy import delete, func, select, tuple_

from lookalike.core.errors import EmbeddingsError, StorageError, WorkspaceError
from lookalike.core.types import Catalog, Embeddings, Labels, Origin, Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.encode.run import KnownVectors
from lookalike.store.disk import disk_errors, lock
from lookalike.store.labelling.due import due_labels, labels_now
from lookalike.store.settings import FILE, WorkspaceSettings, read_settings
from lookalike.store.sql import schema
from lookalike.store.sql.database import Database
from lookalike.store.sql.rows import (
    empty,
    insert_new,
    read_catalog,
    read_pool,
    read_random_pairs,
    read_signatures,
    write_catalog,
    write_pool,
    write_random_pairs,
    write_signatures,
)
from lookalike.store.vectors.arrays import (
    MANIFEST,
    PARTIAL,
    Manifest,
    Shards,
    known_rows,
    load_embeddings,
    read_manifest,
)
from lookalike.store.vectors.models import remove_runs
from lookalike.store.vectors.views import StoredViews

NO_SIGNATURES: Mapping[str, bytes] = MappingProxyType({})
DATABASE, EMBEDDINGS, VIEWS, REPORTS = "lookalike.db", "embeddings", "views", "reports"


class Workspace:
    """An open workspace. Reading is lock-free; each kind of writing lets one command in at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.settings = read_settings(folder)
        if not self.settings.database and not (folder / DATABASE).is_file():
            raise StorageError(
                f"{folder} has no {DATABASE}: the catalog, the pool and the labels are gone.",
                fix="Restore them from a backup (lookalike restore FILE), or start afresh: "
                "lookalike init TABLE_OR_FOLDER --overwrite",
            )
        self.database = Database(self.settings.database or folder / DATABASE)
        self.database.migrate()

    @classmethod
    def create(
        cls,
        folder: Path,
        catalog: Catalog,
        settings: WorkspaceSettings,
        *,
        signatures: Mapping[str, bytes] = NO_SIGNATURES,
        replace: bool = False,
    ) -> "Workspace":
        """Make a workspace; the settings file comes last, so a killed `init` leaves no workspace behind."""
        with disk_errors("making the workspace", folder):
            folder.mkdir(parents=True, exist_ok=True)
        with lock(folder, "catalog", "init"):
            if not replace:
                cls.require_absent(folder)
            _clear(folder)
            require_database(settings.database, replace=replace)
            database = Database(settings.database or folder / DATABASE)
            database.migrate()
            with database.write() as connection:
                empty(connection)
                write_catalog(connection, catalog)
                write_signatures(connection, signatures)
            database.close()
            settings.write(folder)
        return cls(folder)

    @staticmethod
    def require_absent(folder: Path) -> None:
        """Refuse a folder that is a workspace already."""
        if (folder / FILE).exists():
            raise WorkspaceError(
                f"{folder} is a workspace already.",
                fix="Use another folder (--workspace FOLDER), or start again with --overwrite, which also "
                "deletes its labels, pool and embeddings.",
            )

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog."""
        with self.database.read() as connection:
            return read_catalog(connection)

    def signatures(self) -> dict[str, bytes]:
        """What near duplicates of photos are recognised by, by the digest of a photo's content.

        A digest may be missing here: of a workspace made before signatures were kept.
        """
        with self.database.read() as connection:
            return read_signatures(connection)

    def add_signatures(self, signatures: Mapping[str, bytes]) -> None:
        """Keep signatures of photos, by the digest of their content."""
        with self.database.write() as connection:
            write_signatures(connection, signatures)

    @property
    def photos(self) -> Path | None:
        """The folder photos' paths are relative to, None for a catalog of vectors only."""
        return self.folder / self.settings.photos if self.settings.photos else None

    @property
    def source(self) -> Path:
        """The folder or table that `init` read."""
        return Path(os.path.abspath(self.settings.of(self.folder)))

    @contextmanager
    def changing_catalog(self, doing: str) -> Iterator[None]:
        """Let one command at a time change the catalog, from its reading to its writing."""
        with lock(self.folder, "catalog", doing):
            self.__dict__.pop("catalog", None)  # another command may have changed it before
            yield

    def change_catalog(
        self, catalog: Catalog, settings: WorkspaceSettings, pool: Pool | None, drawn: RandomPairs
    ) -> None:
        """Replace the catalog and its pairs in one step, after the settings: a kill between them loses no source."""
        if settings != self.settings:
            settings.write(self.folder)
            self.settings = settings
        with self.database.write() as connection:
            write_catalog(connection, catalog)
            write_random_pairs(connection, drawn)
            if pool is not None:
                write_pool(connection, pool)
        self.__dict__["catalog"] = catalog

    # Embeddings

    @property
    def encoders(self) -> list[str]:
        """Names of the encoders that have vectors here."""
        return sorted(path.parent.name for path in (self.folder / EMBEDDINGS).glob(f"[!.]*/{MANIFEST}"))

    @property
    def unfinished(self) -> list[str]:
        """Names of encoders whose vectors a stopped run left unfinished."""
        return sorted(
            path.name[1 : -len(PARTIAL)] for path in (self.folder / EMBEDDINGS).glob(f".*{PARTIAL}")
        )

    def require_free(self, encoder: str, spec: str) -> None:
        """Refuse a name that belongs to another encoder, or differs from one by case only."""
        for name in self.encoders:
            if name.casefold() == encoder.casefold() and (
                name != encoder or self.manifest(name).spec != spec
            ):
                raise EmbeddingsError(
                    f"The name {encoder!r} is taken: {name} holds the vectors of {self.manifest(name).spec}.",
                    fix="Choose another name with --name NAME, or overwrite those vectors with --replace.",
                )

    def manifest(self, encoder: str) -> Manifest:
        """What made an encoder's vectors."""
        return read_manifest(self.vectors_folder(encoder))

    def embeddings(self, encoder: str) -> Embeddings:
        """An encoder's vectors of the catalog as it is now."""
        return load_embeddings(self.vectors_folder(encoder), self.catalog)

    @contextmanager
    def embedding(self, encoder: str) -> Iterator[None]:
        """Hold the place of one encoder's vectors while they are computed."""
        with disk_errors("making the folder for embeddings", self.folder / EMBEDDINGS):
            (self.folder / EMBEDDINGS).mkdir(exist_ok=True)
        with lock(self.folder / EMBEDDINGS, encoder, f"embed {encoder}"):
            yield

    def shards(self, encoder: str, origin: Origin, beneath: str = "") -> Shards:
        """An encoder's vectors under construction, with the shards that an earlier run finished.

        `beneath` is of a head: equal exactly when the vectors it is applied to are the same file.
        """
        return Shards(self.folder / EMBEDDINGS / encoder, self.catalog, origin, beneath)

    def known_rows(self, encoder: str, origin: Origin) -> KnownVectors | None:
        """Vectors that need not be computed again, of an earlier state of the catalog."""
        return known_rows(self.folder / EMBEDDINGS / encoder, self.catalog, origin)

    def views(self, encoder: str) -> StoredViews:
        """Vectors of augmented views that an encoder made of the catalog's photos."""
        return StoredViews(self.folder / VIEWS / encoder, self.catalog)

    def remove_embeddings(self, encoder: str) -> int:
        """Delete an encoder's vectors, those of augmented views too; returns how many bytes they took."""
        folder = self.vectors_folder(encoder)
        with self.embedding(encoder), disk_errors(f"removing the vectors of {encoder}", folder):
            size = sum(path.stat().st_size for path in folder.iterdir())
            (folder / MANIFEST).unlink()  # first: what is left without it is no encoder's any more
            shutil.rmtree(folder)
            return size + self.views(encoder).remove()

    def vectors_folder(self, encoder: str) -> Path:
        """Where an encoder's vectors are."""
        if encoder not in self.encoders:
            listed = ", ".join(self.encoders) or "none yet"
            raise EmbeddingsError(
                f"{self.folder} has no vectors of an encoder named {encoder!r} (it has: {listed}).",
                fix="Make them with `lookalike embed ENCODER --name NAME`, or name one of those.",
            )
        return self.folder / EMBEDDINGS / encoder

    # Labels

    def labels(self) -> Labels:
        """All labels, conflicting ones included, and those of votes that can no longer be undone. Writes nothing."""
        with self.database.read() as connection:
            return labels_now(connection)

    def label_count(self) -> int:
        """The number of labels that `labels` returns."""
        with self.database.read() as connection:
            written = connection.execute(select(func.count()).select_from(schema.label)).scalar_one()
            return int(written) + len(due_labels(connection))

    def add_labels(self, labels: Labels, source: str, *, replace: bool = False) -> int:
        """Add labels in one transaction and return how many are new.

        `replace` first drops the labels of the same pairs.
        """
        ends = [schema.label.c.query, schema.label.c.candidate]
        rows = [
            {"query": q, "candidate": c, "label": int(y), "source": source}
            for q, c, y in zip(labels.query, labels.candidate, labels.label, strict=True)
        ]
        with lock(self.folder, "labels", "labels import"), self.database.write() as connection:
            before = connection.execute(select(func.count()).select_from(schema.label)).scalar_one()
            if replace:
                for first in range(0, len(rows), 500):
                    pairs = [(row["query"], row["candidate"]) for row in rows[first : first + 500]]
                    connection.execute(delete(schema.label).where(tuple_(*ends).in_(pairs)))
                before = connection.execute(select(func.count()).select_from(schema.label)).scalar_one()
            for first in range(0, len(rows), 20_000):
                connection.execute(insert_new(connection, schema.label), rows[first : first + 20_000])
            after = connection.execute(select(func.count()).select_from(schema.label)).scalar_one()
        return int(after - before)

    # Pool

    def pool(self) -> Pool | None:
        """The pool, None where nothing was discovered yet."""
        with self.database.read() as connection:
            return read_pool(connection)

    def random_pairs(self) -> RandomPairs:
        """The pairs drawn at random for labelling, in the order they were drawn."""
        with self.database.read() as connection:
            return read_random_pairs(connection)

    def save_pool(self, pool: Pool, drawn: RandomPairs | None = None) -> None:
        """Replace the pool, and the random pairs where these are given, in one step."""
        with lock(self.folder, "pool", "discover"), self.database.write() as connection:
            write_pool(connection, pool)
            if drawn is not None:
                write_random_pairs(connection, drawn)


def require_database(given: str, *, replace: bool) -> None:
    """Refuse a PostgreSQL database that cannot be reached, or that holds another workspace's catalog."""
    if not given:
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


def _clear(folder: Path) -> None:
    """Remove a workspace's own files, the settings first: a kill in between leaves no half workspace."""
    with disk_errors("clearing the workspace", folder):
        (folder / FILE).unlink(missing_ok=True)
        for name in (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm"):
            (folder / name).unlink(missing_ok=True)
        for name in (EMBEDDINGS, VIEWS, REPORTS):
            shutil.rmtree(folder / name, ignore_errors=True)
    remove_runs(folder)  # alone: weights a user put into models/ stay
