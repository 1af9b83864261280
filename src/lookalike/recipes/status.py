"""`status`: what a workspace holds, and the next command."""

from dataclasses import dataclass

import numpy as np

from lookalike.catalog.duplicates import DuplicateCount, count_duplicates
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog
from lookalike.recipes.discover import labelled
from lookalike.store.arrays import images_fingerprint
from lookalike.store.workspace import Workspace

LOOKED_AT = 1_000


@dataclass(frozen=True)
class EncoderStatus:
    """One encoder's vectors. `state` is "" if they can be used, else what is wrong: stale or damaged."""

    name: str
    spec: str
    dimension: int
    created: str
    state: str


@dataclass(frozen=True)
class Duplicate:
    """A photo of a group. `kind`: "first" of it, "exact" (the bytes of one before it) or "near"."""

    image: str
    item: str
    split: str
    kind: str


@dataclass(frozen=True)
class DuplicateGroup:
    """Photos that are one photo. Across items they hurt results and measures; within an item they are harmless."""

    across_items: bool
    photos: tuple[Duplicate, ...]


@dataclass(frozen=True)
class Status:
    """What a workspace holds."""

    folder: str
    source: str
    generated: bool
    images: int
    items: int
    categories: int
    left_out: int
    duplicates: DuplicateCount
    encoders: tuple[EncoderStatus, ...]
    pool: int | None
    pool_labelled: int
    labels: int
    photos_missing: int


def status(workspace: Workspace) -> Status:
    """Look at every part of a workspace."""
    catalog, pool = workspace.catalog, workspace.pool()
    return Status(
        folder=str(workspace.folder.resolve()),
        source=str(workspace.source),
        generated=workspace.settings.generated,
        images=len(catalog),
        items=len(set(catalog.item)),
        categories=len(set(catalog.category) - {""}),
        left_out=len(catalog.left_out),
        duplicates=count_duplicates(catalog),
        encoders=tuple(_encoder(workspace, name) for name in workspace.encoders),
        pool=None if pool is None else len(pool),
        pool_labelled=0 if pool is None else labelled(workspace, pool)[0],
        labels=workspace.label_count(),
        photos_missing=_missing(workspace),
    )


def duplicate_groups(catalog: Catalog) -> tuple[DuplicateGroup, ...]:
    """The groups of duplicates, those across items first, then in catalog order."""
    rows = np.flatnonzero(catalog.duplicate >= 0)
    rows = rows[np.argsort(catalog.duplicate[rows], kind="stable")]
    ends = np.flatnonzero(np.diff(catalog.duplicate[rows])) + 1
    groups = [_group(catalog, part.tolist()) for part in np.split(rows, ends)] if len(rows) else []
    return tuple(sorted(groups, key=lambda group: not group.across_items))


def _group(catalog: Catalog, rows: list[int]) -> DuplicateGroup:
    seen: set[str] = set()
    members = []
    for row in rows:
        digest = catalog.digest[row]
        kind = "first" if not seen else "exact" if digest in seen else "near"
        seen.add(digest)
        members.append(Duplicate(catalog.image[row], catalog.item[row], catalog.split[row], kind))
    return DuplicateGroup(len({member.item for member in members}) > 1, tuple(members))


def _encoder(workspace: Workspace, name: str) -> EncoderStatus:
    try:
        manifest = workspace.manifest(name)
        stale = manifest.images != images_fingerprint(workspace.catalog)
        state = "stale: embed it again" if stale else ""
        if not stale:
            workspace.embeddings(name)
    except EmbeddingsError:
        return EncoderStatus(name, "", 0, "", "damaged: delete its folder and embed it again")
    return EncoderStatus(name, manifest.spec, manifest.dimension, manifest.created, state)


def _missing(workspace: Workspace) -> int:
    """How many photos are no longer where they were, among the first thousand."""
    root = workspace.photos
    if root is None:
        return 0
    return sum(not (root / path).is_file() for path in workspace.catalog.path[:LOOKED_AT])


def next_command(found: Status) -> str:
    """The step that is missing next."""
    stale = [encoder for encoder in found.encoders if encoder.state.startswith("stale")]
    if stale:
        return f"lookalike embed '{stale[0].spec}' --name {stale[0].name}"
    if not found.encoders:
        return "lookalike embed descriptor:color descriptor:hog descriptor:lbp"
    if found.pool is None and not found.labels:
        return "lookalike discover --top 5"
    if not found.labels:
        return "lookalike discover --pairs pairs.csv"
    return "lookalike evaluate"
