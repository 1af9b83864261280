"""Totally-Looks-Like (Rosenfeld et al. 2018): left/ and right/, whose photos of one name are a similar pair.

`TLL_obj.csv` lists the pairs without faces that ADAPT 4.1 uses: a header `,TLL_obj`, then rows `0,00001.jpg`.
"""

import os
from pathlib import Path

from lookalike.catalog.layouts.source import PublishedData
from lookalike.catalog.readers.delimited import read_records
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.walk import ENDINGS
from lookalike.core.checks import strings
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted

TLL = PublishedData(
    "Totally-Looks-Like",
    "https://sites.google.com/view/totally-looks-like-dataset, and TLL_obj.csv from "
    "https://github.com/VieVie31/visual-similarity",
    "not stated; the photos were collected from the web",
    "the folders left and right, and for the pairs without faces TLL_obj.csv",
)
OBJECTS = "TLL_obj.csv"


def read_all_pairs(folder: Path, images: str | os.PathLike[str] | None) -> Rows:
    """All pairs; with TLL_obj.csv, the column `subset` is objects or faces."""
    return _read(folder, images, objects_only=False)


def read_objects(folder: Path, images: str | os.PathLike[str] | None) -> Rows:
    """The pairs of TLL_obj.csv."""
    return _read(folder, images, objects_only=True)


def _read(folder: Path, images: str | os.PathLike[str] | None, *, objects_only: bool) -> Rows:
    root = Path(os.path.abspath(images)) if images is not None else TLL.find(folder, "left").parent
    left, right = (
        {path.stem: path.name for path in _photos(TLL.find(root, side))} for side in ("left", "right")
    )
    if left.keys() != right.keys() or not left:
        alone = [f"left/{left[one]}" for one in sorted(left.keys() - right.keys())]
        alone += [f"right/{right[one]}" for one in sorted(right.keys() - left.keys())]
        raise CatalogError(
            f"{str(root)!r} has {len(left):,} photos in left and {len(right):,} in right; without the other side are: "
            f"{quoted(alone)}.",
            fix="Restore those photos, or remove them: both folders need photos of the same names.",
        )
    names, warnings = sorted(left), []
    subset = {}
    if objects_only or (folder / OBJECTS).is_file():
        listed = {Path(row[-1]).stem for row in read_records(TLL.find(folder, OBJECTS), "TLL_obj").rows}
        if absent := sorted(listed - set(names)):
            warnings = [f"{OBJECTS} lists {plural(len(absent), 'pair')} without photos: {quoted(absent)}."]
        subset = {name: "objects" if name in listed else "faces" for name in names}
        names = [name for name in names if not objects_only or name in listed]
    ids = [[f"{side}/{of[name]}" for name in names] for side, of in (("left", left), ("right", right))]
    columns = {
        "image": [*ids[0], *ids[1]],
        "role": ["query"] * len(names) + ["gallery"] * len(names),
        "pair": names * 2,
        **({"subset": [subset[name] for name in names] * 2} if subset else {}),
    }
    labels = {"query": ids[0], "candidate": ids[1], "label": ["1"] * len(names)}
    note = f"{plural(len(names), 'pair')}, each with both photos in one split."
    more = {"labels": (labels,), "together": strings(columns["pair"]), "warnings": tuple(warnings)}
    return TLL.rows(folder, columns, root, note, **more)


def _photos(folder: Path) -> list[Path]:
    return [path for path in sorted(folder.iterdir()) if path.suffix.lower() in ENDINGS]
