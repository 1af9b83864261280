"""VSD-Fashion (EDS 5): metadata, seeds, manifests and tags as JSON, photos of DeepFashion; closed catalog and wild.

The files are told by what they hold, since their names differ between tasks:
metadata {"images": [{"id", "path", "phase", "bbox", ...}]}, a manifest of a split {"images": [{"path"}]},
seeds {"seeds": [path]} and tags [{"key": [seed, candidate], "value": 0 or 1}]. Images are named by their paths.
"""

import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.catalog.layouts.source import PublishedData, download
from lookalike.catalog.photos.boxes import CORNERS, SIZE, SIZE_TURNED
from lookalike.catalog.readers.rows import Rows
from lookalike.catalog.split import split_name
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted

VSD_FASHION = PublishedData(
    "VSD-Fashion",
    "https://huggingface.co/datasets/vsd-benchmark/vsd-fashion, and its photos from "
    "https://mmlab.ie.cuhk.edu.hk/projects/DeepFashion.html",
    "MIT for the labels; the photos for non-commercial research only",
    'metadata, seeds and tags as JSON, and the photos under "img" (or elsewhere: --images FOLDER)',
)
OWN = ("id", "path", "phase", "bbox", "category")
NAMES = ("x1", "y1", "x2", "y2")
OTHERS = "others"
KINDS = ("metadata", "manifest", "seeds", "tags", OTHERS)


def read_vsd_fashion(place: Path, images: str | os.PathLike[str] | None) -> Rows:
    """The rows of one task: its folder, its metadata file, or its id on Hugging Face (with the task's folder)."""
    if not place.exists() and not place.is_absolute() and len(place.parts) > 1:
        name = "/".join(place.parts[:2])
        place = download(VSD_FASHION, name, ["*.json"], ("main",)).joinpath(*place.parts[2:])
    if not place.exists():
        raise VSD_FASHION.missing(f"{str(place)!r} does not exist.", place)
    folder = place if place.is_dir() else place.parent
    files = _files(place, folder)
    entries = _entries(files["metadata"])
    seeds = {str(seed) for found in files["seeds"].values() for seed in found["seeds"]}
    pairs = [pair for tags in files["tags"].values() for pair in _ends(tags)]
    notes, warnings = [], []
    if left := [path.name for path in files[OTHERS]]:
        notes.append(f"Files of other tasks are left out: {quoted(left)}.")
    if not seeds and pairs:
        seeds = {seed for seed, _ in pairs}
        notes.append(
            f"There is no file of seeds: the {plural(len(seeds), 'query', 'queries')} of the tags are the seeds."
        )
    if not seeds:
        warnings.append("There are neither seeds nor tags, so all images are queries and candidates.")
    paths = [str(entry["path"]) for entry in entries]
    if absent := sorted(seeds - set(paths)):
        warnings.append(f"The metadata does not have {plural(len(absent), 'seed')}: {quoted(absent)}.")
    phase = {path: str(entry.get("phase", "")) for path, entry in zip(paths, entries, strict=True)}
    asking, asked = (
        {phase.get(str(image)) for image in side} for side in (seeds, [candidate for _, candidate in pairs])
    )
    wild = asking if asked and asking.isdisjoint(asked) else set()
    split = _splits(files["manifest"], phase)
    others = sorted({key for entry in entries for key in entry} - set(OWN))
    columns: dict[str, list[Any]] = {
        "image": paths,
        "item": [str(entry.get("id", "")) for entry in entries],
        "category": [str(entry.get("category") or "") for entry in entries],
        "role": [
            "query" if phase[path] in wild else "both" if path in seeds or not seeds else "gallery"
            for path in paths
        ],
        "split": [split[path] for path in paths],
        "phase": [phase[path] for path in paths],
        "seed": ["yes" if path in seeds else "no" for path in paths],
        **{key: [_text(entry.get(key)) for entry in entries] for key in others},
    }
    task = "wild queries" if wild else "closed catalog"
    notes.append(
        f"Task: {task}, {plural(len(seeds), 'seed')}. Roles follow the seeds, splits the manifests or the phases."
    )
    boxes, orders = _boxes(entries)
    return VSD_FASHION.rows(
        place, columns, VSD_FASHION.photos(folder, images, paths), *notes,
        warnings=tuple(warnings), boxes=boxes, box_orders=orders, labels=tuple(files["tags"]),
    )  # fmt: skip


def _files(place: Path, folder: Path) -> dict[str, dict[Path, Any]]:
    """The files of each kind and what they hold."""
    found: dict[str, dict[Path, Any]] = {kind: {} for kind in KINDS}
    near = sorted(path for depth in ("", "*/", "*/*/") for path in folder.glob(f"{depth}*.json"))
    for path in near:
        content = _json(path)
        if kind := _kind(content):
            found[kind][path] = content
    if place.is_file():
        _leave_others(found, place)
        found["metadata"] = {place: found["metadata"].get(place, {"images": []})}
    if len(found["metadata"]) > 1:
        places = [str(path.relative_to(folder)) for path in found["metadata"]]
        raise CatalogError(
            f"{str(folder)!r} holds several tasks: {quoted(places)}.",
            fix=f"Give the metadata of one: fashion:{folder / places[0]}",
        )
    if not found["metadata"]:
        raise VSD_FASHION.missing(
            f'{str(folder)!r} is not VSD-Fashion: none of its {len(near)} JSON files is metadata {{"images": [...]}}.',
            folder,
        )
    return found


def _leave_others(found: dict[str, dict[Path, Any]], metadata: Path) -> None:
    """Of several tasks in one folder, keep seeds named as the metadata is, and tags that have one of them as query."""
    others = [path for path in found["metadata"] if path != metadata]
    own = set(_words(metadata)).difference(*map(_words, others))
    named = [path for path in found["seeds"] if own & {*_words(path)}]
    if not others or not named:
        return
    seeds = {str(seed) for path in named for seed in found["seeds"][path]["seeds"]}
    tags = [path for path, held in found["tags"].items() if any(seed in seeds for seed, _ in _ends(held))]
    for kind, kept in (("seeds", named), ("tags", tags)):
        for path in found[kind].keys() - {*kept}:
            found[OTHERS][path] = found[kind].pop(path)


def _words(path: Path) -> list[str]:
    return re.split(r"[^a-z]+", f"{path.parent.name} {path.stem}".casefold())


def _ends(tags: Iterable[object]) -> list[tuple[str, str]]:
    """The query and the candidate of each tag that has both."""
    keys = [tag.get("key", [tag.get("query"), tag.get("gallery")]) for tag in tags if isinstance(tag, dict)]
    return [(str(key[0]), str(key[1])) for key in keys if isinstance(key, list) and len(key) == 2]


def _json(path: Path) -> Any:  # noqa: ANN401 - whatever a file holds
    try:
        return json.loads(path.read_text(encoding="utf-8-sig"))
    except (ValueError, OSError, RecursionError) as error:
        raise CatalogError(
            f"{str(path)!r} cannot be read as JSON: {error}.", fix="Download it again."
        ) from None


def _kind(content: object) -> str:
    if isinstance(content, list) and content and isinstance(content[0], dict):
        return "tags" if {"key", "value"} <= content[0].keys() or "gallery" in content[0] else ""
    if not isinstance(content, dict):
        return ""
    if isinstance(content.get("seeds"), list):
        return "seeds"
    images = content.get("images")
    first = images[0] if isinstance(images, list) and images else {}
    if not isinstance(first, dict) or "path" not in first:
        return ""
    return "metadata" if {"id", "phase"} & first.keys() else "manifest"


def _entries(metadata: Mapping[Path, Any]) -> list[dict[str, Any]]:
    ((path, content),) = metadata.items()
    entries = content["images"]
    wrong = [at for at, one in enumerate(entries) if not isinstance(one, dict) or not one.get("path")]
    if wrong or not entries:
        what = f"has no path in entry {wrong[0]:,} (counted from 0)" if wrong else "has no images"
        raise CatalogError(f"{str(path)!r} {what}.", fix='Each image needs {"id", "path", "phase"}.')
    return list(entries)


def _splits(manifests: Mapping[Path, Any], phase: Mapping[str, str]) -> dict[str, str]:
    """The split of each path: that of the manifest which has it, else of its phase."""
    split = {
        path: split_name(one) or ("test" if one in ("query", "gallery", "search") else "")
        for path, one in phase.items()
    }
    for file, content in manifests.items():
        named = next(filter(None, map(split_name, reversed(_words(file)))), "test")
        split |= {str(one["path"]): named for one in content["images"]}
    return split


def _boxes(entries: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray | None, tuple[str, ...]]:
    """Boxes and their orders: corners by name, which the published code reads, or lists, documented as [x, y, h, w]."""
    found = [entry.get("bbox") for entry in entries]
    if not any(found):
        return None, (CORNERS,)
    named = any(isinstance(box, dict) for box in found)
    boxes = np.full((len(found), 4), np.nan)
    for at, box in enumerate(found):
        try:
            if box:
                boxes[at] = [float(box[key]) for key in (NAMES if isinstance(box, dict) else range(len(box)))]
        except (TypeError, ValueError, KeyError):
            raise CatalogError(
                f"The bbox of {entries[at]['path']!r} is not four numbers: {box!r}.",
                fix='Write [x, y, height, width], or {"x1", "y1", "x2", "y2"}.',
            ) from None
    return boxes, (CORNERS,) if named else (SIZE_TURNED, SIZE, CORNERS)


def _text(value: object) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
