"""One immutable file of numbered chunks, each read by its range: the format of plans and of what workers make.

    chunk 0 | chunk 1 | ... | header (JSON, compressed) | size of the header, its hash, the format

The header says what the file is, and where each chunk is and its hash. So a worker reads the end of the file and
its own chunks, on a disk or in an object store. The hash of the header identifies the file with all its chunks.
"""

import hashlib
import json
import struct
import tempfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from lookalike.core.errors import StorageError
from lookalike.core.object_store import ATTEMPTS
from lookalike.store.disk import disk_errors
from lookalike.store.shards.places import Place

FORMAT = b"lookalike-packed-1\n"
END = struct.Struct(f"<Q16s{len(FORMAT)}s")
HASH = 16  # bytes


def hash_of(content: bytes) -> str:
    """The hash of a chunk or a header.

    >>> hash_of(b"")
    'cae66941d9efbd404e4d88758ea67670'
    """
    return hashlib.blake2b(content, digest_size=HASH).hexdigest()


@dataclass(frozen=True)
class Packed:
    """An opened file. `identity` is the hash of its header; `chunks` has offset, size and hash of each chunk."""

    place: Place
    name: str
    identity: str
    header: Mapping[str, Any]
    chunks: tuple[tuple[int, int, str], ...]

    @classmethod
    def opened(cls, place: Place, name: str) -> "Packed | None":
        """The file of a name, of which only the end is read; None if there is none."""
        size = place.size(name)
        if size is None:
            return None
        try:
            length, identity, form = END.unpack(place.read(name, max(size - END.size, 0), size))
            if form != FORMAT or length > size - END.size:
                raise ValueError("another format")
            packed = place.read(name, size - END.size - length, size - END.size)
            if hash_of(packed) != identity.hex():
                raise ValueError("another header")
            header = json.loads(zlib.decompress(packed))
            chunks = tuple((int(at), int(length), str(digest)) for at, length, digest in header.pop("chunks"))
        except (ValueError, KeyError, TypeError, struct.error, zlib.error):
            raise _damaged(place, name) from None
        return cls(place, name, identity.hex(), header, chunks)

    def chunk(self, number: int) -> bytes:
        """The content of a chunk, compared with its hash. What differs is read once more, then refused."""
        first, size, digest = self.chunks[number]
        for _ in range(ATTEMPTS):
            content = self.place.read(self.name, first, first + size)
            if hash_of(content) == digest:
                return content
        raise _damaged(self.place, self.name)


@dataclass
class Packing:
    """A file that is being written: chunks first, then the header."""

    file: BinaryIO
    chunks: list[tuple[int, int, str]] = field(default_factory=list)

    def add(self, content: bytes) -> None:
        """Append a chunk."""
        self.chunks.append((self.file.tell(), len(content), hash_of(content)))
        self.file.write(content)

    def close(self, header: Mapping[str, Any]) -> str:
        """Write the header; returns the identity of the file. The same content has the same identity."""
        packed = zlib.compress(json.dumps({**header, "chunks": self.chunks}, sort_keys=True).encode())
        self.file.write(packed)
        self.file.write(END.pack(len(packed), bytes.fromhex(hash_of(packed)), FORMAT))
        return hash_of(packed)


@contextmanager
def packing() -> Iterator[tuple[Packing, Path]]:
    """A file to fill in the temporary folder of this machine, and its path. It is deleted at the end."""
    with tempfile.TemporaryDirectory(prefix="lookalike-") as folder:
        path = Path(folder) / "packed"
        with disk_errors("writing a shard", path), path.open("wb") as file:
            yield Packing(file), path


def _damaged(place: Place, name: str) -> StorageError:
    return StorageError(
        f"{name} in {place.name} is damaged or incomplete.",
        fix="Delete it, then run the command that made it again.",
    )
