"""One door from files to a Catalog: read, check every photo once, draw the splits."""

import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import numpy as np

from lookalike.catalog.duplicates.count import count_duplicates
from lookalike.catalog.duplicates.groups import FindPairs, duplicate_groups, kept_together
from lookalike.catalog.layouts.published import LAYOUTS, named_layout, read_published
from lookalike.catalog.photos.boxes import placed
from lookalike.catalog.photos.check import MAX_MEGAPIXELS, Checked, check_images, within
from lookalike.catalog.photos.masks import masked
from lookalike.catalog.readers.folder import read_folder
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.table import read_table
from lookalike.catalog.readers.walk import ENDINGS
from lookalike.catalog.split import assign_together, crossing_items
from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.core.progress import Progress
from lookalike.core.text import listed, plural
from lookalike.core.types import SPLITS, Catalog, LeftOut

Look = Callable[[list[str], Path], list[Checked]]  # paths and their root, to what a look at each photo gave


@dataclass(frozen=True, eq=False)
class Reading:
    """A catalog and how it came about.

    `root` is the folder its paths are relative to, None where there are no photos. `notes` are sentences
    to print, `warnings` say why the source may be the wrong one or be read wrongly; `source` is the folder or table as
    text. `signatures` are what near duplicates are recognised by, by the digest of a photo's content. `layout` names
    the pattern of folders or the published layout it was read by, and `labels` came with it (see `Rows`).
    """

    catalog: Catalog
    root: Path | None
    notes: tuple[str, ...]
    source: str
    signatures: Mapping[str, bytes] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    layout: str = ""
    labels: tuple[object, ...] = ()


def catalog_from(
    source: object,
    *,
    images: str | os.PathLike[str] | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    check: bool = True,
    max_megapixels: float = MAX_MEGAPIXELS,
    look: Look | None = None,
    find_pairs: FindPairs | None = None,
    progress: Progress | None = None,
) -> Reading:
    """A catalog from a folder of photos, a CSV or Parquet file, a data frame or a published data set (`fashion:DIR`).

    A folder may be given a `layout` (see `read_folder`; or the name of a published one), a table the folder of its
    `images` and the names of its `columns` (see `read_table`). Unless `check` is off, every photo is decoded and
    hashed (`look` gives what another machine found); bad ones are in `Catalog.left_out` with their reasons, and
    duplicates share a group in `Catalog.duplicate` (`find_pairs` gives what other machines found). Splits that the
    source does not give are drawn with `seed` over all its rows, whatever the photos are: one that turns out bad moves
    no other one, and duplicates move no more than the items they belong to, into one split.

    Raises CatalogError where there is nothing to read, or no photo can be used.

    >>> reading = catalog_from({"image": ["a", "b", "c"], "item": ["1", "1", "2"]})
    >>> reading.catalog.item.tolist(), reading.root
    (['1', '1', '2'], None)
    """
    rows, layout = rows_of(source, images=images, layout=layout, columns=columns, progress=progress)
    if rows.root is None or not check:
        checked = [Checked("", 0, 0)] * len(rows)
        looked = ["The photos were not looked at." if rows.root else "There are no photos: vectors only."]
    else:
        paths = rows.path.tolist()
        look = look or partial(check_images, max_megapixels=max_megapixels, progress=progress)
        checked = look(paths, rows.root)
        looked = []
    box, checked, told = _regions(rows, checked)
    left_out = _left_out(rows, checked)
    if all(found.reason for found in checked):
        raise _none_usable(rows, left_out)
    keep = np.array([not found.reason for found in checked])
    good = [found for found in checked if not found.reason]
    signatures = {found.digest: found.signature for found in good if found.digest}
    catalog = replace(
        rows.take(np.flatnonzero(keep)),
        path=_relative(rows.path[keep], rows.root),
        box=box[keep],
        digest=strings(found.digest for found in good),
        width=np.array([found.width for found in good], dtype=np.int64),
        height=np.array([found.height for found in good], dtype=np.int64),
        left_out=tuple(left_out),
    )
    group = duplicate_groups(catalog, signatures, find_pairs)
    kept = kept_together(rows.item if rows.together is None else rows.together, np.flatnonzero(keep), group)
    split = assign_together(rows.item, kept, seed=seed, given=rows.split)
    catalog = replace(catalog, split=split[keep], duplicate=group)
    notes = (*rows.notes, *looked, *told, *_left_out_notes(catalog), *_split_notes(rows, catalog, seed))
    warnings = (*rows.warnings, *_split_doubts(rows, catalog))
    return Reading(
        catalog,
        rows.root,
        (*notes, *_duplicate_notes(catalog)),
        rows.source,
        signatures,
        warnings,
        layout,
        rows.labels,
    )


def rows_of(
    source: object,
    *,
    images: str | os.PathLike[str] | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    progress: Progress | None = None,
) -> tuple[Rows, str]:
    """What `catalog_from` looks at: the rows of the source, before any photo is opened, and the layout's name."""
    if isinstance(source, str | os.PathLike) and not layout:
        named, source = named_layout(os.fspath(source))
        layout = named or ("fashion" if source.lower().endswith(".json") else layout)
    rows = _rows(source, images, layout, columns, progress)
    if not len(rows):
        raise _none_usable(rows, list(rows.left_out))
    return rows, layout or ""


def _rows(
    source: object,
    images: str | os.PathLike[str] | None,
    layout: str | None,
    columns: Mapping[str, str] | None,
    progress: Progress | None,
) -> Rows:
    """The source's rows, by what it is; arguments that cannot apply to it are refused."""
    if not isinstance(source, str | os.PathLike):
        _refuse({"--layout": layout}, "a table, whose columns say it all")
        return read_table(source, images=images, columns=columns)
    if layout is not None and layout in LAYOUTS:
        _refuse({"--column": columns}, "a published layout, whose columns are known")
        return read_published(layout, source, images, progress)
    path = Path(os.path.abspath(source))
    if not os.path.exists(path):
        raise CatalogError(
            f"{str(path)!r} does not exist.",
            fix="Give a folder of photos, or a CSV or Parquet file that names them.",
        )
    if path.is_dir():
        _refuse(
            {"--images": images, "--column": columns},
            "a folder of photos, whose paths and columns are its own",
        )
        return read_folder(path, layout=layout)
    if path.suffix.lower() in ENDINGS:
        raise CatalogError(
            f"{str(path)!r} is one photo, not a catalog.", fix="Give the folder that holds the photos."
        )
    _refuse({"--layout": layout}, "a table, whose columns say it all")
    return read_table(path, images=images, columns=columns)


def _refuse(arguments: Mapping[str, object], source: str) -> None:
    given = [name for name, value in arguments.items() if value is not None]
    if given:
        raise ArgumentError(
            f"{' and '.join(given)} cannot be given with {source}.", fix=f"Leave out {given[0]}."
        )


def _left_out(rows: Rows, checked: Sequence[Checked]) -> list[LeftOut]:
    """The reader's own and the checker's, by position."""
    named = zip(rows.image, checked, strict=True)
    bad = [rows.leaving_out(image, found.reason) for image, found in named if found.reason]
    return sorted([*rows.left_out, *bad], key=lambda one: one.position)


def _regions(rows: Rows, checked: Sequence[Checked]) -> tuple[np.ndarray, list[Checked], list[str]]:
    """The boxes and masks of all rows, the checks with the reasons of those that cannot be used, and notes."""
    width, height = (
        np.array([getattr(found, side) for found in checked], np.int64) for side in ("width", "height")
    )
    box, found, notes = rows.box, list(checked), list[str]()
    if rows.boxes is not None:
        made = placed(rows.boxes, rows.box_orders, width, height)
        box, found, notes = strings(made.text), _with_reasons(found, made.reasons), made.notes
    if rows.masks is not None and rows.root is not None:
        masks = ["" if one.reason else mask for one, mask in zip(found, rows.masks, strict=True)]
        made = masked(box.tolist(), masks, rows.root, width, height)
        box, found, notes = strings(made.text), _with_reasons(found, made.reasons), [*notes, *made.notes]
    return box, found, notes


def _with_reasons(checked: Sequence[Checked], reasons: Sequence[str]) -> list[Checked]:
    both = zip(checked, reasons, strict=True)
    return [found if found.reason or not why else Checked("", 0, 0, why) for found, why in both]


def _relative(paths: np.ndarray, root: Path | None) -> np.ndarray:
    """Paths as they lead from the root; one that leads out of it (unchecked) stays as written."""
    if root is None:
        return paths
    return strings(within(path, root) or path for path in paths)


def _left_out_notes(catalog: Catalog) -> list[str]:
    left = catalog.left_out
    whole = plural(len(catalog) + len(left), "photo")
    return [f"Left out {len(left):,} of {whole}: {reasons(left)}."] if left else []


def _split_notes(rows: Rows, catalog: Catalog, seed: int) -> list[str]:
    sizes = ", ".join(f"{name} {int(np.sum(catalog.split == name)):,}" for name in SPLITS)
    drawn = int(np.sum(rows.split[np.isin(rows.position, catalog.position)] == ""))
    how = ["as given"] if drawn < len(catalog) else []
    how += [f"{drawn:,} drawn with seed {seed}"] if drawn else []
    notes = [f"Splits ({', '.join(how)}): {sizes}."]
    if crossing := crossing_items(catalog.item, catalog.split):
        notes.append(f"Items with photos in more than one split, as given: {crossing:,}.")
    if len(catalog) == 1:
        notes.append("One image makes a catalog, but there is nothing to find in it.")
    return notes


def _split_doubts(rows: Rows, catalog: Catalog) -> list[str]:
    """A split that was drawn and got no photo: there is nothing to train or to test with."""
    empty = [name for name in SPLITS if not np.any(catalog.split == name)]
    if not empty or np.all(rows.split != "") or len(catalog) == 1:
        return []
    items = plural(len(set(catalog.item)), "item")
    return [
        f"The {'split' if len(empty) == 1 else 'splits'} {listed(empty)} got no photos. The catalog has only {items}, "
        "and duplicates stay together. Training and its test need photos in all splits."
    ]


def _duplicate_notes(catalog: Catalog) -> list[str]:
    found = count_duplicates(catalog)
    if not found.photos:
        return []
    groups = plural(found.groups, "group")
    items = f" ({found.across_items:,} across items)" if found.across_items else ""
    verb = "photo is a duplicate" if found.photos == 1 else "photos are duplicates"
    notes = [
        f"{found.photos:,} {verb} of others ({found.exact:,} exact, {found.near:,} near), in {groups}{items}."
    ]
    if found.across_splits:
        notes.append(f"Groups of duplicates in more than one split, as given: {found.across_splits:,}.")
    return notes


def reasons(left_out: Sequence[LeftOut]) -> str:
    """How many for each kind of reason, most frequent first."""
    kinds = Counter(one.reason.split(":", 1)[0] for one in left_out).most_common()
    return ", ".join(f"{count:,} {kind}" for kind, count in kinds)


def _none_usable(rows: Rows, left_out: Sequence[LeftOut]) -> CatalogError:
    first = left_out[0]
    missing = all(one.reason.startswith("missing file") for one in left_out)
    photos = plural(len(left_out), "photo")
    return CatalogError(
        f"None of the {photos} of {rows.source!r} can be used: {reasons(left_out)}. "
        f"The first is {first.image!r}, left out for: {first.reason}.",
        fix=f"Give the folder that the paths start from, instead of {str(rows.root)!r}: --images FOLDER"
        if missing
        else "Put those photos right, or give another source.",
    )
