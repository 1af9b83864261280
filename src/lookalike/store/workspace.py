"""The workspace: one folder that can be copied, and the only access to its content."""

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType

import numpy as np
from sqlalchemy import Connection, bindparam, delete, func, select

from lookalike.core.errors import EmbeddingsError, StorageError, WorkspaceError
from lookalike.core.text import listed
from lookalike.core.types import Catalog, Embeddings, KnownVectors, Labels, Origin, Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.disk import disk_errors, lock, make_folder
from lookalike.store.emptying import clear, require_database
from lookalike.store.judges import JUDGES
from lookalike.store.labelling.due import due_labels, labels_now
from lookalike.store.promotions import promoted
from lookalike.store.settings import FILE, WorkspaceSettings, read_settings
from lookalike.store.sql import pools, schema
from lookalike.store.sql.database import Database
from lookalike.store.sql.rows import (
    empty,
    execute_all,
    insert_new,
    read_catalog,
    read_signatures,
    write_catalog,
    write_signatures,
)
from lookalike.store.sql.samples import DrawnDesign, keep_designs
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.vectors.arrays import (
    MANIFEST,
    PARTIAL,
    Manifest,
    Shards,
    known_rows,
    load_embeddings,
    load_view,
    read_manifest,
)
from lookalike.store.vectors.maps import MAPS

NO_SIGNATURES: Mapping[str, bytes] = MappingProxyType({})
DATABASE, EMBEDDINGS, VIEWS, REPORTS = "lookalike.db", "embeddings", "views", "reports"
TUNING = "tuning"  # the trials of `tune`
CATALOG = "catalog"  # the lock of commands that change it
FILES = (DATABASE, f"{DATABASE}-wal", f"{DATABASE}-shm")


class Workspace:
    """An open workspace. Reading takes no lock; of each kind of writing, one command runs at a time.

    It is seen through one of its pools: `pool`, `random_pairs` and, unless this is the main pool, `labels` are those of
    this pool.
    """

    def __init__(self, folder: Path, *, pool: str = MAIN_POOL, new_pool: bool = False) -> None:
        """`new_pool`: the pool is about to be made or changed, so all labels are seen."""
        self.folder, self.pool_name = folder, pool
        self.settings = read_settings(folder)
        if not self.settings.database and not (folder / DATABASE).is_file():
            raise StorageError(
                f"{folder} has no {DATABASE}, so the catalog, the pool and the labels are missing.",
                fix="Restore them from a backup (lookalike restore FILE), or create the workspace again: "
                "lookalike init TABLE_OR_FOLDER --overwrite",
            )
        self.database = Database(self.settings.database or folder / DATABASE)
        self.database.migrate()
        self._all_labels = new_pool or pool == MAIN_POOL
        if not self._all_labels:
            pools.require_pool(pool, self.pool_names())

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
        """Create a workspace. The settings file is written last, so a killed `init` leaves no workspace."""
        with disk_errors("making the workspace", folder):
            make_folder(folder)
        with lock(folder, CATALOG, "init"):
            if not replace:
                cls.require_absent(folder)
            clear(folder, FILES, (EMBEDDINGS, VIEWS, REPORTS, JUDGES, MAPS, TUNING))
            require_database(settings.database, folder, replace=replace)
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
        """Raise WorkspaceError if a folder is a workspace already."""
        if (folder / FILE).exists():
            raise WorkspaceError(
                f"{folder} is a workspace already.",
                fix="Use another folder (--workspace FOLDER), or start again with --overwrite, which also "
                "deletes its labels, pool and embeddings.",
            )

    @cached_property
    def catalog(self) -> Catalog:
        """The catalog."""
        return self.database.fetch(read_catalog)

    def signatures(self) -> dict[str, bytes]:
        """The signatures that identify near duplicates, by the digest of a photo's content.

        Older workspaces lack some.
        """
        return self.database.fetch(read_signatures)

    def add_signatures(self, signatures: Mapping[str, bytes]) -> None:
        """Add signatures of photos, by the digest of their content."""
        with self.database.write() as connection:
            write_signatures(connection, signatures)

    @property
    def photos(self) -> Path | None:
        """The folder that photo paths are relative to; None for a catalog without photos."""
        return self.folder / self.settings.photos if self.settings.photos else None

    @property
    def source(self) -> Path:
        """The folder or table that `init` read."""
        return Path(os.path.abspath(self.settings.of(self.folder)))

    @contextmanager
    def changing_catalog(self, doing: str) -> Iterator[None]:
        """Lock the catalog for one command, from reading to writing."""
        with lock(self.folder, CATALOG, doing):
            self.__dict__.pop("catalog", None)  # another command may have changed it
            yield

    def change_catalog(
        self, catalog: Catalog, settings: WorkspaceSettings, pairs: Mapping[str, pools.PooledPairs]
    ) -> None:
        """Replace the catalog and the pairs of pools in one transaction.

        It comes after the settings, so that a kill loses no source.
        """
        if settings != self.settings:
            settings.write(self.folder)
            self.settings = settings
        with self.database.write() as connection:
            write_catalog(connection, catalog)
            for name, (pool, drawn) in pairs.items():
                pools.write_random_pairs(connection, name, drawn)
                if pool is not None:
                    pools.write_pool(connection, name, pool)
        self.__dict__["catalog"] = catalog

    # Embeddings

    @property
    def encoders(self) -> list[str]:
        """Names of the encoders that have vectors."""
        return sorted(path.parent.name for path in (self.folder / EMBEDDINGS).glob(f"[!.]*/{MANIFEST}"))

    @property
    def promoted(self) -> str:
        """The encoder that was promoted last; "" before the first promotion."""
        now = self.database.fetch(promoted)
        return "" if now is None else now.encoder

    @property
    def served(self) -> str:
        """The encoder that answers searches that name none: the promoted one; before, the one that was embedded first.

        So an encoder that is added or updated never replaces another one unasked. "" if there are no vectors.
        """
        if now := self.promoted:
            return now
        made = []
        for name in self.encoders:
            with suppress(EmbeddingsError):  # damaged: other commands report it
                made.append((self.manifest(name).first, name))
        return min(made)[1] if made else ""

    @property
    def unfinished(self) -> list[str]:
        """Names of encoders whose vectors are unfinished."""
        return sorted(
            path.name[1 : -len(PARTIAL)] for path in (self.folder / EMBEDDINGS).glob(f".*{PARTIAL}")
        )

    def require_free(self, encoder: str, spec: str) -> None:
        """Raise EmbeddingsError for the name of another encoder, also if only its case differs."""
        for name in self.encoders:
            if name.casefold() == encoder.casefold() and (
                name != encoder or self.manifest(name).spec != spec
            ):
                raise EmbeddingsError(
                    f"The name {encoder!r} is taken: {name} holds the vectors of {self.manifest(name).spec}.",
                    fix="Choose another name with --name NAME, or overwrite those vectors with --replace.",
                )

    def manifest(self, encoder: str) -> Manifest:
        """The manifest of an encoder's vectors."""
        return read_manifest(self.vectors_folder(encoder))

    def embeddings(self, encoder: str) -> Embeddings:
        """An encoder's vectors of the catalog as it is now."""
        return load_embeddings(self.vectors_folder(encoder), self.catalog)

    def view(self, encoder: str, number: int, origin: Origin) -> np.ndarray | None:
        """An encoder's vectors of an augmented view of the catalog as it is now; None if they must be computed."""
        return load_view(self._place(encoder, number), self.catalog, origin)

    @contextmanager
    def embedding(self, encoder: str) -> Iterator[None]:
        """Lock one encoder's vectors while they are computed."""
        with disk_errors("making the folder for embeddings", self.folder / EMBEDDINGS):
            make_folder(self.folder / EMBEDDINGS)
        with lock(self.folder / EMBEDDINGS, encoder, f"embed {encoder}"):
            yield

    def shards(self, encoder: str, origin: Origin, beneath: str = "", view: int = 0) -> Shards:
        """An encoder's unfinished vectors of the photos or of a view, with the finished shards of an earlier run.

        For a head, `beneath` identifies the vectors that it is applied to.
        """
        place = self._place(encoder, view)
        with disk_errors("making the folder for vectors", place.parent):
            make_folder(place.parent)
        return Shards(place, self.catalog, origin, beneath)

    def known_rows(self, encoder: str, origin: Origin, view: int = 0) -> KnownVectors | None:
        """Vectors of an earlier state of the catalog that need not be computed again."""
        return known_rows(self._place(encoder, view), self.catalog, origin)

    def remove_embeddings(self, encoder: str) -> int:
        """Delete an encoder's vectors, also those of views. Returns their size in bytes."""
        folder = self.vectors_folder(encoder)
        with self.embedding(encoder), disk_errors(f"removing the vectors of {encoder}", folder):
            size = sum(path.stat().st_size for path in folder.iterdir())
            (folder / MANIFEST).unlink()  # first: vectors without a manifest belong to no encoder
            shutil.rmtree(folder)
            views = self.folder / VIEWS / encoder
            if views.is_dir():
                size += sum(path.stat().st_size for path in views.rglob("*") if path.is_file())
                shutil.rmtree(views)
            return size

    def _place(self, encoder: str, view: int = 0) -> Path:
        return self.folder / VIEWS / encoder / str(view) if view else self.folder / EMBEDDINGS / encoder

    def vectors_folder(self, encoder: str) -> Path:
        """The folder of an encoder's vectors."""
        if encoder not in self.encoders:
            known = self.encoders
            raise EmbeddingsError(
                f"Unknown encoder {encoder!r}. The workspace has vectors of {listed(known) or 'no encoder yet'}.",
                fix=f"{'Name one of these, or compute' if known else 'Compute'} others: lookalike embed ENCODER",
            )
        return self.folder / EMBEDDINGS / encoder

    # Labels

    def labels(self) -> Labels:
        """All labels, also conflicting ones, and those of votes that can no longer be undone. Writes nothing.

        Through a pool that is not the main one, these are the labels of its queries.
        """
        found, pool = self.database.fetch(labels_now), None if self._all_labels else self.pool()
        return found if pool is None else pools.labels_of(pool, found)

    def label_count(self) -> int:
        """The number of labels that `labels` returns."""
        if not self._all_labels:
            return len(self.labels())
        with self.database.read() as connection:
            return _label_count(connection) + len(due_labels(connection))

    def add_labels(
        self, labels: Labels, source: str, *, replace: bool = False, drawn: Iterable[DrawnDesign] = ()
    ) -> int:
        """Add labels in one transaction and return how many are new.

        `replace` first deletes the labels of the same pairs; a label of the other direction that differs is replaced
        too. `drawn` are the designs of pairs that a sample drew.
        """
        own = schema.label.c
        columns = (labels.query.tolist(), labels.candidate.tolist(), labels.label.tolist())
        given = list(zip(*columns, strict=True))
        if replace:
            ends = {(q, c) for q, c, _ in given}
            known = self.labels()
            other = set(
                zip(known.candidate.tolist(), known.query.tolist(), (1 - known.label).tolist(), strict=True)
            )
            given += [(c, q, y) for q, c, y in given if (q, c, y) in other and (c, q) not in ends]
        rows = [{"query": q, "candidate": c, "label": y, "source": source} for q, c, y in given]
        with lock(self.folder, "labels", "labels import"), self.database.write() as connection:
            if replace:
                same = (own.query == bindparam("q"), own.candidate == bindparam("c"))
                gone = ({"q": row["query"], "c": row["candidate"]} for row in rows)
                execute_all(connection, delete(schema.label).where(*same), gone)
            before = _label_count(connection)
            execute_all(connection, insert_new(connection, schema.label), rows)
            keep_designs(connection, drawn)
            return _label_count(connection) - before

    # Pool

    def pool(self) -> Pool | None:
        """The pool; None before `discover`."""
        return self.database.fetch(partial(pools.read_pool, name=self.pool_name))

    def random_pairs(self) -> RandomPairs:
        """The random pairs of the pool, in the order in which they were drawn."""
        return self.database.fetch(partial(pools.read_random_pairs, name=self.pool_name))

    def save_pool(self, pool: Pool, drawn: RandomPairs | None = None) -> None:
        """Replace the pool, and the random pairs if given, in one transaction."""
        with lock(self.folder, "pool", "discover"), self.database.write() as connection:
            pools.write_pool(connection, self.pool_name, pool)
            if drawn is not None:
                pools.write_random_pairs(connection, self.pool_name, drawn)

    def pool_names(self) -> tuple[str, ...]:
        """The names of all pools, the main one first."""
        return self.database.fetch(pools.pool_names)

    def every_pool(self) -> dict[str, pools.PooledPairs]:
        """All pools with their random pairs, by name."""
        return self.database.fetch(pools.every_pool)


def _label_count(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(schema.label)).scalar_one())
