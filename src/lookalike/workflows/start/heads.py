"""`embed` of an encoder made of others: from their vectors where the workspace has them, else from photos."""

import shlex
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from lookalike.core.errors import EmbeddingsError, LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings, Origin
from lookalike.encode.open import require_torch
from lookalike.encode.run import SHARD, Workload, bytes_on_disk
from lookalike.encode.sources.checkpoint_file import (
    BlendAbout,
    HeadAbout,
    TrainedAbout,
    ancestry,
    encodes_photos,
    headed_origin,
    made_of,
    require_folder,
)
from lookalike.encode.spec import EncoderSpec, parse
from lookalike.encode.validity import check_vectors
from lookalike.store.vectors.arrays import Manifest, images_fingerprint
from lookalike.store.workspace import Workspace

STEP = 8 * SHARD  # rows that are read, passed through the head and written at a time: 64 MiB of 2,048 numbers
UNSOUND = "Make it again; train a head with a lower learning rate."


class BaseVectors(NamedTuple):
    """The workspace's vectors of an encoder that another is made of, and their manifest."""

    embeddings: Embeddings
    manifest: Manifest


Applied = Callable[
    [Sequence[np.ndarray]], np.ndarray
]  # rows of the bases' vectors to those of the new encoder


def base_vectors(workspace: Workspace, spec: EncoderSpec) -> tuple[BaseVectors, ...]:
    """The vectors that an encoder can be computed from. () where photos must be encoded, if any.

    Raises EmbeddingsError where there are neither vectors nor photos to encode.
    """
    about = made_of(spec, workspace.folder)
    if about is None or isinstance(about, TrainedAbout):
        return ()
    names = [embedded(workspace, base) for base in about.bases]
    if all(names):
        return tuple(
            BaseVectors(workspace.embeddings(name), workspace.manifest(name)) for name in names if name
        )
    missing = about.bases[names.index(None)].spec
    if workspace.photos is None or not encodes_photos(spec, workspace.folder):
        why = (
            "this workspace has no photos"
            if workspace.photos is None
            else f"{ancestry(parse(missing), workspace.folder)[-1]} cannot encode photos"
        )
        raise EmbeddingsError(
            f"{spec} is made of {missing}, which has no up-to-date vectors here, and {why}.",
            fix=f"Embed its encoder first: lookalike embed {shlex.quote(missing)}",
        )
    return ()


def made_workload(workspace: Workspace, spec: EncoderSpec, bases: Sequence[BaseVectors]) -> Workload:
    """Computing an encoder from the vectors of others: no photo is read."""
    about = made_of(spec, workspace.folder)
    dimension = sum(base.manifest.dimension for base in bases)
    if isinstance(about, HeadAbout):
        dimension = about.sizes["projection"]
    names = ", ".join(base.embeddings.encoder for base in bases)
    return Workload(0, 0, bytes_on_disk(len(workspace.catalog), dimension), names)


def apply_to(
    workspace: Workspace,
    spec: EncoderSpec,
    name: str,
    bases: Sequence[BaseVectors],
    progress: Progress | None,
) -> None:
    """Vectors of an encoder from those that it is made of, in slices. A stopped run is resumed."""
    applied, origin = _applied(workspace, spec, bases)
    beneath = " ".join(f"{base.manifest.sum} {base.manifest.created}" for base in bases)
    shards = workspace.shards(name, origin, beneath=beneath)
    images = bases[0].embeddings.image
    for first in range(0, len(images), STEP):
        last = min(first + STEP, len(images))
        if shards.holds(first, last):
            continue
        part = applied([base.embeddings.vectors[first:last] for base in bases])
        check_vectors(images[first:last], part, str(spec), UNSOUND)
        shards.put(first, part)
        if progress:
            progress(last, len(images))
    shards.finish()


def _applied(workspace: Workspace, spec: EncoderSpec, bases: Sequence[BaseVectors]) -> tuple[Applied, Origin]:
    """The function of a head or a blend, and the origin of its vectors."""
    about = made_of(spec, workspace.folder)
    if isinstance(about, BlendAbout):
        from lookalike.encode.sources.blend import blended, blended_origin

        origins = [base.manifest.origin for base in bases]
        return partial(blended, weights=about.weights), blended_origin(spec, origins, about.weights)
    require_torch(spec)
    from lookalike.encode.heads.head import apply_head, placed
    from lookalike.encode.sources.checkpoint import read_head
    from lookalike.encode.weights import parameters_hash

    trained, (base,) = read_head(require_folder(spec, workspace.folder), str(spec)), bases
    if base.manifest.dimension != trained.head.features:
        raise EmbeddingsError(
            f"{spec} takes {trained.head.features:,} numbers, but the vectors of {base.embeddings.encoder} have "
            f"{base.manifest.dimension:,}.",
            fix=f"Embed the encoder that it was trained on: lookalike embed {shlex.quote(trained.base.spec)} --replace",
        )
    origin = headed_origin(spec, base.manifest.origin, parameters_hash(trained.head))
    head = placed(trained.head)
    return lambda parts: apply_head(head, parts[0]), origin


def by_depth(workspace: Workspace, names: list[str]) -> list[str]:
    """Names of encoders, each after those that it is made of. One whose checkpoint is gone comes last."""

    def depth(name: str) -> int:
        with suppress(LookalikeError):  # embedding it reports what is wrong
            return len(ancestry(parse(workspace.manifest(name).spec), workspace.folder))
        return len(names) + 2

    return sorted(names, key=depth)


def embedded(workspace: Workspace, base: Origin) -> str | None:
    """The name of a recorded encoder, if its vectors are of the current catalog."""
    now = images_fingerprint(workspace.catalog)
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            manifest = workspace.manifest(name)
            if manifest.images == now and _is(manifest.origin, base):
                return name
    return None


def _is(origin: Origin, recorded: Origin) -> bool:
    """Whether vectors are of the recorded encoder. The precision may differ."""
    if recorded.spec.startswith("precomputed:"):
        return origin.spec == recorded.spec
    return replace(origin, precision=recorded.precision) == recorded
