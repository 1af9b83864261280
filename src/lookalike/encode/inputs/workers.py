"""Worker processes that read and prepare photos: the part of embedding that needs no network.

Processes, since classical descriptors hold the interpreter's lock; threads for a handful of photos, which would be
done before a process has started.
"""

import hashlib
import io
import os
import signal
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from lookalike.catalog.photos.masks import Region
from lookalike.core.errors import CatalogError, EmbeddingsError
from lookalike.encode.encoder import Prepare
from lookalike.encode.inputs.regions import load_photo, pools_regions

FEW = 256  # with fewer photos, starting processes takes longer than it saves
CHUNK = 16  # photos a worker takes at a time
AHEAD = 4  # chunks in progress or waiting per worker; limits memory for any catalog size
IDLE_SECONDS = (
    600  # how long workers wait for more work: a batch of a large network takes minutes on a processor
)
WATCH_SECONDS = 0.5  # how often a worker checks that its command still runs
KILLED = "worker_killed"  # the code of the error


class Chunk(NamedTuple):
    """Some photos of a catalog: their rows, paths, boxes and the hashes of their contents ("" for one not read)."""

    rows: tuple[int, ...]
    paths: tuple[str, ...]
    digests: tuple[str, ...]
    boxes: tuple[str, ...]


class PreparedChunk(NamedTuple):
    """A prepared chunk: the usable photos, stacked, and (row, what is wrong) for each other photo."""

    rows: tuple[int, ...]
    photos: np.ndarray
    bad: tuple[tuple[int, str], ...]


def make_ready(root: str, prepare: Prepare, size_hint: int, chunk: Chunk) -> PreparedChunk:
    """Read, check and prepare the photos of one chunk. Runs in a worker."""
    rows, photos, bad = [], [], []
    for row, path, digest, box in zip(*chunk, strict=True):
        found = _photo(Path(root), path, digest, size_hint, prepare, Region.of(box))
        if isinstance(found, str):
            bad.append((row, found))
        else:
            rows.append(row)
            photos.append(prepare(found))
    return PreparedChunk(tuple(rows), np.stack(photos) if photos else np.empty(0), tuple(bad))


def _photo(
    root: Path, path: str, digest: str, size_hint: int, prepare: Prepare, region: Region
) -> Image.Image | str:
    """The photo that the catalog means, with its region, or what is wrong with it."""
    mask = None
    try:
        content = _content(root / path, digest)
        if region.mask and pools_regions(prepare):
            mask = _content(root / region.mask, region.digest)
        return load_photo(content, prepare, size_hint, region.box, mask)
    except OSError:
        return "no longer there"
    except _ChangedError:
        return "changed since the catalog was made"
    except CatalogError:
        return "unreadable"


class _ChangedError(Exception):
    """A file is another one than the catalog names."""


def _content(path: Path, digest: str) -> io.BytesIO:
    content = path.read_bytes()
    if digest and hashlib.sha256(content).hexdigest() != digest:
        raise _ChangedError
    return io.BytesIO(content)


@contextmanager
def workers(count: int, photos: int, *, in_processes: bool = False) -> Iterator[Executor]:
    """Workers for a number of photos. A process that dies raises an error instead of blocking.

    A single worker is a thread: decoding releases the interpreter's lock, and photos need not be sent between
    processes, which takes 8% of the time of one processor. `in_processes`: never threads, for work that uses the
    random generators of its process.
    """
    if not in_processes and (photos < FEW or count == 1):
        with ThreadPoolExecutor(count) as threads:
            try:
                yield threads
            finally:
                threads.shutdown(wait=True, cancel_futures=True)
        return
    from loky import get_reusable_executor
    from loky.process_executor import BrokenProcessPool

    # loky starts a worker again that waited long or grew. No work is lost, so the user need not know.
    warnings.filterwarnings("ignore", "A worker ", UserWarning, "loky")

    processes = get_reusable_executor(
        count, timeout=IDLE_SECONDS, initializer=belong_to, initargs=(os.getpid(),)
    )
    try:
        yield processes
    except BrokenProcessPool:
        raise EmbeddingsError(
            "A worker process was killed, most likely because memory ran out.",
            fix="Run the same command again with fewer workers (--workers 1); finished photos are kept.",
            code=KILLED,
        ) from None


def belong_to(command: int) -> None:
    """In a worker: leave Ctrl-C to the command, and end with it however it ends.

    A worker waits for work on a pipe that the other workers hold open too, so it would not notice by itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(command,), daemon=True).start()


def _end_with(command: int) -> None:
    while os.getppid() == command:
        time.sleep(WATCH_SECONDS)
    os._exit(1)
