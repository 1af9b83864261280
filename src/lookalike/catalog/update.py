"""A catalog that changes after it was made: what was read again, merged with what is there."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from lookalike.catalog.duplicates.groups import duplicate_groups, kept_together
from lookalike.catalog.photos.masks import moved
from lookalike.catalog.split import assign_together
from lookalike.core.checks import one_of, strings
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted
from lookalike.core.types import CATALOG_NUMBERS, CATALOG_TEXTS, ROLES, Catalog, LeftOut

NO_SIGNATURES: Mapping[str, bytes] = MappingProxyType({})
REMOVED = "removed: taken out by hand"
GONE = "missing file: it is no longer in the source"


@dataclass(frozen=True)
class CatalogChange:
    """What a change did, by image: new, with another photo or box than before, gone; and how many stay.

    Of those that stay, `updated` have another item, category, role, path or column than before.
    """

    added: tuple[str, ...] = ()
    replaced: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    kept: int = 0
    updated: int = 0

    def __bool__(self) -> bool:
        return bool(self.added or self.replaced or self.gone)


def merged(
    old: Catalog,
    read: Catalog,
    *,
    seed: int,
    whole: bool,
    replacing: bool = True,
    signatures: Mapping[str, bytes] = NO_SIGNATURES,
) -> tuple[Catalog, CatalogChange]:
    """A catalog with what was read now merged into it, by image.

    Old images keep their place, position and split; what the source says of them otherwise (path, item, category,
    role, columns, photo) is taken over. New ones come at the end, in the split of their item or a drawn one, with the
    position they had before or one after the last. If the source was read `whole`, an image it lacks is gone, with its
    reason in `left_out`; images that were removed by hand stay so then, and come back if they are added. Duplicates are
    looked for anew where photos came (`signatures` by digest), and new ones join the split of their duplicates.

    Unless `replacing`, another photo under an id that is taken is an error.
    """
    by_hand = {gone.image for gone in old.left_out if gone.reason == REMOVED} if whole else set()
    here = np.array([image in old.row for image in read.image], bool)
    new = np.flatnonzero(~here & np.array([image not in by_hand for image in read.image], bool))
    replaced = [
        image
        for image, content in zip(read.image[here], read.content[here], strict=True)
        if content != old.content[old.row[image]]
    ]
    if replaced and not replacing:
        raise CatalogError(
            f"{plural(len(replaced), 'id')} of the catalog would get another photo or box: {quoted(replaced)}.",
            fix="Give them other ids (rename them), or let the new photos take their place with --replace.",
        )
    gone = {image for image in old.image if image not in read.row} if whole else set()
    split = np.concatenate([old.split, np.full(len(new), "", object)])
    both = _stacked(_taken_over(old, read), read.take(new), split, _positions(old, read.image[new]))
    left = both.take(np.flatnonzero([image not in gone for image in both.image]))
    if len(new) or replaced:
        left = replace(left, duplicate=duplicate_groups(left, signatures))
    catalog = replace(_split_anew(left, seed), left_out=_left_out(old, read, gone, whole))
    change = CatalogChange(
        tuple(read.image[new]),
        tuple(replaced),
        tuple(sorted(gone)),
        len(old) - len(gone) - len(replaced),
        _updated(old, catalog),
    )
    return catalog, change


def _updated(old: Catalog, new: Catalog) -> int:
    """Images of both whose photo is the same and whose entry is not."""
    fields = ("path", "item", "category", "role")
    names = sorted({*old.columns, *new.columns})

    def entry(catalog: Catalog, row: int) -> list[str]:
        others = [catalog.columns[name][row] if name in catalog.columns else "" for name in names]
        return [*(getattr(catalog, field)[row] for field in fields), *others]

    both = [(old.row[image], row) for image, row in new.row.items() if image in old.row]
    return sum(
        old.content[before] == new.content[now] and entry(old, before) != entry(new, now)
        for before, now in both
    )


def joined(parts: Sequence[Catalog]) -> Catalog:
    """Catalogs read from several sources as one; where two have an image of one id, the later one counts."""
    last = {image: at for at, part in enumerate(parts) for image in part.image}
    kept = [
        part.take(np.array([row for row, image in enumerate(part.image) if last[image] == at], np.int64))
        for at, part in enumerate(parts)
    ]
    whole = kept[0]
    for part in kept[1:]:
        whole = _stacked(
            whole, part, np.concatenate([whole.split, part.split]), _positions(whole, part.image)
        )
    left_out = tuple(one for part in parts for one in part.left_out)
    return replace(whole, left_out=left_out)


def marked(read: Catalog, role: str, values: Mapping[str, str]) -> Catalog:
    """A catalog with one role ("" leaves them) and one value of some columns for all of its images."""
    rows = len(read)
    columns = {**read.columns, **{name: np.full(rows, value, object) for name, value in values.items()}}
    own = [name for name in values if name in (*CATALOG_TEXTS, *CATALOG_NUMBERS)]
    if own:
        raise CatalogError(
            f"{own[0]!r} is a column of every catalog and cannot be set for all photos at once.",
            fix="Set role or a column of your own, or give the value per photo in a table.",
        )
    given = np.full(rows, one_of(role, ROLES, "role"), object) if role else read.role
    return replace(read, role=given, columns=columns)


def without(old: Catalog, images: list[str]) -> tuple[Catalog, CatalogChange]:
    """A catalog without some images, which stand in `left_out` from then on."""
    unknown = [image for image in images if image not in old.row]
    if unknown:
        raise CatalogError(
            f"The catalog has no image {quoted(unknown)}.",
            fix="Name images by their ids: lookalike status",
        )
    gone = set(images)
    if len(gone) == len(old):
        raise CatalogError(
            "That would remove every image of the catalog.",
            fix="Keep some, or start again: lookalike init ... --overwrite",
        )
    rows = np.array([old.row[image] for image in old.image if image not in gone], np.int64)
    left = [*old.left_out, *(old.leaving_out(image, REMOVED) for image in gone)]
    catalog = replace(old.take(rows), left_out=tuple(sorted(left, key=lambda one: one.position)))
    return catalog, CatalogChange(gone=tuple(sorted(gone)), kept=len(rows))


def rooted(read: Catalog, root: Path, home: Path, together: Path) -> Catalog:
    """A catalog read under one folder with its paths as they lead from another.

    In full, unless it lies in there, or both lie in a folder that is moved as a whole.
    """
    root, home, together = (Path(os.path.abspath(folder)) for folder in (root, home, together))
    if root == home:
        return read
    moves_along = root.is_relative_to(together) and home.is_relative_to(together)
    near = moves_along or root.is_relative_to(home)
    inside = Path(os.path.relpath(root, home)).as_posix() if near else root.as_posix()
    place = partial("{}/{}".format, inside)
    return replace(
        read, path=strings(map(place, read.path)), box=strings(moved(box, place) for box in read.box)
    )


def _split_anew(catalog: Catalog, seed: int) -> Catalog:
    """Blank splits drawn, items and duplicates kept together; the others stay."""
    together = kept_together(catalog.item, np.arange(len(catalog)), catalog.duplicate)
    return replace(catalog, split=assign_together(catalog.item, together, seed=seed, given=catalog.split))


def _taken_over(old: Catalog, read: Catalog) -> Catalog:
    """The old rows with what the source says of them now; places, positions and splits stay."""
    rows = [(row, read.row[image]) for row, image in enumerate(old.image) if image in read.row]
    mine, theirs = (np.array(side, np.int64) for side in (zip(*rows, strict=True) if rows else ((), ())))
    fields = {}
    for name in ("path", "item", "category", "role", "digest", "width", "height", "box"):
        fields[name] = getattr(old, name).copy()
        fields[name][mine] = getattr(read, name)[theirs]
    columns = dict(_same_columns(old.columns, read.columns, len(old)))
    for name in read.columns:
        columns[name][mine] = read.columns[name][theirs]
    return replace(old, **fields, columns=columns)


def _same_columns(
    mine: Mapping[str, np.ndarray], theirs: Mapping[str, np.ndarray], rows: int
) -> Mapping[str, np.ndarray]:
    """Copies of one side's columns, and blank ones for those that only the other has."""
    blank = {name: np.full(rows, "", object) for name in theirs if name not in mine}
    return {**{name: values.copy() for name, values in mine.items()}, **blank}


def _stacked(old: Catalog, new: Catalog, split: np.ndarray, positions: np.ndarray) -> Catalog:
    fields: dict[str, Any] = {
        name: np.concatenate([getattr(old, name), getattr(new, name)])
        for name in (*CATALOG_TEXTS, *CATALOG_NUMBERS)
    }
    fields["split"] = split
    fields["position"][len(old) :] = positions
    mine = _same_columns(old.columns, new.columns, len(old))
    theirs = _same_columns(new.columns, old.columns, len(new))
    columns = {name: np.concatenate([mine[name], theirs[name]]) for name in mine}
    group = np.concatenate([old.duplicate, np.full(len(new), -1)])
    return Catalog(**fields, columns=columns, duplicate=group)


def _next_position(old: Catalog) -> int:
    """After every row that was ever in the catalog."""
    return 1 + max([*old.position.tolist(), *(one.position for one in old.left_out)], default=-1)


def _positions(old: Catalog, images: np.ndarray) -> np.ndarray:
    """Positions of new images: the one it had if it was left out before, else one after all others."""
    had = {one.image: one.position for one in old.left_out}
    following = count(_next_position(old))
    return np.array([had[image] if image in had else next(following) for image in images], np.int64)


def _left_out(old: Catalog, read: Catalog, gone: set[str], whole: bool) -> tuple[LeftOut, ...]:
    """What is left out after a merge: as before, but for images that are back; the gone ones with their reason."""
    reasons = {one.image: one.reason for one in read.left_out}
    back = {image for image in read.image if image not in old.row}
    kept = [one for one in old.left_out if one.image not in back or (whole and one.reason == REMOVED)]
    had = {one.image for one in kept}
    new = [old.leaving_out(image, reasons.get(image, GONE)) for image in gone]
    position = _next_position(old) + len(back)
    for one in read.left_out:
        if one.image not in had and one.image not in gone and one.image not in old.row:
            new.append(one._replace(position=position))
            position += 1
    return tuple(sorted([*kept, *new], key=lambda one: one.position))
