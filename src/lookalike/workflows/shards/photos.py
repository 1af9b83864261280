"""Photos of a shard: where they are, or from an object store into a temporary folder, the next unit's ahead of time."""

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lookalike.catalog.photos.check import within
from lookalike.core.object_store import ObjectStore
from lookalike.core.parallel import in_order

AT_ONCE = 32  # photos that are read from an object store at the same time


def staged(address: str, units: Sequence[Sequence[str]]) -> Iterator[Path]:
    """For each unit, a folder with its photos. A photo that the store lacks is missing there too.

    While one unit is computed, the photos of the next are read. The folder of a unit is deleted when the next begins,
    so at most two units take space.
    """
    store = ObjectStore(address)
    with tempfile.TemporaryDirectory(prefix="lookalike-") as top, ThreadPoolExecutor(1) as ahead:
        folders = [Path(top) / str(number) for number in range(len(units))]
        work = [(store, folder, paths) for folder, paths in zip(folders, units, strict=True)]
        for folder in in_order(ahead, _fetch, work, 2):
            yield folder
            shutil.rmtree(folder)


def _fetch(work: tuple[ObjectStore, Path, Sequence[str]]) -> Path:
    store, folder, paths = work
    folder.mkdir()
    inside = sorted({found for path in paths if (found := within(path, "/")) is not None})
    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(lambda path: _copy(store, path, folder), inside))
    return folder


def _copy(store: ObjectStore, path: str, folder: Path) -> None:
    size = store.size(path)
    if size is not None:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(store.read(path, 0, size))
