"""`catalog`: images added, removed or read again after `init`, and what follows from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.catalog import Reading, catalog_from
from lookalike.catalog.upkeep import Change, joined, marked, merged, rooted, without
from lookalike.core.errors import CatalogError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.discover.follow import following, still_drawn
from lookalike.recipes.embed import stale
from lookalike.recipes.init import relative
from lookalike.store.settings import Settings, Source
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class Followed:
    """A change of the catalog and what it did to the rest.

    `stale` encoders need `embed --stale`; `pairs_gone` left the pool; `labels_replaced` are about photos whose content
    is another now, `labels_gone` about images that the catalog no longer has (they are kept, and not used).
    """

    change: Change
    images: int
    notes: tuple[str, ...]
    stale: tuple[str, ...]
    pairs_gone: int
    labels_replaced: int
    labels_gone: int


def add(
    workspace: Workspace,
    source: Path,
    *,
    images: Path | None = None,
    layout: str | None = None,
    columns: Mapping[str, str] | None = None,
    role: str = "",
    values: Mapping[str, str] | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Followed:
    """Add the photos of a folder or the rows of a table. Images that are there already are brought up to date."""
    with workspace.changing_catalog("catalog add"):
        settings = workspace.settings
        reading = catalog_from(
            source,
            images=images,
            layout=layout,
            columns=columns,
            seed=settings.seed,
            max_megapixels=settings.max_megapixels,
            progress=progress,
        )
        new = Source(
            relative(Path(reading.source), workspace.folder),
            relative(reading.root, workspace.folder),
            layout or "",
            tuple(f"{name}={there}" for name, there in (columns or {}).items()),
            role,
            tuple(f"{name}={value}" for name, value in (values or {}).items()),
        )
        read = marked(_at_home(workspace, reading), role, values or {})
        workspace.add_signatures(reading.signatures)
        catalog, change = merged(
            workspace.catalog,
            read,
            seed=settings.seed,
            whole=False,
            replacing=replace,
            signatures=workspace.signatures(),
        )
        return _follow(workspace, catalog, change, settings.with_source(new), reading.notes)


def remove(workspace: Workspace, images: Sequence[str]) -> Followed:
    """Take images out of the catalog; their photos stay where they are."""
    with workspace.changing_catalog("catalog remove"):
        catalog, change = without(workspace.catalog, list(images))
        return _follow(workspace, catalog, change, workspace.settings, ())


def refresh(workspace: Workspace, progress: Progress | None = None) -> Followed:
    """Read every source again, as `init` and `catalog add` did, and let the catalog follow."""
    with workspace.changing_catalog("catalog refresh"):
        settings = workspace.settings
        readings = [_read_again(workspace, source, progress) for source in settings.sources]
        read = joined(
            [
                marked(_at_home(workspace, reading), source.role, source.set)
                for reading, source in zip(readings, settings.sources, strict=True)
            ]
        )
        for reading in readings:
            workspace.add_signatures(reading.signatures)
        catalog, change = merged(
            workspace.catalog, read, seed=settings.seed, whole=True, signatures=workspace.signatures()
        )
        if not len(catalog):
            raise CatalogError(
                "No image of the catalog is in its source any more.",
                fix="Put the photos back, or start afresh: lookalike init PHOTOS_OR_TABLE --replace",
            )
        return _follow(workspace, catalog, change, settings, ())


def _read_again(workspace: Workspace, source: Source, progress: Progress | None) -> Reading:
    place = source.of(workspace.folder)
    return catalog_from(
        place,
        images=workspace.folder / source.photos if source.photos and place.is_file() else None,
        layout=source.layout or None,
        columns=source.renamed or None,
        seed=workspace.settings.seed,
        max_megapixels=workspace.settings.max_megapixels,
        progress=progress,
    )


def _at_home(workspace: Workspace, reading: Reading) -> Catalog:
    """What was read, with paths from the workspace's photo folder on."""
    if workspace.photos is None and reading.root is not None:
        raise CatalogError(
            f"{reading.source} has photos, but this workspace was made without any.",
            fix="Make a workspace with photos: lookalike init PHOTOS_OR_TABLE --workspace FOLDER",
        )
    if reading.root is None or workspace.photos is None:
        return reading.catalog
    return rooted(reading.catalog, reading.root, workspace.photos)


def _follow(
    workspace: Workspace, catalog: Catalog, change: Change, settings: Settings, notes: tuple[str, ...]
) -> Followed:
    """Keep the new catalog, let the pool follow, and count what became stale."""
    pool = workspace.pool()
    followed = following(pool, catalog) if pool is not None else None
    drawn = still_drawn(workspace.random_pairs(), catalog)
    workspace.change_catalog(catalog, settings, followed, drawn)
    labels = workspace.labels()
    replaced, gone = set(change.replaced), set(change.gone)
    ends = list(zip(labels.query, labels.candidate, strict=True))
    return Followed(
        change=change,
        images=len(catalog),
        notes=notes,
        stale=tuple(stale(workspace)),
        pairs_gone=len(pool) - len(followed) if pool is not None and followed is not None else 0,
        labels_replaced=sum(a in replaced or b in replaced for a, b in ends),
        labels_gone=sum(a in gone or b in gone for a, b in ends),
    )
