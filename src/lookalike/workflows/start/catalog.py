"""`catalog`: images added, removed or read again after `init`, and what follows from it."""

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypeVar

from lookalike.catalog.layouts.published import LAYOUTS
from lookalike.catalog.photos.changes import REFRESH_MOVED
from lookalike.catalog.read import Reading, catalog_from
from lookalike.catalog.update import GONE, REMOVED, CatalogChange, joined, marked, merged, rooted, without
from lookalike.core.errors import CatalogError
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.core.types import Catalog, LeftOut
from lookalike.discover.update import following, still_drawn
from lookalike.store.settings import PhotoSource, WorkspaceSettings
from lookalike.store.sql.pools import PooledPairs
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.embed import stale
from lookalike.workflows.start.init import labels_with, relative
from lookalike.workflows.start.photo_copy import copy_photos, local

SomeSource = TypeVar("SomeSource", bound=PhotoSource)


@dataclass(frozen=True)
class Followed:
    """A change of the catalog and its effect on the rest.

    `added`, `replaced` (another photo or box than before) and `gone` are images; `kept` counts the others, `updated`
    those of them with another item, category, role, path or column.
    `left_out` are images that cannot be used, and were not known to be; `stale` encoders need `embed --stale`;
    `pairs_gone` left the pool; `labels_replaced` are about photos whose content is another now, `labels_gone` about
    images that the catalog no longer has (they are kept, and not used). `notes` say how many labels came with the
    photos, `warnings` which of them cannot be used, and what is doubtful about a new source.
    """

    images: int
    added: tuple[str, ...]
    replaced: tuple[str, ...]
    gone: tuple[str, ...]
    kept: int
    updated: int
    notes: tuple[str, ...]
    stale: tuple[str, ...]
    pairs_gone: int
    labels_replaced: int
    labels_gone: int
    left_out: tuple[LeftOut, ...]
    warnings: tuple[str, ...]


def add(
    workspace: Workspace,
    source: Path | str,
    *,
    images: Path | str | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    role: str = "",
    values: Mapping[str, str] | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Followed:
    """Add the photos of a folder or the rows of a table. Images that are there already are brought up to date."""
    place, photos, address = local(source, images, workspace.folder)
    _require_apart(workspace, place)
    with workspace.changing_catalog("catalog add"):
        settings = workspace.settings
        reading = catalog_from(
            place,
            images=photos,
            layout=layout,
            columns=columns,
            seed=settings.seed,
            max_megapixels=settings.max_megapixels,
            progress=progress,
        )
        marked(reading.catalog, role, values or {})  # refuses a wrong role or column
        new = PhotoSource(
            relative(Path(reading.source), workspace.folder),
            relative(reading.root, workspace.folder),
            reading.layout,
            tuple(f"{name}={there}" for name, there in (columns or {}).items()),
            role,
            tuple(f"{name}={value}" for name, value in (values or {}).items()),
            address,
        )
        return merge_in(workspace, reading, new, replace=replace)


def merge_in(workspace: Workspace, reading: Reading, source: PhotoSource, *, replace: bool) -> Followed:
    """Add what was read from a source, within `changing_catalog`."""
    settings = workspace.settings
    read = marked(_at_home(reading, settings, workspace.folder), source.role, source.set)
    workspace.add_signatures(reading.signatures)
    catalog, change = merged(
        workspace.catalog,
        read,
        seed=settings.seed,
        whole=False,
        replacing=replace,
        signatures=workspace.signatures(),
    )
    return _follow(workspace, catalog, change, settings.with_source(source), (reading,), reading.warnings)


def remove(workspace: Workspace, images: Sequence[str]) -> Followed:
    """Take images out of the catalog; their photos stay where they are."""
    with workspace.changing_catalog("catalog remove"):
        catalog, change = without(workspace.catalog, list(images))
        return _follow(workspace, catalog, change, workspace.settings, ())


def refresh(
    workspace: Workspace,
    *,
    photos: Path | None = None,
    forget: Sequence[Path] = (),
    progress: Progress | None = None,
) -> Followed:
    """Read every source again, as `init` and `catalog add` did, and let the catalog follow.

    `photos` is the folder of the photos, if it was moved or renamed. Added sources in `forget` are not read any more:
    their images are gone, unless another source has them.
    """
    with workspace.changing_catalog("catalog refresh"):
        settings = _forgetting(workspace, forget)
        if photos is not None:
            settings = _moved(settings, workspace.folder, photos)
        readings = [_read_again(workspace, source, progress) for source in settings.sources]
        read = joined(
            [
                marked(_at_home(reading, settings, workspace.folder), source.role, source.set)
                for reading, source in zip(readings, settings.sources, strict=True)
            ]
        )
        if photos is not None and not any(image in read.row for image in workspace.catalog.image):
            raise CatalogError(
                f"{photos} has none of the {plural(len(workspace.catalog), 'photo')} of the catalog.",
                fix=f"Give the folder that now contains {workspace.catalog.path[0]!r}.",
            )
        for reading in readings:
            workspace.add_signatures(reading.signatures)
        catalog, change = merged(
            workspace.catalog, read, seed=settings.seed, whole=True, signatures=workspace.signatures()
        )
        if not len(catalog):
            raise CatalogError(
                "No image of the catalog is in its source any more.",
                fix="Restore the photos, or start again: lookalike init TABLE_OR_FOLDER --overwrite",
            )
        return _follow(workspace, catalog, change, settings, readings)


def _moved(settings: WorkspaceSettings, folder: Path, photos: Path) -> WorkspaceSettings:
    """The settings after the folder of the photos was moved; tables and added photos may have moved with it."""
    if not settings.photos:
        raise CatalogError(
            "This workspace was created without photos.",
            fix="Create a workspace with photos: lookalike init PHOTOS_OR_TABLE --workspace FOLDER",
        )
    old = os.path.abspath(folder / settings.photos)

    def now(path: str) -> str:
        place = os.path.abspath(folder / path)
        new = Path(os.path.abspath(photos / os.path.relpath(place, old)))
        return relative(new, folder) if path and (place == old or _was_moved(Path(place), new)) else path

    def of(source: SomeSource) -> SomeSource:
        return replace(source, source=now(source.source), photos=now(source.photos))

    return of(replace(settings, added=tuple(map(of, settings.added))))


def _was_moved(old: Path, new: Path) -> bool:
    return new.exists() and not old.exists()


def _forgetting(workspace: Workspace, sources: Sequence[Path]) -> WorkspaceSettings:
    settings = workspace.settings
    for source in sources:
        left = settings.without_source(source, workspace.folder)
        if left is None:
            added = ", ".join(one.source for one in settings.added) or "none"
            raise CatalogError(
                f"{source} is no source that was added to this catalog.", fix=f"The added ones are: {added}."
            )
        settings = left
    return settings


def _read_again(workspace: Workspace, source: PhotoSource, progress: Progress | None) -> Reading:
    """One source again; an error with a fix if it cannot be read."""
    place = source.of(workspace.folder)
    if source.address:
        copy_photos(source.address, workspace.folder)
    try:
        return _read(workspace, source, place, progress)
    except CatalogError as error:
        if source not in workspace.settings.added:
            root = workspace.folder / source.photos
            if place.exists() and (not source.photos or root.is_dir()):
                raise
            fix = f"If it was renamed or moved, give the new folder of the photos: {REFRESH_MOVED}"
            raise CatalogError(error.problem, fix=fix) from None
        way_out = (
            f"Restore it, or remove its images: lookalike catalog refresh --forget {shlex.quote(str(place))}"
        )
        raise CatalogError(f"An added source cannot be read: {error.problem}", fix=way_out) from None


def _read(workspace: Workspace, source: PhotoSource, place: Path, progress: Progress | None) -> Reading:
    return catalog_from(
        place,
        images=workspace.folder / source.photos
        if source.photos and (place.is_file() or source.layout in LAYOUTS)
        else None,
        layout=source.layout or None,
        columns=source.renamed or None,
        seed=workspace.settings.seed,
        max_megapixels=workspace.settings.max_megapixels,
        progress=progress,
    )


def _at_home(reading: Reading, settings: WorkspaceSettings, folder: Path) -> Catalog:
    """What was read, with paths from the workspace's photo folder on."""
    if not settings.photos and reading.root is not None:
        raise CatalogError(
            f"{reading.source} has photos, but this workspace was created without photos.",
            fix="Create a workspace with photos: lookalike init PHOTOS_OR_TABLE --workspace FOLDER",
        )
    if reading.root is None:
        return reading.catalog
    return rooted(reading.catalog, reading.root, folder / settings.photos, folder)


def _require_apart(workspace: Workspace, source: Path) -> None:
    """Refuse a folder inside a source, or around one: its photos would be in the catalog twice."""
    new = Path(os.path.abspath(source))
    if not new.is_dir():
        return
    for known in workspace.settings.sources:
        folder = Path(os.path.abspath(known.of(workspace.folder)))
        if folder != new and folder.is_dir() and (new.is_relative_to(folder) or folder.is_relative_to(new)):
            raise CatalogError(
                f"{source} and {known.source}, which the catalog was read from, overlap: the same photos would "
                "be in the catalog twice, under two ids.",
                fix="To add new photos of a folder that was read, run: lookalike catalog refresh",
            )


def _pooled(pairs: Mapping[str, PooledPairs]) -> int:
    return sum(len(pool) for pool, _ in pairs.values() if pool is not None)


def _follow(
    workspace: Workspace,
    catalog: Catalog,
    change: CatalogChange,
    settings: WorkspaceSettings,
    readings: Sequence[Reading],
    warnings: tuple[str, ...] = (),
) -> Followed:
    """Keep the new catalog, let the pool follow, import labels that came with photos, and count what became stale."""
    before = {(one.image, one.reason) for one in workspace.catalog.left_out}
    left_out = tuple(one for one in catalog.left_out if (one.image, one.reason) not in before)
    before_pairs = workspace.every_pool()
    pairs = {
        name: PooledPairs(None if pool is None else following(pool, catalog), still_drawn(drawn, catalog))
        for name, (pool, drawn) in before_pairs.items()
    }
    workspace.change_catalog(catalog, settings, pairs)
    said = [labels_with(workspace, reading) for reading in readings]
    labels = workspace.labels()
    replaced, gone = set(change.replaced), set(change.gone)
    ends = list(zip(labels.query, labels.candidate, strict=True))
    return Followed(
        images=len(catalog),
        **asdict(change),
        notes=tuple(note for notes, _ in said for note in notes),
        stale=tuple(stale(workspace)),
        pairs_gone=_pooled(before_pairs) - _pooled(pairs),
        labels_replaced=sum(a in replaced or b in replaced for a, b in ends),
        labels_gone=sum(a in gone or b in gone for a, b in ends),
        left_out=tuple(one for one in left_out if one.reason not in (REMOVED, GONE)),
        warnings=(*warnings, *(one for _, unusable in said for one in unusable)),
    )
