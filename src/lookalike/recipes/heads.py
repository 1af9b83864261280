"""`embed` of a trained head: from the vectors of its encoder where the workspace has them, else from photos."""

import shlex
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lookalike.core.errors import EmbeddingsError, LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings, Origin
from lookalike.encode.checkpoint_file import HeadAbout, head_of, headed_origin, heads_down, require_folder
from lookalike.encode.estimate import Estimate
from lookalike.encode.opening import require_torch
from lookalike.encode.run import SHARD, Sink
from lookalike.encode.sound import check_vectors
from lookalike.encode.spec import EncoderSpec, parse
from lookalike.store.arrays import Manifest, images_fingerprint
from lookalike.store.workspace import Workspace

if TYPE_CHECKING:
    from lookalike.encode.head import Head

STEP = 8 * SHARD  # rows that are read, passed through the head and written at a time: 64 MiB of 2,048 numbers
UNSOUND = "The head maps these images' vectors to none: train it again, with a lower rate."


class Beneath(NamedTuple):
    """The vectors of the encoder that a head is on, as the workspace has them, and what made them."""

    embeddings: Embeddings
    manifest: Manifest


def beneath(workspace: Workspace, spec: EncoderSpec) -> Beneath | None:
    """The vectors a head can be applied to; None for an encoder that is no head, or one that photos must be read for.

    Raises EmbeddingsError where there are neither: which encoder to embed first.
    """
    head = head_of(spec, workspace.folder)
    if head is None:
        return None
    chain = heads_down(spec, workspace.folder)
    name = embedded(workspace, head)
    if name is not None:
        return Beneath(workspace.embeddings(name), workspace.manifest(name))
    if workspace.photos is None or chain[-1].source == "precomputed":
        why = "this workspace has no photos" if workspace.photos is None else f"{chain[-1]} encodes no photos"
        raise EmbeddingsError(
            f"{spec} is a head on {head.base.spec}, which has no vectors of the catalog as it is now here, and {why}.",
            fix=f"Embed that first: lookalike embed {shlex.quote(head.base.spec)}",
        )
    return None


def ahead(workspace: Workspace, spec: EncoderSpec, below: Beneath) -> Estimate:
    """What lies ahead: no photo."""
    head = head_of(spec, workspace.folder)
    dimension = head.projection if head else below.manifest.dimension
    size = len(workspace.catalog) * (4 * dimension + 16)
    return Estimate(0, 0, float("nan"), size, below.embeddings.encoder)


def apply_to(
    workspace: Workspace, spec: EncoderSpec, name: str, below: Beneath, progress: Progress | None
) -> None:
    """Vectors of a head from those of its encoder, in slices; a run that was stopped goes on."""
    require_torch(spec)
    from lookalike.encode.checkpoint import read_head
    from lookalike.encode.head import placed
    from lookalike.encode.weights import parameters_hash

    held = read_head(require_folder(spec, workspace.folder), str(spec))
    vectors = below.embeddings.vectors
    if vectors.shape[1] != held.head.features:
        raise EmbeddingsError(
            f"{spec} takes {held.head.features:,} numbers, but the vectors of {below.embeddings.encoder} have "
            f"{vectors.shape[1]:,}: they are not those it was trained on.",
            fix=f"Embed the vectors it was trained on: lookalike embed {shlex.quote(held.base.spec)} --replace",
        )
    origin = headed_origin(spec, below.manifest.origin, parameters_hash(held.head))
    shards = workspace.shards(name, origin, beneath=f"{below.manifest.sum} {below.manifest.created}")
    for first, part in _applied(placed(held.head), vectors, shards):
        check_vectors(below.embeddings.image[first : first + len(part)], part, str(spec), UNSOUND)
        shards.put(first, part)
        if progress:
            progress(first + len(part), len(vectors))
    workspace.finish_shards(shards, origin)


def by_depth(workspace: Workspace, names: list[str]) -> list[str]:
    """Names of encoders, every head after the encoder it is on; one whose checkpoint is gone comes last."""

    def depth(name: str) -> int:
        with suppress(LookalikeError):  # what is wrong with it is said when it is embedded
            return len(heads_down(parse(workspace.manifest(name).spec), workspace.folder))
        return len(names) + 2

    return sorted(names, key=depth)


def embedded(workspace: Workspace, head: HeadAbout) -> str | None:
    """The encoder with vectors of the catalog as it is now that are those the head belongs to."""
    now = images_fingerprint(workspace.catalog)
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            manifest = workspace.manifest(name)
            if manifest.images == now and _is(manifest.origin, head.base):
                return name
    return None


def _is(origin: Origin, recorded: Origin) -> bool:
    """Whether vectors are of the recorded encoder; they may have been computed in another precision."""
    if recorded.spec.startswith("precomputed:"):
        return origin.spec == recorded.spec
    return (origin.spec, origin.preprocessing, origin.weights) == (
        recorded.spec,
        recorded.preprocessing,
        recorded.weights,
    )


def _applied(head: "Head", vectors: np.ndarray, sink: Sink) -> Iterator[tuple[int, np.ndarray]]:
    """The head's vectors of the slices that the sink does not hold yet, each with its first row."""
    from lookalike.encode.head import apply_head

    for first in range(0, len(vectors), STEP):
        last = min(first + STEP, len(vectors))
        if not sink.holds(first, last):
            yield first, apply_head(head, vectors[first:last])
