"""Open-Metric-Learning's table of images: label, path, split, is_query, is_gallery, and x_1 to y_2 if it has boxes.

A table that Lookalike wrote also has image, item and role, so that reading it again gives the same catalog.
"""

import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lookalike.catalog.layouts.source import PublishedData
from lookalike.catalog.photos.masks import boxes_alone
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted
from lookalike.core.types import Catalog

OML = PublishedData(
    "an Open-Metric-Learning table",
    "your own export; the format is at https://open-metric-learning.readthedocs.io",
    "that of your photos",
    "a CSV with the columns label, path, split, is_query and is_gallery, and the photos",
)
NEEDED = ("label", "path", "split", "is_query", "is_gallery")
OWN = ("image", "item", "role")
SPLITS = ("train", "validation")
BOX = {"x0": "x_1", "y0": "y_1", "x1": "x_2", "y1": "y_2"}
ROLES = {(True, True): "both", (True, False): "query", (False, True): "gallery"}
WORDS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False} | {
    "": None, "none": None, "nan": None,
}  # fmt: skip


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
    texts = [[text.strip().casefold() for text in cells[name]] for name in ("is_query", "is_gallery")]
    if strange := sorted({text for column in texts for text in column} - WORDS.keys()):
        raise CatalogError(
            f"{str(file)!r} has {quoted(strange)} in is_query or is_gallery.",
            fix="Use True or False, and leave both blank for training.",
        )
    flags = [[WORDS[text] for text in column] for column in texts]
    whole = set(OWN) <= cells.keys()
    role = [
        mine if flag == [None, None] else ROLES.get((bool(flag[0]), bool(flag[1])), "")
        for *flag, mine in zip(*flags, cells["role"] if whole else ["both"] * len(table), strict=True)
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
    taken = {*NEEDED, *(OWN if whole else ()), *(BOX.values() if boxed else ())}
    columns = {
        "path": cells["path"],
        "split": cells["split"],
        "image": cells["image"] if whole else image,
        "item": cells["item"] if whole else cells["label"],
        "role": role,
        **({ours: cells[theirs] for ours, theirs in BOX.items()} if boxed else {}),
        **{
            f"{name} (unused)" if name in OWN else name: values
            for name, values in cells.items()
            if name and name not in taken
        },
    }
    root = OML.photos(file.parent, images, cells["path"])
    return OML.rows(file, columns, root, *table.notes, lines=table.lines)


def oml_table(catalog: Catalog) -> tuple[dict[str, Sequence[object]], list[str]]:
    """The columns of a table that Open-Metric-Learning accepts, and notes. Test images are not in it.

    Labels are the items, numbered. Raises CatalogError where Open-Metric-Learning would refuse the table: a split is
    empty, or a query has no photo of its item in the gallery.
    """
    kept = catalog.take(np.flatnonzero(catalog.split != "test"))
    if lacking := [split for split in SPLITS if split not in kept.split]:
        raise CatalogError(
            f"The catalog has no images in {' and in '.join(lacking)}; {OML.title} needs both splits.",
            fix="Give the catalog splits: a column split, or folders named train and validation.",
        )
    train = kept.split == "train"
    query, gallery = (kept.is_query("validation"), kept.is_gallery("validation"))
    if alone := sorted(set(kept.item[query]) - set(kept.item[gallery])):
        raise CatalogError(
            f"{plural(len(alone), 'item')} of validation queries have no photo in the gallery: {quoted(alone)}. "
            "Open-Metric-Learning compares photos of one item and refuses such a table.",
            fix="Give photos of one product the same item, one of them with the role gallery or both.",
        )
    box = [text.split(",") if text else [None] * 4 for text in boxes_alone(kept.box)]
    columns: dict[str, Sequence[object]] = {
        "label": kept.item_codes[1].tolist(),
        "path": kept.path.tolist(),
        "split": kept.split.tolist(),
        "is_query": [None if of_train else bool(one) for of_train, one in zip(train, query, strict=True)],
        "is_gallery": [None if of_train else bool(one) for of_train, one in zip(train, gallery, strict=True)],
        **({"category": kept.category.tolist()} if any(kept.category) else {}),
        **(
            {name: [row[at] for row in box] for at, name in enumerate(BOX.values())}
            if any(map(any, box))
            else {}
        ),
        **{name: getattr(kept, name).tolist() for name in OWN},
    }
    columns |= {name: values.tolist() for name, values in kept.columns.items() if name not in columns}
    counts = Counter(kept.item[train])
    single = sum(count == 1 for count in counts.values())
    notes = []
    if single:
        notes.append(
            f"{single:,} of {plural(len(counts), 'training item')} have one photo. There, photos are similar if they "
            "show one item, so these photos have none."
        )
    if tests := len(catalog) - len(kept):
        notes.append(
            f"{plural(tests, 'test image')} left out, so that no model is trained or chosen on them."
        )
    return columns, notes
