"""A folder of photos as catalog rows: what its folders' names mean."""

import os
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lookalike.catalog.readers.plausible import layout_doubts
from lookalike.catalog.readers.rows import Rows, unchecked
from lookalike.catalog.readers.walk import ENDINGS, FolderListing, walk
from lookalike.catalog.split import split_name
from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.core.text import plural, quoted
from lookalike.core.types import LeftOut

WORDS = ("split", "category", "item", "photo", "-")


class Place(NamedTuple):
    """What a photo's folders say of it, and the pattern they were read by."""

    split: str
    category: str
    item: str
    pattern: str


def read_folder(folder: str | os.PathLike[str], *, layout: str | None = None) -> Rows:
    """Rows for all photos under a folder; image ids are paths relative to it, with `/`.

    Each photo is read by its depth: `photo` (no category), `category/photo`, `category/item/photo`
    (deeper: the item is all folders). Without an item folder each photo is an item of its own. If every
    photo lies below train, validation (val, valid) or test, that folder is the split.

    `layout` says it instead, for all photos: a pattern like `split/category/-/item/photo` of the words
    split, category, item, photo and - (of no meaning). An item's name is its split, category and item
    folders joined, so that equal names in two categories stay two items.

    Position is the place among the sorted paths of all photos. Names that are not UTF-8 are left out.
    Raises CatalogError if there is no such folder, it holds no photo, or the layout does not fit.
    """
    root = _existing(folder)
    found = walk(root)
    if not found.photos:
        raise _no_photos(root, found)
    readable = [(position, name) for position, name in enumerate(found.photos) if _is_utf8(name)]
    names = [name for _, name in readable]
    places = _by_layout(names, layout) if layout is not None else _by_depth(names)
    image = strings(names)
    return Rows(
        image=image,
        path=image,
        item=strings(place.item for place in places),
        category=strings(place.category for place in places),
        role=strings(["both"] * len(names)),
        split=strings(place.split for place in places),
        position=np.array([position for position, _ in readable], dtype=np.int64),
        **unchecked(len(names)),
        source=str(root),
        root=root,
        left_out=_not_utf8(found.photos),
        notes=(_sentence(places), *_ignored(root, found)),
        warnings=tuple(layout_doubts(found, names, [place[:3] for place in places], layout)),
    )


def _existing(folder: str | os.PathLike[str]) -> Path:
    root = Path(os.path.abspath(folder))
    if not os.path.isdir(root):
        what = "is not a folder" if os.path.exists(root) else "does not exist"
        raise CatalogError(f"{str(root)!r} {what}.", fix="Give the folder that holds the photos.")
    return root


def _no_photos(root: Path, found: FolderListing) -> CatalogError:
    holds = _listed(found.others) if found.others else "no visible file"
    closed = f" ({plural(len(found.closed), 'folder')} could not be opened)" if found.closed else ""
    return CatalogError(
        f"{str(root)!r} holds no photos{closed}; it holds {holds}.",
        fix=f"Give a folder with files ending in {', '.join(sorted(ENDINGS))}, or a table that names them.",
    )


def _is_utf8(name: str) -> bool:
    """Whether the name on disk is UTF-8: Python marks bytes that are not with lone surrogates."""
    try:
        name.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _not_utf8(photos: Sequence[str]) -> tuple[LeftOut, ...]:
    left = [(i, name) for i, name in enumerate(photos) if not _is_utf8(name)]
    shown = [os.fsencode(name).decode("utf-8", "backslashreplace") for _, name in left]
    reason = "name not UTF-8: rename the file or its folder"
    return tuple(LeftOut(name, name, i, reason) for (i, _), name in zip(left, shown, strict=True))


def _by_depth(names: Sequence[str]) -> list[Place]:
    """Every path read by its own number of folders, below the split folder if all have one."""
    parts = [name.split("/") for name in names]
    splits = [split_name(part[0]) if len(part) > 1 else None for part in parts]
    with_split = all(splits)
    return [
        _at_depth(part, split if with_split and split else "", skipped=int(with_split))
        for part, split in zip(parts, splits, strict=True)
    ]


def _at_depth(parts: list[str], split: str, skipped: int) -> Place:
    folders = parts[skipped:-1]
    words = ("split",) * skipped + ("category", "item")[: len(folders)] + ("photo",)
    item = "/".join(parts[:-1]) if len(folders) > 1 else "/".join(parts)
    return Place(split, folders[0] if folders else "", item, "/".join(words))


def _by_layout(names: Sequence[str], layout: str) -> list[Place]:
    words = _words(layout)
    unfit = [name for name in names if name.count("/") + 1 != len(words)]
    if unfit:
        folders = plural(len(words) - 1, "folder")
        raise CatalogError(
            f"--layout {layout!r} does not fit {len(unfit):,} of the photos: {quoted(unfit)}.",
            fix=f"It needs {folders} above each photo. Change it, or move those photos.",
        )
    places = [_at_words(words, name, layout) for name in names]
    strange = [
        name for name, place in zip(names, places, strict=True) if "split" in words and not place.split
    ]
    if strange:
        raise CatalogError(
            f"--layout {layout!r} finds no split in {quoted(strange)}.",
            fix="Name those folders train, validation (val, valid) or test, or write - in place of split.",
        )
    return places


def _words(layout: str) -> list[str]:
    words = layout.strip("/").split("/")
    named = [word for word in words if word != "-"]
    if not set(words) <= set(WORDS) or len(named) != len(set(named)) or words[-1] != "photo":
        raise ArgumentError(
            f"--layout is {layout!r}, which is not a pattern of folders.",
            fix=f"Join {', '.join(WORDS)} with /, photo last, each once: split/category/item/photo.",
        )
    return words


def _at_words(words: list[str], name: str, layout: str) -> Place:
    parts = name.split("/")
    part = dict(zip(words, parts, strict=True))
    folders = [one for word, one in zip(words, parts, strict=True) if word in ("split", "category", "item")]
    item = "/".join(folders) if "item" in part else name
    return Place(split_name(part.get("split", "")) or "", part.get("category", ""), item, layout.strip("/"))


def _sentence(places: Sequence[Place]) -> str:
    """How the folder was read, with counts."""
    if not places:
        return "No photo has a name that can be read."
    patterns = Counter(place.pattern for place in places).most_common()
    read = (
        patterns[0][0] if len(patterns) == 1 else ", ".join(f"{name} ({count:,})" for name, count in patterns)
    )
    categories = len({place.category for place in places} - {""})
    of = f"{plural(categories, 'category', 'categories')}, " if categories else ""
    items = len({place.item for place in places})
    return f"Read as {read}: {of}{plural(items, 'item')}, {plural(len(places), 'photo')}."


def _ignored(root: Path, found: FolderListing) -> list[str]:
    notes = []
    if found.others:
        notes.append(
            f"Ignored files that are no photos, by the ending of their names: {_listed(found.others)}."
        )
    if found.tables:
        notes.append(
            f"The folder holds {quoted(found.tables)}. To use its columns, start again with the table: lookalike init "
            f"{shlex.quote(str(root / found.tables[0]))} --overwrite"
        )
    if found.closed:
        notes.append(f"{plural(len(found.closed), 'folder')} could not be opened: {quoted(found.closed)}.")
    return notes


def _listed(others: Counter[str]) -> str:
    return ", ".join(f"{count:,} {ending}" for ending, count in others.most_common(8))
