"""What the pages of Map, Results and Catalog share: the catalog as it is now, maps, and long computations."""

import hashlib
import threading
from dataclasses import dataclass, field

from lookalike.store.vectors.arrays import images_fingerprint
from lookalike.store.vectors.maps import map_file
from lookalike.store.workspace import Workspace
from lookalike.web.background import Background
from lookalike.workflows.explore.map import CatalogMap, open_map
from lookalike.workflows.explore.results import Results

FRESH_MS = 60_000


@dataclass
class Exploring:
    """The workspace with a catalog that is at most a minute old, and the last map that was opened."""

    background: Background
    opened: Workspace
    read_at: int = -FRESH_MS
    version: str = ""
    last: tuple[object, CatalogMap] | None = None
    results: tuple[int, Results] | None = None  # the last ones, and when they were computed
    reading: threading.Thread | None = None
    lock: threading.Lock = field(default_factory=threading.Lock)

    def workspace(self) -> Workspace:
        """The workspace. After a minute its catalog is read again in a thread, because that takes seconds."""
        now = self.background.clock()
        with self.lock:
            if not self.version:
                self._read()
            elif not 0 <= now - self.read_at < FRESH_MS and not (self.reading and self.reading.is_alive()):
                self.reading = threading.Thread(target=self._read, daemon=True)
                self.reading.start()
            else:
                return self.opened
            self.read_at = now
            return self.opened

    def _read(self) -> None:
        """Read the catalog, and use it if its photos have changed."""
        found = Workspace(self.opened.folder, pool=self.opened.pool_name)
        version = images_fingerprint(found.catalog)
        if version == self.version:
            found.database.close()
        else:
            self.opened, self.version, self.last = found, version, None

    def map(self, encoder: str) -> CatalogMap | None:
        """The stored map of an encoder; None if there is none yet."""
        workspace = self.workspace()
        file = map_file(workspace.folder, encoder)
        with self.lock:
            stamp = file.stat().st_mtime_ns if file.is_file() else 0
            key = (encoder, stamp, workspace.manifest(encoder))
            if self.last is None or self.last[0] != key:
                found = open_map(workspace, encoder)
                if found is None:
                    return None
                self.last = key, found
            return self.last[1]

    def map_version(self, found: CatalogMap) -> str:
        """What addresses of points and images carry: other photos or coordinates have another one."""
        text = f"{self.version} {found.encoder} {found.method} {found.seed} {found.created} {found.placed}"
        return hashlib.sha256(text.encode()).hexdigest()[:12]
