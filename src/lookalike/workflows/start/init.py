"""`init`: read, check and split a catalog into a workspace."""

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from lookalike.catalog.duplicates.count import DuplicateCount, count_duplicates
from lookalike.catalog.duplicates.groups import FindPairs
from lookalike.catalog.read import Look, Reading, catalog_from
from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.core.types import SPLITS, LeftOut
from lookalike.store.emptying import require_database
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.labels import import_labels
from lookalike.workflows.start.photo_copy import local


@dataclass(frozen=True)
class InitSummary:
    """What a new workspace holds; `splits` are images by split."""

    workspace: str
    images: int
    items: int
    categories: int
    splits: dict[str, int]
    left_out: tuple[LeftOut, ...]
    duplicates: DuplicateCount
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    labels: int = 0


def summary(workspace: Workspace, reading: Reading) -> InitSummary:
    """What `init` read. Labels that came with the photos are counted."""
    catalog = reading.catalog
    return InitSummary(
        workspace=str(workspace.folder),
        images=len(catalog),
        items=len(set(catalog.item)),
        categories=len(set(catalog.category) - {""}),
        splits={split: int((catalog.split == split).sum()) for split in SPLITS},
        left_out=catalog.left_out,
        duplicates=count_duplicates(catalog),
        notes=reading.notes,
        warnings=reading.warnings,
        labels=workspace.label_count(),
    )


def init(
    source: Path | str,
    folder: Path,
    *,
    images: Path | str | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    seed: int = 0,
    max_megapixels: float = 100.0,
    database: str = "",
    replace: bool = False,
    generated: bool = False,
    look: Look | None = None,
    find_pairs: FindPairs | None = None,
    progress: Progress | None = None,
) -> tuple[Workspace, Reading]:
    """Make a workspace from a folder of photos or a table; nothing is written unless the catalog can be read.

    Photos at an address are copied into the workspace first.
    `look` gives what was found in the photos, and `find_pairs` the near duplicates, where other machines have worked.
    """
    if str(source) == ".":
        source = Path.cwd()
    if not replace:
        Workspace.require_absent(folder)
    require_database(database, folder, replace=replace)
    place, photos, address = local(source, images, folder)
    reading = catalog_from(
        place,
        images=photos,
        layout=layout,
        columns=columns,
        seed=seed,
        max_megapixels=max_megapixels,
        look=look,
        find_pairs=find_pairs,
        progress=progress,
    )
    settings = WorkspaceSettings(
        relative(Path(reading.source), folder),
        relative(reading.root, folder),
        reading.layout,
        tuple(f"{name}={there}" for name, there in (columns or {}).items()),
        max_megapixels=max_megapixels,
        seed=seed,
        generated=generated,
        database=database,
        address=address,
    )
    made = Workspace.create(folder, reading.catalog, settings, signatures=reading.signatures, replace=replace)
    notes, warnings = labels_with(made, reading, first=True)
    return made, dataclasses.replace(
        reading, notes=(*reading.notes, *notes), warnings=(*reading.warnings, *warnings)
    )


def labels_with(
    workspace: Workspace, reading: Reading, *, first: bool = False
) -> tuple[list[str], list[str]]:
    """Import the labels that came with photos, for pairs that have none. Returns notes, and what cannot be used."""
    notes, warnings = [], []
    for labels in reading.labels:
        name = labels.name if isinstance(labels, Path) else reading.layout
        try:
            found = import_labels(workspace, labels, skip_invalid=True, keep=True)
        except LabelsError as error:
            warnings.append(f"No labels were imported from {name}. {error.problem}")
            continue
        if found.added or not found.labels:
            notes.append(f"Imported {plural(found.added, 'label')} of {name}.")
        if found.on_left_out_images:
            left = plural(found.on_left_out_images, "label")
            notes += [f"{left} of {name} not imported: their photos are left out."] if first else []
        if found.differing:
            way = f" To replace it: lookalike labels import {quote(str(labels))} --replace --skip-invalid"
            warnings.append(
                f"{plural(found.differing, 'pair')} of {name} kept a label that differs."
                + way * isinstance(labels, Path)
            )
        warnings += [
            f"Labels of {name} that cannot be used: {one.reason}, {one.where}." for one in found.invalid
        ]
    return notes, warnings


def relative(root: Path | None, folder: Path) -> str:
    """Relative to the workspace if the photos are inside it, so that it can be moved as a whole."""
    if root is None:
        return ""
    root, folder = Path(os.path.abspath(root)), Path(os.path.abspath(folder))
    return str(root.relative_to(folder)) if root.is_relative_to(folder) else str(root)
