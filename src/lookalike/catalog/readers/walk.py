"""The photos under a folder, in one order on every machine."""

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ENDINGS = frozenset(
    (
        ".jpg",
        ".jpeg",
        ".jpe",
        ".jfif",
        ".png",
        ".apng",
        ".webp",
        ".gif",
        ".bmp",
        ".dib",
        ".tif",
        ".tiff",
        ".avif",
        ".heic",
        ".heif",
    )
)
TABLES = frozenset({".csv", ".tsv", ".parquet"})


@dataclass
class FolderListing:
    """What lies under a folder: relative POSIX paths of photos, and what is not among them.

    `others` counts the endings of files that are no photos, `tables` are those of them in the folder
    itself that could be read as a catalog, `closed` are folders that could not be opened.
    """

    photos: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    tables: list[str] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)


def walk(folder: Path) -> FolderListing:
    """All photos under a folder by their ending, sorted by relative path, character by character.

    Hidden files and folders are skipped. A link to a folder elsewhere is followed, once; one that leads to
    a folder that is read anyway, or back to where the walk came from, is not.
    """
    found, visited = FolderListing(), VisitedFolders(folder)
    waiting = [""]
    while waiting:
        place = waiting.pop()
        for entry in _entries(folder, place, found):
            name = f"{place}/{entry.name}" if place else entry.name
            if not _is_folder(entry):
                _note_file(name, found)
            elif not entry.is_symlink() or visited.leads_elsewhere(entry.path):
                waiting.append(name)
    found.photos.sort()
    return found


class VisitedFolders:
    """The real folders a walk starts from: its own and those links led to."""

    def __init__(self, folder: Path) -> None:
        self._starts: set[Path] = set()
        self._above: set[Path] = set()
        self._add(Path(os.path.realpath(folder)))

    def leads_elsewhere(self, link: str) -> bool:
        """Whether a link's folder neither lies in a walked one nor holds one; if so, it is walked now."""
        real = Path(os.path.realpath(link))
        if real in self._above or not self._starts.isdisjoint((real, *real.parents)):
            return False
        self._add(real)
        return True

    def _add(self, real: Path) -> None:
        self._starts.add(real)
        self._above.update(real.parents)


def _entries(folder: Path, place: str, found: FolderListing) -> Iterator[os.DirEntry[str]]:
    """Visible entries by name: the order decides which of two links to one folder is followed."""
    try:
        with os.scandir(folder / place) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError:
        found.closed.append(place or ".")
        return
    yield from (entry for entry in entries if not entry.name.startswith("."))


def _note_file(name: str, found: FolderListing) -> None:
    ending = os.path.splitext(name)[1].lower()
    if ending in ENDINGS:
        found.photos.append(name)
        return
    found.others[ending or "no ending"] += 1
    if ending in TABLES and "/" not in name:
        found.tables.append(name)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    """Whether the entry is a folder or a link to one; a link that runs in circles is not."""
    try:
        return entry.is_dir()
    except OSError:
        return False
