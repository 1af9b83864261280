"""`embed`: one encoder over the workspace's catalog."""

import shlex
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError, EncoderError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings, Origin
from lookalike.encode.estimate import Estimate, estimate
from lookalike.encode.opening import open_encoder
from lookalike.encode.precomputed import precomputed, slices
from lookalike.encode.run import Known, encode_catalog
from lookalike.encode.spec import EncoderSpec, check_name, located, parse
from lookalike.recipes.heads import ahead, apply_to, beneath, by_depth
from lookalike.store.arrays import Shards, images_fingerprint
from lookalike.store.workspace import Workspace

NOT_KNOWN = "not known: precomputed"

Begin = Callable[[Estimate], None]


def embed(
    workspace: Workspace,
    encoder: str,
    *,
    name: str | None = None,
    stored: bool = False,
    replace: bool = False,
    workers: int | None = None,
    begin: Begin | None = None,
    progress: Progress | None = None,
) -> Embeddings:
    """Compute or take in an encoder's vectors and keep them under a short name.

    Vectors that an earlier run made of the same photos, with the same weights and preprocessing, are kept. A
    trained head is applied to its encoder's vectors where they are here; no photo is read then.
    Files that the string names are those of the current folder, unless it is `stored`: as the workspace keeps it.
    A name that holds the vectors of another encoder string is refused unless `replace`. `begin` is told what lies
    ahead before it begins.
    """
    spec = parse(encoder) if stored else located(parse(encoder), workspace.folder)
    name = spec.short_name if name is None else check_name(name)
    if not replace:
        workspace.require_free(name, str(spec))
    with workspace.embedding(name):
        if spec.source == "precomputed":
            _take_in(workspace, spec, name)
        elif below := beneath(workspace, spec):
            if begin:
                begin(ahead(workspace, spec, below))
            apply_to(workspace, spec, name, below, progress)
        else:
            _compute(workspace, spec, name, workers or cores(), begin, progress)
    return workspace.embeddings(name)


def stale(workspace: Workspace) -> list[str]:
    """Encoders whose vectors are of another state of the catalog, heads after what they are on.

    Damaged ones are not known to be.
    """
    now = images_fingerprint(workspace.catalog)
    found = []
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            if workspace.manifest(name).images != now:
                found.append(name)
    return by_depth(workspace, found)


def _take_in(workspace: Workspace, spec: EncoderSpec, name: str) -> None:
    """Vectors from a file; where it is gone and the catalog only lost images since, those that were taken in before."""
    origin, file = Origin(str(spec), NOT_KNOWN), _file(spec, workspace.folder)
    known = None if file.exists() else workspace.known_rows(name, origin)
    if known is None or (known.row < 0).any():
        known = precomputed(workspace.catalog, file)
    shards = workspace.shards(name, origin)
    shards.forget()  # the file may be another one than that of a run that was stopped
    try:
        for first, part in slices(workspace.catalog, known, str(file)):
            shards.put(first, part)
    except EmbeddingsError:
        shards.forget()
        raise
    workspace.finish_shards(shards, origin)


def _file(spec: EncoderSpec, base: Path) -> Path:
    return base / spec.name if (base / spec.name).exists() else Path(spec.name)


def _compute(
    workspace: Workspace,
    spec: EncoderSpec,
    name: str,
    workers: int,
    begin: Begin | None,
    progress: Progress | None,
) -> None:
    catalog, photos = workspace.catalog, workspace.photos
    if photos is None:
        raise EmbeddingsError(
            f"{spec} needs photos, but this workspace has none.",
            fix="Make it again with the photos: lookalike init TABLE --images FOLDER --replace",
        )
    encoder = open_encoder(spec, workspace.folder)
    known = workspace.known_rows(name, encoder.origin)
    shards = workspace.shards(name, encoder.origin)
    if begin:
        begin(estimate(catalog, photos, encoder, todo(len(catalog), known, shards), workers))
    encode_catalog(catalog, photos, encoder, shards, known=known, workers_count=workers, progress=progress)
    workspace.finish_shards(shards, encoder.origin)


def todo(images: int, known: Known | None, shards: Shards) -> np.ndarray:
    """The catalog's rows that are neither known nor in a finished shard."""
    new = np.ones(images, bool) if known is None else known.row < 0
    for first, last in shards.done.items():
        new[first:last] = False
    return np.flatnonzero(new)


def again(workspace: Workspace, name: str) -> str:
    """The encoder string that made an encoder's vectors, to be embedded again; it must still be one."""
    spec = workspace.manifest(name).spec
    if not spec:
        raise EncoderError(
            f"It is not known what made the vectors of {name}.",
            fix=f"Embed it by its string: lookalike embed ENCODER --name {shlex.quote(name)} --replace",
        )
    return spec
