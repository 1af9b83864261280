"""`status`: what a workspace holds, and the next command."""

from dataclasses import dataclass

from lookalike.store.arrays import images_fingerprint
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class EncoderStatus:
    """One encoder's vectors; stale ones were made for other images."""

    name: str
    spec: str
    dimension: int
    created: str
    stale: bool


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
    encoders: tuple[EncoderStatus, ...]
    pool: int | None
    labels: int


def status(workspace: Workspace) -> Status:
    """Look at every part of a workspace."""
    catalog, pool = workspace.catalog, workspace.pool()
    now = images_fingerprint(catalog)
    manifests = [(name, workspace.manifest(name)) for name in workspace.encoders]
    return Status(
        folder=str(workspace.folder.resolve()),
        source=workspace.settings.source,
        generated=workspace.settings.generated,
        images=len(catalog),
        items=len(set(catalog.item)),
        categories=len(set(catalog.category) - {""}),
        left_out=len(catalog.left_out),
        encoders=tuple(
            EncoderStatus(n, m.spec, m.dimension, m.created, m.images != now) for n, m in manifests
        ),
        pool=None if pool is None else len(pool),
        labels=workspace.label_count(),
    )


def next_command(found: Status) -> str:
    """The step that is missing next."""
    stale = [encoder for encoder in found.encoders if encoder.stale]
    if stale:
        return f"lookalike embed '{stale[0].spec}' --name {stale[0].name}"
    if not found.encoders:
        return "lookalike embed descriptor:color descriptor:hog descriptor:lbp"
    if found.labels:
        return "lookalike evaluate"
    if found.pool is None:
        return "lookalike discover --top 5"
    return "lookalike labels import labels.csv"
