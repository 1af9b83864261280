"""Data sets of Hugging Face: saved with `save_to_disk`, or as Parquet, from a folder or from the Hub.

Photos are in the rows of the tables. They are written to a folder once, since a catalog needs files. No code of a data
set is run: the Hub itself makes Parquet of every public data set, and only that is downloaded.
"""

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars

from lookalike.catalog.layouts.source import PublishedData, download
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.split import split_name
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted

HUGGING_FACE = PublishedData(
    "a Hugging Face data set",
    "https://huggingface.co/datasets; to save it in a folder: datasets.load_dataset(ID).save_to_disk(FOLDER)",
    "on its page",
    "what save_to_disk wrote, or Parquet files named by split, with a column of images",
)
ITEMS = ("item_id", "product_id")
SUFFIX = {
    b"\xff\xd8\xff": ".jpg",
    b"\x89PNG": ".png",
    b"RIFF": ".webp",
    b"GIF8": ".gif",
    b"BM": ".bmp",
    b"II*\0": ".tif",
}


def read_hugging_face(place: Path, images: str | os.PathLike[str] | None) -> Rows:
    """The rows of all splits. Class names are the category, `item_id` and `product_id` the item.

    Photos are written to `images`, by default a folder beside the data set (of the Hub: in the current folder).
    """
    written = Path(os.path.abspath(f"{place.name}-photos" if not place.exists() else f"{place}-photos"))
    root = written if images is None else Path(os.path.abspath(images))
    if not place.exists():
        name, config = "/".join(place.parts[:2]), place.parts[2:]
        found = download(
            HUGGING_FACE, name, ["/".join((*config, "*.parquet"))], ("refs/convert/parquet", "main")
        )
        place = found.joinpath(*config)
    columns: dict[str, list[Any]] = {"image": [], "split": []}
    dropped: set[str] = set()
    for split, frame, features in _tables(place):
        photo = next((name for name, kind in features.items() if kind.get("_type") == "Image"), None)
        if photo is None:
            raise CatalogError(f"{str(place)!r} has no column of images; it has {quoted(list(features))}.",
                               fix="Give a data set whose features have an Image.")  # fmt: skip
        at = columns["split"].count(split)
        columns["image"] += [
            _write(row, place, root, f"{split}/{at + i:07d}") for i, row in enumerate(frame[photo])
        ]
        columns["split"] += [split] * len(frame)
        for name, kind in features.items():
            if name in {photo, "split"}:
                continue
            if not (classes := kind.get("names")) and kind.get("_type") != "Value":
                dropped.add(name)
                continue
            named = "item" if name in ITEMS else "category" if classes else name
            named = name if named in features else named
            values = [
                classes[one] if classes and one is not None and one >= 0 else one
                for one in frame[name].to_list()
            ]
            columns.setdefault(f"{name} id" if name in ("image", "path") else named, []).extend(values)
    whole = len(set(columns["split"])) == 1  # one split is none
    columns["split"] = ["" if whole else split_name(one) or "" for one in columns["split"]]
    notes = [f"{plural(len(columns['image']), 'photo')} in {str(root)!r}."]
    notes += (
        [f"Left out are columns that are no text or number: {quoted(sorted(dropped))}."] if dropped else []
    )
    return HUGGING_FACE.rows(place, columns, root, *notes)


def _tables(place: Path) -> Iterator[tuple[str, polars.DataFrame, Mapping[str, Any]]]:
    """Each file of a data set: its split, its rows and the features of its columns."""
    parts = sorted(
        {path.parent for path in place.glob("**/dataset_info.json") if (path.parent / "state.json").is_file()}
    )
    for part in parts:
        features = json.loads((part / "dataset_info.json").read_text(encoding="utf-8"))["features"]
        state = json.loads((part / "state.json").read_text(encoding="utf-8"))
        split = part.name if part != place else state.get("_split") or "train"
        for file in state["_data_files"]:
            yield split, polars.read_ipc_stream(part / file["filename"]), features
    files = [] if parts else sorted(place.rglob("*.parquet"))
    configs = sorted({file.parent.parent for file in files if file.stem.isdigit()})
    if len(configs) > 1:
        raise CatalogError(f"{str(place)!r} has several configurations: {quoted([one.name for one in configs])}.",
                           fix="Add one to its name: hf-datasets:OWNER/NAME/CONFIGURATION")  # fmt: skip
    for file in files:
        with file.open("rb") as opened:  # by handle: polars takes [ and * in a path for a pattern
            frame = polars.read_parquet(opened)
        held = json.loads(polars.read_parquet_metadata(file).get("huggingface", "{}"))
        features = held.get("info", {}).get("features") or {
            name: _guess(frame[name]) for name in frame.columns
        }
        yield file.parent.name if file.stem.isdigit() else file.stem.split("-")[0], frame, features
    if not parts and not files:
        raise HUGGING_FACE.missing(
            f"{str(place)!r} is not {HUGGING_FACE.title}: no state.json and no .parquet is in it.", place
        )


def _guess(column: polars.Series) -> dict[str, str]:
    fields = {field.name for field in getattr(column.dtype, "fields", ())}
    return {"_type": "Image" if "bytes" in fields else "Sequence" if column.dtype.is_nested() else "Value"}


def _write(row: Mapping[str, Any] | None, place: Path, root: Path, name: str) -> str:
    """Write one photo unless it is there, and return its path; a row without a photo names a file that is missing."""
    content = (row or {}).get("bytes")
    source = place / str((row or {}).get("path") or "")
    if content is None and source.is_file():
        content = source.read_bytes()
    if content is None:
        return f"{name}.missing"
    suffix = next((end for head, end in SUFFIX.items() if content.startswith(head)), ".img")
    path = root / f"{name}{suffix}"
    if not path.is_file() or path.stat().st_size != len(content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return f"{name}{suffix}"
