"""`init`: read, check and split a catalog into a workspace."""

import os
from collections.abc import Mapping
from pathlib import Path

from lookalike.catalog import Reading, catalog_from
from lookalike.core.progress import Progress
from lookalike.store.settings import Settings
from lookalike.store.workspace import Workspace, require_database


def init(
    source: Path,
    folder: Path,
    *,
    images: Path | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    max_megapixels: float = 100.0,
    database: str = "",
    replace: bool = False,
    generated: bool = False,
    progress: Progress | None = None,
) -> tuple[Workspace, Reading]:
    """Make a workspace from a folder of photos or a table; nothing is written unless the catalog can be read."""
    if str(source) == ".":
        source = Path.cwd()
    if not replace:
        Workspace.require_absent(folder)
    require_database(database, replace=replace)
    reading = catalog_from(
        source,
        images=images,
        layout=layout,
        columns=columns,
        seed=seed,
        max_megapixels=max_megapixels,
        progress=progress,
    )
    settings = Settings(
        relative(Path(reading.source), folder),
        relative(reading.root, folder),
        layout or "",
        tuple(f"{name}={there}" for name, there in (columns or {}).items()),
        max_megapixels=max_megapixels,
        seed=seed,
        generated=generated,
        database=database,
    )
    made = Workspace.create(folder, reading.catalog, settings, signatures=reading.signatures, replace=replace)
    return made, reading


def relative(root: Path | None, folder: Path) -> str:
    """Relative to the workspace where the photos lie inside it, so that it can be moved as a whole."""
    if root is None:
        return ""
    root, folder = Path(os.path.abspath(root)), Path(os.path.abspath(folder))
    return str(root.relative_to(folder)) if root.is_relative_to(folder) else str(root)
