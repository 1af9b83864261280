"""`catalog export`: the catalog as a table in a published layout."""

import os
from dataclasses import dataclass
from pathlib import Path

from lookalike.catalog.layouts.published import WRITERS
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.store.formats.tables import require_ending, write_table
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class ExportedCatalog:
    """The table that was written. Its paths start at the folder `photos`."""

    file: str
    layout: str
    rows: int
    photos: str
    notes: tuple[str, ...]


def layout_and_file(target: str) -> tuple[str, Path]:
    """The layout and the file of LAYOUT:FILE.

    >>> layout_and_file("oml:data/df.csv")
    ('oml', PosixPath('data/df.csv'))
    """
    layout, _, file = target.partition(":")
    if layout not in WRITERS or not file:
        raise ArgumentError(
            f"{target!r} does not name a layout that can be written, and a file.",
            fix=f"Write {' or '.join(f'{name}:FILE.csv' for name in WRITERS)}.",
        )
    path = Path(file).expanduser()
    require_ending(path, "this table", (".csv",))
    return layout, path


def export_catalog(workspace: Workspace, layout: str, path: Path) -> ExportedCatalog:
    """Write the catalog as a CSV file in a published layout."""
    if workspace.photos is None:
        raise CatalogError(
            "The catalog has no photos, and published layouts are tables of photos.",
            fix="Export from a workspace that was created from photos.",
        )
    columns, notes = WRITERS[layout](workspace.catalog)
    write_table(columns, path)
    rows = len(next(iter(columns.values())))
    return ExportedCatalog(str(path), layout, rows, os.path.abspath(workspace.photos), tuple(notes))
