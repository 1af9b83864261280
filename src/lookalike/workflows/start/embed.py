"""`embed`: one encoder over the workspace's catalog."""

import shlex
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError, EncoderError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings, KnownVectors, Origin
from lookalike.encode.open import open_encoder
from lookalike.encode.run import Workload, bytes_on_disk, encode_catalog
from lookalike.encode.sources.precomputed import file_of, precomputed, slices
from lookalike.encode.spec import EncoderSpec, check_name, located, parse
from lookalike.store.vectors.arrays import Shards, images_fingerprint
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.heads import apply_to, base_vectors, by_depth, made_workload

NOT_KNOWN = "not known: precomputed"

Begin = Callable[[Workload], None]


@dataclass(frozen=True)
class EmbeddedEncoder:
    """Vectors that the workspace has now: how many, and of how many numbers."""

    encoder: str
    spec: str
    images: int
    dimension: int


@dataclass(frozen=True)
class EmbeddedEncoders:
    """What one call of `embed` computed."""

    encoders: tuple[EmbeddedEncoder, ...]


@dataclass(frozen=True)
class RemovedEncoders:
    """Encoders whose vectors were deleted, and the bytes that are free again."""

    removed: tuple[str, ...]
    bytes: int


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
    """Compute or import an encoder's vectors and keep them under a short name.

    Vectors of the same photos, weights and preprocessing from an earlier run are kept. A trained head is applied to
    its encoder's vectors if the workspace has them, and no photo is read.
    Paths in the encoder string are relative to the current folder, or to the workspace if the string is `stored`
    there. A name that holds the vectors of another encoder string is refused unless `replace`. `begin` is called with
    the workload before the work starts.
    """
    spec = parse(encoder) if stored else located(parse(encoder), workspace.folder)
    name = spec.short_name if name is None else check_name(name)
    if not replace:
        workspace.require_free(name, str(spec))
    with workspace.embedding(name):
        if spec.source == "precomputed":
            _import(workspace, spec, name)
        elif base := base_vectors(workspace, spec):
            if begin:
                begin(made_workload(workspace, spec, base))
            apply_to(workspace, spec, name, base, progress)
        else:
            _compute(workspace, spec, name, workers or cores(), begin, progress)
    return workspace.embeddings(name)


def stale(workspace: Workspace) -> list[str]:
    """Encoders whose vectors are of an earlier state of the catalog, each head after its encoder.

    Damaged vectors are not reported here.
    """
    now = images_fingerprint(workspace.catalog)
    found = []
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            if workspace.manifest(name).images != now:
                found.append(name)
    return by_depth(workspace, found)


def _import(workspace: Workspace, spec: EncoderSpec, name: str) -> None:
    """Import vectors from a file. If it is gone and the catalog only lost images since, the imported ones are kept."""
    origin, file = Origin(str(spec), NOT_KNOWN), file_of(spec, workspace.folder)
    known = None if file.exists() else workspace.known_rows(name, origin)
    if known is None or (known.row < 0).any():
        known = precomputed(workspace.catalog, file)
    shards = workspace.shards(name, origin)
    shards.forget()  # the file may have changed since a stopped run
    try:
        for first, part in slices(workspace.catalog, known, str(file)):
            shards.put(first, part)
    except EmbeddingsError:
        shards.forget()
        raise
    shards.finish()


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
            fix="Create the workspace again with photos: lookalike init TABLE --images FOLDER --overwrite",
        )
    encoder = open_encoder(spec, workspace.folder)
    known = workspace.known_rows(name, encoder.origin)
    shards = workspace.shards(name, encoder.origin)
    if begin:
        compute = todo(len(catalog), known, shards)
        begin(Workload(compute, len(catalog) - compute, bytes_on_disk(len(catalog), encoder.dimension)))
    encode_catalog(catalog, photos, encoder, shards, known=known, workers_count=workers, progress=progress)
    shards.finish()


def todo(images: int, known: KnownVectors | None, shards: Shards) -> int:
    """How many images have vectors that are neither known nor in a finished shard."""
    new = np.ones(images, bool) if known is None else known.row < 0
    for first, last in shards.done.items():
        new[first:last] = False
    return int(np.count_nonzero(new))


def again(workspace: Workspace, name: str) -> str:
    """The encoder string that made an encoder's vectors, to embed it again."""
    spec = workspace.manifest(name).spec
    if not spec:
        raise EncoderError(
            f"The workspace does not know which encoder made the vectors of {name}.",
            fix=f"Embed it by its encoder string: lookalike embed ENCODER --name {shlex.quote(name)} --replace",
        )
    return spec
