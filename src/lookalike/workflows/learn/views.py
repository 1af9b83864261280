"""Vectors of augmented views of every photo, computed once and kept: what a head on cached vectors is trained on."""

import shlex
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lookalike.core.checks import at_least
from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError
from lookalike.core.progress import Progress, part
from lookalike.core.types import Origin
from lookalike.encode.encoder import Encoder
from lookalike.encode.inputs.augment import Augmented, view_origin
from lookalike.encode.open import open_encoder
from lookalike.encode.run import encode_catalog
from lookalike.encode.sources.checkpoint_file import encodes_photos
from lookalike.encode.spec import parse
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.embed import again


def augmented_views(
    workspace: Workspace,
    encoder: str,
    count: int,
    seed: int,
    *,
    workers: int | None = None,
    progress: Progress | None = None,
) -> list[np.ndarray]:
    """Vectors of `count` augmented views of every image, rows in catalog order, memory-mapped.

    They are made by the workspace's encoder of that name, kept in `views/ENCODER/1` and so on, and made again only
    if the photos, the encoder or the seed changed. A stopped run is resumed.
    Raises EmbeddingsError where there are no photos to make views of.
    """
    at_least(count, 1, "count")
    at_least(seed, 0, "seed")
    origin = workspace.manifest(encoder).origin
    numbers = range(1, count + 1)
    missing = [one for one in numbers if workspace.view(encoder, one, view_origin(origin, one, seed)) is None]
    if missing:
        opened = _opened(workspace, encoder, origin)
        augmented = [Augmented(opened, one, seed) for one in missing]
        with workspace.embedding(encoder):
            _make(workspace, encoder, augmented, missing, workers or cores(), progress)
    found = [workspace.view(encoder, one, view_origin(origin, one, seed)) for one in numbers]
    return [one for one in found if one is not None]


def _opened(workspace: Workspace, name: str, origin: Origin) -> Encoder:
    """The encoder, if it is what it was when the catalog was embedded."""
    spec = parse(again(workspace, name))
    if workspace.photos is None or not encodes_photos(spec, workspace.folder):
        why = "has no photos" if workspace.photos is None else "has only vectors of it from a file"
        raise EmbeddingsError(
            f"Augmented views of {name} need photos, and this workspace {why}.",
            fix="Use one view: the vectors that are there.",
        )
    opened = open_encoder(spec, workspace.folder)
    if replace(opened.origin, precision="") != replace(origin, precision=""):
        raise EmbeddingsError(
            f"{name} has changed since the catalog was embedded, so views would not match its vectors.",
            fix=f"Embed the catalog again: lookalike embed {shlex.quote(str(spec))} --name {name}",
        )
    return opened


def _make(
    workspace: Workspace,
    name: str,
    encoders: Sequence[Augmented],
    numbers: Sequence[int],
    workers: int,
    progress: Progress | None,
) -> None:
    """The views that are missing, one after another."""
    catalog, photos = workspace.catalog, workspace.photos
    if photos is None:
        return
    known = [
        workspace.known_rows(name, encoder.origin, view=one)
        for one, encoder in zip(numbers, encoders, strict=True)
    ]
    shards = [
        workspace.shards(name, encoder.origin, view=one)
        for one, encoder in zip(numbers, encoders, strict=True)
    ]
    for at, encoder in enumerate(encoders):
        encode_catalog(
            catalog,
            photos,
            encoder,
            shards[at],
            known=known[at],
            workers_count=workers,
            progress=part(progress, at, len(numbers)),
        )
        shards[at].finish()
