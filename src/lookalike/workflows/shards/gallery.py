"""Runs of queries and parts of the gallery as units of a plan: `discover` and `evaluate` of large catalogs.

The first chunk of such a plan has what all workers need (queries, labelled items), the next ones the rows and items of
each part of the gallery. A unit is one run of queries and one part; units of one part follow each other, and a worker
ranks them together. Workers read the vectors of their rows and of their queries.
"""

import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.errors import EmbeddingsError
from lookalike.core.object_store import is_address
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.rank.engine.source import Source
from lookalike.rank.parts import RUN, whole_items
from lookalike.store.shards.packed import Packed
from lookalike.store.shards.places import place_at
from lookalike.store.vectors.arrays import open_vectors, read_manifest
from lookalike.store.vectors.remote import RemoteVectors
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards.plans import MadeUnits, ShardWork

PART = 2**20  # images; a smaller gallery is one part, and its results are those of one process to the bit


@dataclass(frozen=True)
class Stretch:
    """Units of one part that follow each other: queries first to last of the plan, run by run.

    `catalog` is a small catalog of its own: first these queries, then the images of the part. `place` is the row of
    each in the whole catalog. `whole` if the part is the whole gallery. The shard has `of` queries, counted once for
    each part, of which `before` come before this stretch.
    """

    catalog: Catalog
    codes: np.ndarray
    place: np.ndarray
    runs: tuple[range, ...]
    whole: bool
    before: int
    of: int

    @property
    def first(self) -> int:
        """The first query."""
        return self.runs[0].start

    @property
    def last(self) -> int:
        """After the last query."""
        return self.runs[-1].stop

    @property
    def queries(self) -> np.ndarray:
        """The queries' rows in the small catalog."""
        return np.arange(self.last - self.first)

    @property
    def images(self) -> np.ndarray:
        """The rows of the part's images in the small catalog."""
        return np.arange(self.last - self.first, len(self.place))

    def rows(self, found: np.ndarray) -> np.ndarray:
        """Rows of the small catalog as rows of the whole one; -1 stays."""
        return np.where(found >= 0, self.place[found], -1)

    def progress(self, work: ShardWork, encoder: int) -> Progress | None:
        """The progress of ranking these queries by one of the plan's encoders, as that of the shard."""
        if work.progress is None:
            return None
        tell, encoders = work.progress, len(work.plan.header["encoders"])
        total = self.of * encoders

        def told(done: int, queries: int) -> None:
            tell(self.before * encoders + encoder * (self.last - self.first) + done, total)

        return told

    def code(self, whole: np.ndarray) -> np.ndarray:
        """Item codes of the whole catalog as those of the small one."""
        return np.searchsorted(self.codes, whole)


def arrays(**columns: np.ndarray) -> bytes:
    """Arrays as the content of a chunk; the same arrays are the same bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **columns)
    return file.getvalue()


def read_arrays(chunk: bytes) -> Mapping[str, np.ndarray]:
    """The arrays of a chunk."""
    with np.load(io.BytesIO(chunk), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def vectors_header(workspace: Workspace, names: list[str]) -> dict[str, Any]:
    """Where the vectors of encoders are, by which workers find them and see that they are those of the plan."""
    for name in names:
        workspace.embeddings(name)  # refused if stale or damaged
    return {
        "rows": len(workspace.catalog),
        "images": workspace.catalog.images_fingerprint,
        "reads": str((workspace.folder / "embeddings").resolve()),
        "encoders": {name: workspace.manifest(name).sum for name in names},
    }


def gallery_parts(catalog: Catalog) -> list[np.ndarray]:
    """The rows of each part of the gallery."""
    return list(whole_items(catalog, PART))


def gallery_plan(
    catalog: Catalog, parts: Sequence[np.ndarray], queries: np.ndarray, **common: np.ndarray
) -> tuple[dict[str, int], Iterator[bytes]]:
    """What the header of a plan says of its parts, and its chunks: what is common to all units, then each unit."""
    item = catalog.item_codes[1]
    runs = [range(first, min(first + RUN, len(queries))) for first in range(0, len(queries), RUN)]

    def chunks() -> Iterator[bytes]:
        yield arrays(queries=queries, items=item[queries], **common)
        for rows in parts:
            yield arrays(rows=rows, items=item[rows])
        for part in range(len(parts)):
            for run in runs:
                yield arrays(unit=np.array([part, run.start, run.stop]))

    return {"common": 1 + len(parts), "parts": len(parts), "runs": len(runs)}, chunks()


def stretches(plan: Packed, units: range) -> Iterator[Stretch]:
    """The units of a shard, those of one part together."""
    queries = read_arrays(plan.chunk(0))
    of_part: dict[int, list[range]] = {}
    for unit in units:
        part, first, last = read_arrays(plan.chunk(plan.header["common"] + unit))["unit"].tolist()
        of_part.setdefault(part, []).append(range(first, last))
    before, total = 0, sum(len(run) for runs in of_part.values() for run in runs)
    for part, runs in of_part.items():
        some, images = slice(runs[0].start, runs[-1].stop), read_arrays(plan.chunk(1 + part))
        codes, item = np.unique(
            np.concatenate([queries["items"][some], images["items"]]), return_inverse=True
        )
        place = np.concatenate([queries["queries"][some], images["rows"]])
        whole = plan.header["parts"] == 1
        yield Stretch(_small_catalog(item), codes, place, tuple(runs), whole, before, total)
        before += sum(map(len, runs))


def parts_of_runs(plan: Packed, made: MadeUnits) -> Iterator[list[Mapping[str, np.ndarray]]]:
    """What workers found, run by run: that of each part of the gallery."""
    parts, runs = plan.header["parts"], plan.header["runs"]
    for run in range(runs):
        yield [read_arrays(made.chunk(part * runs + run)) for part in range(parts)]


def _small_catalog(item: np.ndarray) -> Catalog:
    """A catalog of images that have nothing but an item; names of items sort like their numbers."""
    digits = len(str(len(item)))
    items, images = strings(f"{one:0{digits}}" for one in item.tolist()), strings(map(str, range(len(item))))
    none, zero = np.full(len(item), "", object), np.zeros(len(item), np.int64)
    both = np.full(len(item), "both", object)
    return Catalog(images, images, items, none, both, none, np.arange(len(item)), none, zero, zero)


def source_of(work: ShardWork, encoder: str, place: np.ndarray) -> Source:
    """The vectors of some rows of the catalog, if they are those of the plan: a mapped file, or read from a store."""
    header, root = work.plan.header, work.vectors or work.plan.header["reads"]
    folder = Path(root) / encoder
    remote = RemoteVectors.at(place_at(f"{root.rstrip('/')}/{encoder}")) if is_address(root) else None
    manifest = read_manifest(folder) if remote is None else remote.manifest
    if manifest.sum != header["encoders"][encoder] or manifest.images != header["images"]:
        raise EmbeddingsError(
            f"The vectors of {encoder} changed after the plan.", fix="Plan again into another folder."
        )
    return Source(open_vectors(folder, manifest), place) if remote is None else Source(remote.read(place))


def require_same(workspace: Workspace, plan: Packed) -> None:
    """Raise EmbeddingsError if the catalog is not that of the plan."""
    if workspace.catalog.images_fingerprint != plan.header["images"]:
        raise EmbeddingsError("The catalog changed after the plan.", fix="Plan again into another folder.")
