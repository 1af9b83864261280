"""A table as catalog rows: which column is what, and which values may stand in it."""

import os
import shlex
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

import numpy as np

from lookalike.catalog.readers.rows import Rows, unchecked
from lookalike.catalog.readers.text_table import TextTable, as_text_table
from lookalike.catalog.split import split_name
from lookalike.core.checks import codes, strings
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.core.text import plural, quoted
from lookalike.core.types import ROLES, SPLITS

WORDS = ("image", "path", "item", "category", "role", "split", "mask")
BOX = ("x0", "y0", "x1", "y1")
LIKELY_IMAGE = (
    "filename",
    "file_name",
    "file",
    "filepath",
    "file_path",
    "image_path",
    "image_id",
    "img",
    "photo",
)


def read_table(
    table: object,
    *,
    images: str | os.PathLike[str] | None = None,
    columns: Mapping[str, str] | None = None,
) -> Rows:
    """Rows of a table: a path to CSV, TSV or Parquet, or a data frame. Everything is read as text.

    Columns, by name without regard to case: `image` (required), `path` (else the image id), `item` (else
    the image id), `category`, `role` (query, gallery or both, which a blank is), `split` (train,
    validation, also val and valid, or test; a blank one is drawn later), all of `x0`, `y0`, `x1` and `y1` (the box
    that encoders see, in pixels; blank for the whole photo), `mask` (the path of an image that marks the product).
    Others are kept. `columns` says which column is what under another name: `{"image": "filename"}`.

    Paths are relative to the folder `images`, which is the table's own by default. A data frame without
    `images` has no photos: `root` is None, and the catalog serves for scoring vectors only.
    Raises CatalogError, naming lines of a file or rows of a frame, for whatever does not fit.

    >>> rows = read_table({"Image": ["a.jpg", "b.jpg"], "item": ["007", None], "colour": ["red", "blue"]})
    >>> rows.item.tolist(), dict(rows.columns)["colour"].tolist()
    (['007', 'b.jpg'], ['red', 'blue'])
    """
    names = columns or {}
    table = as_text_table(table, wanted=names.get("image", "image"))
    known = _known(table, names)
    image = _images(table, known)
    path, item = (strings(_filled(table, known, word, image)) for word in ("path", "item"))
    category = strings(_filled(table, known, "category", [""] * len(image)))
    return Rows(
        image=strings(image),
        path=path,
        item=item,
        category=category,
        role=_roles(table, known),
        split=_splits(table, known),
        position=np.arange(len(image), dtype=np.int64),
        **unchecked(len(image)),
        source=table.source,
        root=_root(table, images),
        columns=_others(table, known),
        boxes=_boxes(table, known),
        masks=strings(_filled(table, known, "mask", [""] * len(image))) if "mask" in known else None,
        notes=(_sentence(item, category), *table.notes),
    )


def _known(table: TextTable, columns: Mapping[str, str]) -> dict[str, str]:
    """Our word -> the table's column, for the words it has."""
    if unknown := [word for word in columns if word not in (*WORDS, *BOX)]:
        raise ArgumentError(
            f"--column names {quoted(unknown)}, which no catalog has.",
            fix=f"Use one of {', '.join((*WORDS, *BOX))}, for example --column image=filename",
        )
    named = {
        word: _named(table, columns.get(word, word), required=word in columns) for word in (*WORDS, *BOX)
    }
    whole_box = all(named[word] is not None for word in BOX)
    if not whole_box and (lacking := [word for word in BOX if word in columns]):
        raise ArgumentError(
            f"--column names {quoted(lacking)}, but a box needs all of {', '.join(BOX)}.",
            fix="Name the other columns of the box too.",
        )
    known = {
        word: name for word, name in named.items() if name is not None and (whole_box or word not in BOX)
    }
    if "image" not in known:
        likely = _likely_image(table)
        name = shlex.quote(f"image={likely}") if likely else "image=NAME"
        raise CatalogError(
            f"{_named_source(table)} has no column 'image'; it has {quoted(list(table.columns), 20)}.",
            fix=f"Rename the column of image ids (file names) to 'image', or name it: --column {name}",
        )
    return known


def _named(table: TextTable, wanted: str, *, required: bool) -> str | None:
    """The column of that name, case and outer spaces aside."""
    named = [name for name in table.columns if _plain(name) == _plain(wanted)]
    if len(named) > 1:
        raise CatalogError(
            f"{_named_source(table)} has {len(named)} columns {wanted!r}: {quoted(named)}.",
            fix="Rename all but one.",
        )
    if required and not named:
        near = get_close_matches(wanted, list(table.columns), n=1)
        raise CatalogError(
            f"{_named_source(table)} has no column {wanted!r}; it has {quoted(list(table.columns), 20)}.",
            fix=f"The nearest is {near[0]!r}." if near else "Name a column that it has with --column.",
        )
    return named[0] if named else None


def _likely_image(table: TextTable) -> str | None:
    plain = {_plain(name).replace(" ", "_"): name for name in table.columns}
    likely = [word for word in LIKELY_IMAGE if word in plain] or get_close_matches("image", list(plain), n=1)
    return plain[likely[0]] if likely else None


def _images(table: TextTable, known: Mapping[str, str]) -> list[str]:
    """The image ids: present in every row, and each in one row only."""
    image = table.columns[known["image"]]
    if not image:
        raise CatalogError(f"{_named_source(table)} has no rows.", fix="Give it one row for each image.")
    if blank := [row for row, value in enumerate(image) if not value.strip()]:
        raise CatalogError(
            f"{_named_source(table)} has no image id in {table.at(blank)}.",
            fix="Fill the image column, or delete the rows.",
        )
    distinct, code = codes(strings(image))
    if len(distinct) < len(image):
        twice = np.flatnonzero(np.bincount(code) > 1)
        rows = np.flatnonzero(code == twice[0]).tolist()
        more = f", and {len(twice) - 1:,} other ids stand twice too" if len(twice) > 1 else ""
        raise CatalogError(
            f"{_named_source(table)} has image id {distinct[twice[0]]!r} in {table.at(rows)}{more}.",
            fix="Give each image one row. Where one photo shows several items, give each an id of its own, "
            "and the file in a column path.",
        )
    return image


def _filled(table: TextTable, known: Mapping[str, str], word: str, default: Sequence[str]) -> list[str]:
    """A column with its blanks filled from the default."""
    if word not in known:
        return list(default)
    values = table.columns[known[word]]
    return [value if value.strip() else other for value, other in zip(values, default, strict=True)]


def _roles(table: TextTable, known: Mapping[str, str]) -> np.ndarray:
    values = _filled(table, known, "role", ["both"] * len(table))
    roles = [value.strip().casefold() for value in values]
    _require_none(table, "role", values, [role not in ROLES for role in roles], ", ".join(ROLES))
    return strings(roles)


def _splits(table: TextTable, known: Mapping[str, str]) -> np.ndarray:
    values = _filled(table, known, "split", [""] * len(table))
    splits = [split_name(value) if value else "" for value in values]
    allowed = f"{', '.join(SPLITS)} (val and valid are validation)"
    _require_none(table, "split", values, [split is None for split in splits], allowed)
    return strings(split or "" for split in splits)


def _boxes(table: TextTable, known: Mapping[str, str]) -> np.ndarray | None:
    """The four numbers of each box, NaN in rows where all are blank; None if the table has no boxes."""
    if not set(BOX) <= known.keys():
        return None
    texts = [
        [value.strip() for value in row] for row in zip(*(table.columns[known[w]] for w in BOX), strict=True)
    ]
    wrong = [at for at, row in enumerate(texts) if any(row) and not all(map(_is_number, row))]
    if wrong:
        raise CatalogError(
            f"{_named_source(table)} has no box of four numbers in {table.at(wrong)}: "
            f"{quoted(texts[wrong[0]])}.",
            fix=f"Fill all of {', '.join(BOX)} with pixels, or none for the whole photo.",
        )
    return np.array([[float(value or "nan") for value in row] for row in texts], np.float64)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _require_none(
    table: TextTable, word: str, values: Sequence[str], wrong: Sequence[bool], allowed: str
) -> None:
    rows = [row for row, is_wrong in enumerate(wrong) if is_wrong]
    if rows:
        found = list(dict.fromkeys(values[row] for row in rows))
        raise CatalogError(
            f"{_named_source(table)} has {word} {quoted(found)} in {table.at(rows)}.",
            fix=f"Use one of: {allowed}, or leave it blank.",
        )


def _others(table: TextTable, known: Mapping[str, str]) -> Mapping[str, np.ndarray]:
    """The columns that are none of ours; one that has our word as its name without being it says so."""
    taken = set(known.values())
    free = [name for name in table.columns if name not in taken]
    names = [f"{name} (unused)" if _plain(name) in WORDS else name for name in free]
    return MappingProxyType({new: strings(table.columns[old]) for new, old in zip(names, free, strict=True)})


def _root(table: TextTable, images: str | os.PathLike[str] | None) -> Path | None:
    if images is None:
        return table.folder
    root = Path(os.path.abspath(images))
    if not os.path.isdir(root):
        what = "is not a folder" if os.path.exists(root) else "does not exist"
        raise CatalogError(
            f"--images is {str(root)!r}, which {what}.", fix="Give the folder that paths start from."
        )
    return root


def _sentence(item: np.ndarray, category: np.ndarray) -> str:
    categories = len(set(category) - {""})
    of = f"{plural(categories, 'category', 'categories')}, " if categories else ""
    return f"Read as a table: {of}{plural(len(set(item)), 'item')}, {plural(len(item), 'photo')}."


def _plain(name: str) -> str:
    return name.strip().casefold()


def _named_source(table: TextTable) -> str:
    return repr(table.source) if table.folder else f"The table ({table.source})"
