"""A file with a line of JSON for each finished piece of work, by which a killed run is resumed."""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lookalike.core.errors import StorageError
from lookalike.store.disk import disk_errors

Entry = Mapping[str, Any]


class Journal:
    """Entries by their `key`. They are on the disk when `add` returns.

    An incomplete last line is cut off, unless another command may still write it (`repair`).
    """

    def __init__(self, path: Path, *, repair: bool = True) -> None:
        self.path = path
        self._entries: dict[str, Entry] = {}
        with disk_errors("opening the journal", path):
            path.parent.mkdir(parents=True, exist_ok=True)
            kept = path.read_bytes() if path.exists() else b""
        whole = kept[: kept.rfind(b"\n") + 1]
        for number, line in enumerate(whole.splitlines(), 1):
            entry = self._read(line, number)
            self._entries[entry["key"]] = entry
        if repair and len(whole) < len(kept):
            with disk_errors("repairing the journal", path):
                os.truncate(path, len(whole))

    def __len__(self) -> int:
        return len(self._entries)

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def get(self, key: str) -> Entry | None:
        """The entry with a key; None if there is none."""
        return self._entries.get(key)

    def add(self, *entries: Entry) -> None:
        """Add entries, each with a `key`."""
        with disk_errors("adding to the journal", self.path), self.path.open("ab") as file:
            file.write(b"".join(json.dumps(entry).encode() + b"\n" for entry in entries))
            file.flush()
            os.fsync(file.fileno())
        self._entries |= {entry["key"]: entry for entry in entries}

    def _read(self, line: bytes, number: int) -> Entry:
        try:
            entry = json.loads(line)
            if isinstance(entry["key"], str):
                return dict(entry)
        except (ValueError, TypeError, KeyError):
            pass
        raise StorageError(
            f"Line {number} of {self.path} is not an entry of a journal.",
            fix="Use another file, or delete that line.",
        )
