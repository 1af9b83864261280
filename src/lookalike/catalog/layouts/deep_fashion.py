"""DeepFashion's two retrieval benchmarks: list files of partitions and boxes, beside the folder img (Liu et al. 2016).

A list file has the number of rows, the names of the columns, and rows whose fields are separated by whitespace. Boxes
are x_1, y_1, x_2, y_2 of the upper left and the lower right corner.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lookalike.catalog.layouts.source import PublishedData
from lookalike.catalog.readers.rows import Rows
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted

WHERE = "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion.html"
LICENCE = "non-commercial research and education only"
PARTITION = "list_eval_partition.txt"
IN_SHOP = PublishedData(
    "DeepFashion In-shop", WHERE, LICENCE, f"Eval/{PARTITION}, Anno/list_bbox_inshop.txt and Img/img"
)
CONSUMER = PublishedData(
    "DeepFashion Consumer-to-shop",
    WHERE,
    LICENCE,
    f"Eval/{PARTITION}, Anno/list_bbox_consumer2shop.txt and Img/img",
)
BOXED = 7  # fields of a list of boxes
NUMBER = re.compile(r"-?\d+(\.\d+)?")
SPLITS = {"train": "train", "val": "validation", "test": "test", "query": "test", "gallery": "test"}


def read_in_shop(folder: Path, images: str | os.PathLike[str] | None) -> Rows:
    """In-shop: `image_name item_id evaluation_status`, where the status is train, query or gallery."""
    listed, warnings = _list(IN_SHOP, folder, PARTITION, 3)
    paths, items, status = (list(column) for column in zip(*listed, strict=True))
    _require_known(status, ("train", "query", "gallery"), folder)
    role = ["both" if one == "train" else one for one in status]
    return _rows(IN_SHOP, folder, images, [paths, items, role, status], "list_bbox_inshop.txt", warnings)


def read_consumer_to_shop(folder: Path, images: str | os.PathLike[str] | None) -> Rows:
    """Consumer-to-shop: pairs `image_pair_name_1 image_pair_name_2 item_id evaluation_status` of one item each.

    The photos of consumers are queries, those of shops the gallery.
    """
    listed, warnings = _list(CONSUMER, folder, PARTITION, 4)
    _require_known([row[3] for row in listed], ("train", "val", "test"), folder)
    photos: dict[str, tuple[str, str, str]] = {}
    same, twofold = [], []
    for consumer, shop, item, status in listed:
        if consumer == shop:
            same.append(consumer)
            continue
        for path, role in ((consumer, "query"), (shop, "gallery")):
            if photos.setdefault(path, (item, role, status)) != (item, role, status):
                twofold.append(path)
    if same:
        warnings.append(f"Pairs of a photo with itself are left out: {quoted(same)}.")
    if twofold:
        warnings.append(f"Photos with several items, roles or partitions keep the first: {quoted(twofold)}.")
    columns = [list(photos), *(list(column) for column in zip(*photos.values(), strict=True))]
    return _rows(CONSUMER, folder, images, columns, "list_bbox_consumer2shop.txt", warnings)


def _rows(
    about: PublishedData,
    folder: Path,
    images: str | os.PathLike[str] | None,
    columns: Sequence[list[str]],
    boxes: str,
    warnings: list[str],
) -> Rows:
    paths, items, role, status = columns
    listed, doubts = _list(about, folder, boxes, BOXED)
    box = {row[0]: [float(number) for number in row[3:7]] for row in listed}
    types = {row[0]: row[1] for row in listed}
    table = {
        "image": paths,
        "item": items,
        "category": ["/".join(Path(path).parts[1:-2]) for path in paths],
        "role": role,
        "split": [SPLITS[one] for one in status],
        "clothes_type": [types.get(path, "") for path in paths],
    }
    unboxed = sum(path not in box for path in paths)
    notes = [f"{plural(unboxed, 'photo has', 'photos have')} no box in {boxes}."] if unboxed else []
    return about.rows(
        folder, table, about.photos(folder, images, paths), *notes,
        warnings=(*warnings, *doubts), boxes=np.array([box.get(path, [np.nan] * 4) for path in paths], np.float64),
    )  # fmt: skip


def _list(about: PublishedData, folder: Path, name: str, fields: int) -> tuple[list[list[str]], list[str]]:
    """The rows of a list file, and a warning if there are not as many as it says."""
    path = about.find(folder, name)
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    rows = [line.split() for line in lines[2:] if line.strip()]
    wrong = [
        at + 3
        for at, row in enumerate(rows)
        if len(row) != fields or (fields == BOXED and not all(map(NUMBER.fullmatch, row[3:])))
    ]
    if wrong or not rows or not lines[0].strip().isdigit():
        what = (
            f"line {wrong[0]:,} does not have {fields} fields"
            + (", the last four numbers" if fields == BOXED else "")
            if wrong
            else "it does not begin with a count of rows"
        )
        raise CatalogError(
            f"{str(path)!r} is not a list file of {about.title}: {what}.", fix="Download it again."
        )
    said = int(lines[0])
    return rows, [] if said == len(rows) else [f"{name} announces {said:,} rows and has {len(rows):,}."]


def _require_known(status: Sequence[str], known: Sequence[str], folder: Path) -> None:
    if strange := sorted(set(status) - set(known)):
        raise CatalogError(
            f"{PARTITION} of {str(folder)!r} has the evaluation status {strange[0]!r}; known are {', '.join(known)}.",
            fix="For Consumer-to-shop use consumer2shop:FOLDER, for In-shop inshop:FOLDER.",
        )
