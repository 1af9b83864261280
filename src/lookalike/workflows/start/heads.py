"""`embed` of a trained head: from the vectors of its encoder where the workspace has them, else from photos."""

import shlex
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from lookalike.core.errors import EmbeddingsError, LookalikeError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings, Origin
from lookalike.encode.open import require_torch
from lookalike.encode.run import SHARD, Workload, bytes_on_disk
from lookalike.encode.sources.checkpoint_file import (
    HeadAbout,
    head_of,
    headed_origin,
    heads_down,
    require_folder,
)
from lookalike.encode.spec import EncoderSpec, parse
from lookalike.encode.validity import check_vectors
from lookalike.store.vectors.arrays import Manifest, images_fingerprint
from lookalike.store.workspace import Workspace

STEP = 8 * SHARD  # rows that are read, passed through the head and written at a time: 64 MiB of 2,048 numbers
UNSOUND = "Train the head again with a lower learning rate."


class BaseVectors(NamedTuple):
    """The workspace's vectors of the encoder that a head is on, and their manifest."""

    embeddings: Embeddings
    manifest: Manifest


def base_vectors(workspace: Workspace, spec: EncoderSpec) -> BaseVectors | None:
    """The vectors that a head can be applied to. None for another encoder, or where photos must be encoded first.

    Raises EmbeddingsError where there are neither vectors nor photos to encode.
    """
    head = head_of(spec, workspace.folder)
    if head is None:
        return None
    chain = heads_down(spec, workspace.folder)
    name = embedded(workspace, head)
    if name is not None:
        return BaseVectors(workspace.embeddings(name), workspace.manifest(name))
    if workspace.photos is None or chain[-1].source == "precomputed":
        why = (
            "this workspace has no photos"
            if workspace.photos is None
            else f"{chain[-1]} cannot encode photos"
        )
        raise EmbeddingsError(
            f"{spec} is a head on {head.base.spec}, which has no up-to-date vectors here, and {why}.",
            fix=f"Embed its encoder first: lookalike embed {shlex.quote(head.base.spec)}",
        )
    return None


def head_workload(workspace: Workspace, spec: EncoderSpec, base: BaseVectors) -> Workload:
    """Applying a head: no photo is read."""
    head = head_of(spec, workspace.folder)
    dimension = head.sizes["projection"] if head else base.manifest.dimension
    return Workload(0, 0, bytes_on_disk(len(workspace.catalog), dimension), base.embeddings.encoder)


def apply_to(
    workspace: Workspace, spec: EncoderSpec, name: str, base: BaseVectors, progress: Progress | None
) -> None:
    """Vectors of a head from those of its encoder, in slices. A stopped run is resumed."""
    require_torch(spec)
    from lookalike.encode.heads.head import apply_head, placed
    from lookalike.encode.sources.checkpoint import read_head
    from lookalike.encode.weights import parameters_hash

    trained = read_head(require_folder(spec, workspace.folder), str(spec))
    vectors = base.embeddings.vectors
    if vectors.shape[1] != trained.head.features:
        raise EmbeddingsError(
            f"{spec} takes {trained.head.features:,} numbers, but the vectors of {base.embeddings.encoder} have "
            f"{vectors.shape[1]:,}.",
            fix=f"Embed the encoder that it was trained on: lookalike embed {shlex.quote(trained.base.spec)} --replace",
        )
    origin = headed_origin(spec, base.manifest.origin, parameters_hash(trained.head))
    shards = workspace.shards(name, origin, beneath=f"{base.manifest.sum} {base.manifest.created}")
    head = placed(trained.head)
    for first in range(0, len(vectors), STEP):
        last = min(first + STEP, len(vectors))
        if shards.holds(first, last):
            continue
        part = apply_head(head, vectors[first:last])
        check_vectors(base.embeddings.image[first:last], part, str(spec), UNSOUND)
        shards.put(first, part)
        if progress:
            progress(last, len(vectors))
    shards.finish()


def by_depth(workspace: Workspace, names: list[str]) -> list[str]:
    """Names of encoders, each head after its encoder. A head whose checkpoint is gone comes last."""

    def depth(name: str) -> int:
        with suppress(LookalikeError):  # embedding it reports what is wrong
            return len(heads_down(parse(workspace.manifest(name).spec), workspace.folder))
        return len(names) + 2

    return sorted(names, key=depth)


def embedded(workspace: Workspace, head: HeadAbout) -> str | None:
    """The name of the encoder that a head belongs to, if its vectors are of the current catalog."""
    now = images_fingerprint(workspace.catalog)
    for name in workspace.encoders:
        with suppress(EmbeddingsError):
            manifest = workspace.manifest(name)
            if manifest.images == now and _is(manifest.origin, head.base):
                return name
    return None


def _is(origin: Origin, recorded: Origin) -> bool:
    """Whether vectors are of the recorded encoder. The precision may differ."""
    if recorded.spec.startswith("precomputed:"):
        return origin.spec == recorded.spec
    return replace(origin, precision=recorded.precision) == recorded
