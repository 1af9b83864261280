"""VSD-Furniture (VSD 3 and appendix B): the furniture photos of GUIE, each an item of its own, and labels as a file."""

import os
from dataclasses import replace
from pathlib import Path

from lookalike.catalog.layouts.source import PublishedData
from lookalike.catalog.readers.folder import read_folder
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.readers.walk import walk
from lookalike.core.text import plural

FURNITURE = PublishedData(
    "VSD-Furniture",
    "the authors of the paper, and its photos from the furniture folder of GUIE "
    "(https://www.kaggle.com/datasets/rhtsingh/130k-images-512x512-universal-image-embeddings)",
    "CC0 1.0",
    'the photos, in the folder itself or in "furniture" or "images", and the labels as tags (.json) or a table (.csv)',
)


def read_furniture(folder: Path, images: str | os.PathLike[str] | None) -> Rows:
    """All photos of the folder; an image is named by its path there. Labels are all JSON and CSV files beside them."""
    below = [folder / name for name in ("furniture", "images")]
    root = Path(images) if images is not None else next((place for place in below if place.is_dir()), folder)
    if not root.is_dir() or not walk(root).photos:
        raise FURNITURE.missing(f"{str(folder)!r} is not VSD-Furniture: it holds no photos.", folder)
    read = read_folder(root, layout=None)
    labels = tuple(sorted(path for path in folder.iterdir() if path.suffix.lower() in (".json", ".csv")))
    notes = [f"Read as VSD-Furniture: {plural(len(read), 'photo')}, each an item of its own."]
    notes += [] if labels else ["There are no labels beside the photos (.json or .csv)."]
    return replace(read, item=read.image, source=str(folder), notes=tuple(notes), warnings=(), labels=labels)
