"""Open-Metric-Learning's table of images: label, path, split, is_query, is_gallery, and x_1 to y_2 if it has boxes."""

import os
from collections import Counter
from pathlib import Path

from lookalike.catalog.layouts.source import PublishedData
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.errors import CatalogError
from lookalike.core.text import quoted

OML = PublishedData(
    "an Open-Metric-Learning table",
    "your own export; the format is at https://open-metric-learning.readthedocs.io",
    "that of your photos",
    "a CSV with the columns label, path, split, is_query and is_gallery, and the photos",
)
NEEDED = ("label", "path", "split", "is_query", "is_gallery")
BOX = {"x0": "x_1", "y0": "y_1", "x1": "x_2", "y1": "y_2"}
ROLES = {(True, True): "both", (True, False): "query", (False, True): "gallery"}
WORDS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}


def read_open_metric_learning(file: Path, images: str | os.PathLike[str] | None) -> Rows:
    """Labels are items, rows of training (where is_query and is_gallery are blank) have both roles.

    A photo with several boxes is several images, named by path and box.
    """
    table = as_text_table(file, wanted="label")
    if lacking := [name for name in NEEDED if name not in table.columns]:
        raise OML.missing(
            f"{str(file)!r} is not {OML.title}: it has no column {quoted(lacking)}.", file.parent
        )
    cells = table.columns
    flags = [
        [WORDS.get(text.strip().casefold()) for text in cells[name]] for name in ("is_query", "is_gallery")
    ]
    role = [
        "both" if flag == (None, None) else ROLES.get((bool(flag[0]), bool(flag[1])), "")
        for flag in zip(*flags, strict=True)
    ]
    if wrong := [at for at, one in enumerate(role) if not one]:
        raise CatalogError(
            f"{str(file)!r} has neither is_query nor is_gallery in {table.at(wrong)}.",
            fix="Set one of them to True, or leave both blank for training.",
        )
    boxed = set(BOX.values()) <= cells.keys()
    box = (
        [",".join(row) for row in zip(*(cells[name] for name in BOX.values()), strict=True)]
        if boxed
        else cells["path"]
    )
    times = Counter(cells["path"])
    image = [
        path if times[path] == 1 else f"{path}#{one}" for path, one in zip(cells["path"], box, strict=True)
    ]
    taken = {*NEEDED, *(BOX.values() if boxed else ())}
    columns = {
        "image": image,
        "path": cells["path"],
        "item": cells["label"],
        "role": role,
        "split": cells["split"],
        **({ours: cells[theirs] for ours, theirs in BOX.items()} if boxed else {}),
        **{name: values for name, values in cells.items() if name and name not in taken},
    }
    return OML.rows(file, columns, OML.photos(file.parent, images, cells["path"]), *table.notes)
