"""`init` in shards: workers decode, hash and measure ranges of the photos; the catalog is made by `join`.

Reading photos is nearly all of the work of `init`. Duplicates and splits need all photos together, so `join` finds
and draws them on one machine, unless near duplicates were searched by workers too (`duplicates`).
"""

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookalike.catalog.duplicates.groups import FindPairs
from lookalike.catalog.photos.check import Checked, check_images
from lookalike.catalog.read import Look, Reading, catalog_from, rows_of
from lookalike.core.errors import CatalogError
from lookalike.core.object_store import is_address
from lookalike.core.progress import Progress, further
from lookalike.store.emptying import require_database
from lookalike.store.shards.packed import Packed
from lookalike.store.shards.places import Place
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards.photos import staged
from lookalike.workflows.shards.plans import MadeUnits, ShardWork, save_plan
from lookalike.workflows.start.init import init

KIND = "init"
UNIT = 1024  # photos


def plan_init(
    source: Path | str,
    folder: Path,
    place: Place,
    *,
    images: Path | str | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    max_megapixels: float = 100.0,
    database: str = "",
    replace: bool = False,
) -> Packed:
    """Freeze the list of photos. The arguments are those of `init`, which `join` will call for the same folder."""
    if is_address(str(source)) or is_address(str(images or "")):
        raise CatalogError(
            "A plan lists the photos of a folder, and this is an address of an object store.",
            fix="Mount the bucket on this machine, plan with that folder, and let workers read the address: lookalike "
            "work PLACE --photos ADDRESS. Or copy the photos: lookalike init ADDRESS",
        )
    source, images = Path(source), None if images is None else Path(images)
    if not replace:
        Workspace.require_absent(folder)
    require_database(database, folder, replace=replace)
    rows, _ = rows_of(source, images=images, layout=layout, columns=columns)
    if rows.root is None:
        raise CatalogError(
            f"{rows.source} has no photos, so one machine reads it in seconds.",
            fix=f"Use: lookalike init {source}",
        )
    arguments = {
        "images": None if images is None else os.path.abspath(images),
        "layout": layout,
        "columns": dict(columns) if columns else None,
        "seed": seed,
        "max_megapixels": max_megapixels,
        "database": database,
        "replace": replace,
    }
    header = {
        "name": str(source),
        "rows": len(rows),
        "reads": str(rows.root),
        "source": os.path.abspath(source) if source.exists() else str(source),
        "arguments": arguments,
    }
    return save_plan(place, KIND, header, (_packed(part) for part in _parts(rows.path.tolist())))


def work_init(work: ShardWork) -> str:
    """Look at the photos of some units."""
    plan = work.plan
    paths = [json.loads(zlib.decompress(plan.chunk(unit))) for unit in work.units]
    total, done = sum(map(len, paths)), 0
    root = work.photos or plan.header["reads"]
    folders = staged(root, paths) if is_address(root) else [Path(root)] * len(paths)
    for part, folder in zip(paths, folders, strict=True):
        found = check_images(
            part,
            folder,
            max_megapixels=plan.header["arguments"]["max_megapixels"],
            threads=work.workers,
            progress=further(work.progress, done, total),
        )
        work.packing.add(_packed([[*one[:-1], one.signature.hex()] for one in found]))
        done += len(part)
    return ""


def join_init(
    folder: Path,
    plan: Packed,
    made: MadeUnits,
    find_pairs: FindPairs | None = None,
    progress: Progress | None = None,
) -> tuple[Workspace, Reading]:
    """Make the workspace that one process would have made; `find_pairs` is that of `find_duplicates`."""
    return init(
        Path(plan.header["source"]),
        folder,
        **_arguments(plan),
        look=_look(plan, made, progress),
        find_pairs=find_pairs,
    )


def read_photos(
    plan: Packed, made: MadeUnits, find_pairs: FindPairs, progress: Progress | None = None
) -> None:
    """Read the catalog as `join_init` does, for what `find_pairs` sees of it. No workspace is made."""
    arguments = {
        name: value for name, value in _arguments(plan).items() if name not in ("database", "replace")
    }
    catalog_from(
        Path(plan.header["source"]), **arguments, look=_look(plan, made, progress), find_pairs=find_pairs
    )


def _arguments(plan: Packed) -> dict[str, Any]:
    """The arguments of `init` that the plan was made with."""
    arguments = plan.header["arguments"]
    images = arguments["images"]
    return {**arguments, "images": None if images is None else Path(images)}


def _look(plan: Packed, made: MadeUnits, progress: Progress | None) -> Look:
    """What workers found in the photos, if these are those of the plan."""

    def look(paths: list[str], root: Path) -> list[Checked]:
        found: list[Checked] = []
        for unit, part in enumerate(_parts(paths)):
            if unit >= len(plan.chunks) or json.loads(zlib.decompress(plan.chunk(unit))) != part:
                raise _changed(plan)
            for digest, width, height, reason, signature in json.loads(zlib.decompress(made.chunk(unit))):
                found.append(Checked(digest, width, height, reason, bytes.fromhex(signature)))
            if progress:
                progress(len(found), len(paths))
        if len(found) != plan.header["rows"]:
            raise _changed(plan)
        return found

    return look


def _parts(paths: list[str]) -> list[list[str]]:
    return [paths[first : first + UNIT] for first in range(0, len(paths), UNIT)]


def _packed(values: object) -> bytes:
    return zlib.compress(json.dumps(values).encode())


def _changed(plan: Packed) -> CatalogError:
    return CatalogError(
        f"The photos in {plan.header['source']} are not those of the plan: some were added, removed or renamed.",
        fix="Plan again into another folder.",
    )
