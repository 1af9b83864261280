"""`finetune`: a head on an encoder's cached vectors, from the workspace's labels, kept as an encoder of its own."""

import hashlib
import math
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.core.checks import fingerprint
from lookalike.core.errors import EmbeddingsError, LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Labels
from lookalike.encode.checkpoint_file import heads_down, require_folder
from lookalike.encode.spec import MODELS, SOURCES, check_name, parse
from lookalike.recipes.embed import embed
from lookalike.recipes.views import augmented_views
from lookalike.store import models
from lookalike.store.arrays import Manifest, images_fingerprint
from lookalike.store.disk import write_file
from lookalike.store.workspace import Workspace

if TYPE_CHECKING:
    from lookalike.learn.state import Epoch
    from lookalike.positive.graph import Graph
    from lookalike.recipes.finetune_ahead import Ahead
    from lookalike.recipes.training import Asked, Trained

NEEDED = ("torch", "torchvision", "timm", "safetensors", "tensorboard")


@dataclass(frozen=True)
class Outcome:
    """What came of a run: its epochs, the chosen one, and the value of the encoder it began from.

    `value` is of the chosen epoch, `before` of the encoder itself, on the same pairs; NaN where undefined. `resumed` is
    the number of epochs that an earlier command had done.
    """

    name: str
    encoder: str
    measure: str
    keep: str
    before: float
    value: float
    best: int
    resumed: int
    history: "tuple[Epoch, ...]"
    ahead: "Ahead"
    folder: Path
    onnx: Path | None = None

    @property
    def helped(self) -> bool | None:
        """Whether the chosen epoch is above the encoder itself; None where one of them is undefined."""
        if math.isnan(self.before) or math.isnan(self.value):
            return None
        return self.value > self.before


@dataclass(frozen=True)
class Watch:
    """What a run tells while it goes on: what lies ahead (and epochs done before), each epoch, each step. Its clock."""

    begin: "Callable[[Ahead, int], None] | None" = None
    epoch: "Callable[[Epoch], None] | None" = None
    step: Progress | None = None
    views: Progress | None = None
    clock: Callable[[], float] = time.monotonic
    every: float | None = None


def finetune(
    workspace: Workspace,
    encoder: str,
    name: str,
    asked: "Asked",
    *,
    device: str = "auto",
    onnx: Path | None = None,
    replace: bool = False,
    watch: Watch | None = None,
) -> Outcome:
    """Train a head on an encoder's vectors, choose an epoch, and keep it as the encoder `name` with its vectors.

    A run that was stopped goes on where it stood if it is told the same and nothing beneath it has changed. Where the
    loss becomes infinite the best epoch before is kept all the same, and LearningError says so.
    """
    require_learning()
    from lookalike.recipes.training import chosen_device, material, require_learnable, train

    watch = watch or Watch()
    spec = f"checkpoint:{MODELS}/{check_name(name)}"
    require_vectors(workspace, encoder)
    _require_another(name, encoder)
    workspace.require_free(name, spec)
    on = chosen_device(device)
    beneath, manifest = workspace.embeddings(encoder), workspace.manifest(encoder)
    labels = workspace.labels()
    given = material(workspace.catalog, labels, beneath.vectors, asked)
    told = identity(workspace, manifest, labels, given.around.graph, asked)
    with models.running(workspace.folder, name):
        models.require_startable(workspace.folder, name, told, replace=replace)
        views = _views(workspace, encoder, beneath.vectors, asked, watch)
        require_learnable(given, views)
        if replace and name in workspace.encoders:
            workspace.remove_embeddings(name)
        run = models.begin(
            workspace.folder, name, told, replace=replace, clock=watch.clock, every=watch.every
        )
        from lookalike.learn.state import progress_of
        from lookalike.recipes.finetune_ahead import look_ahead

        state = run.last()
        done = progress_of(state).history if state is not None else []
        run.begin_history([_noted(epoch, asked) for epoch in done])
        pairs = len(given.validation.pairs)
        ahead = look_ahead(workspace.catalog, given.around, asked.plan, asked.settings, asked.views, pairs)
        if watch.begin:
            watch.begin(ahead, len(done))

        def tell(epoch: "Epoch") -> None:
            run.note(*_noted(epoch, asked))
            if watch.epoch:
                watch.epoch(epoch)

        found = train(given, views, asked, run, device=on, told=tell, progress=watch.step)
        if found.head is None:
            run.forget()
            raise _stopped(found, name, encoder)
        run.write(_files(manifest, found, asked, told))
        embed(workspace, spec, name=name, stored=True, replace=True)
        run.finish()
    if found.found.stopped:
        raise _stopped(found, name, encoder)
    if onnx is not None:
        _export(workspace, spec, onnx)
    return _outcome(name, encoder, asked, found, len(done), ahead, run.folder, onnx)


def require_learning() -> None:
    """Refuse where the libraries for training are not installed, and say how to install them."""
    try:
        for library in NEEDED:
            import_module(library)
    except ImportError as error:
        raise LearningError(
            f"Training needs {error.name or 'PyTorch'}, which is not installed.",
            fix="Install it: pip install 'lookalike[learn]'",
        ) from None


def require_vectors(workspace: Workspace, encoder: str) -> None:
    """Refuse an encoder without vectors here; an encoder string is told how to become one with."""
    if encoder in workspace.encoders:
        return
    if encoder.partition(":")[0] in SOURCES and ":" in encoder:
        holding = [one for one in workspace.encoders if workspace.manifest(one).spec == encoder]
        raise EmbeddingsError(
            f"A head is trained on vectors by the short name of their encoder, and {encoder!r} is an encoder string.",
            fix=f"Name {holding[0]}, which holds its vectors."
            if holding
            else f"Embed it first: lookalike embed {shlex.quote(encoder)}",
        )
    workspace.vectors_folder(encoder)


def _require_another(name: str, encoder: str) -> None:
    """Refuse to train a head in the place of what it is on."""
    if name == encoder:
        raise LearningError(
            f"The name {name!r} is taken: {name} is what it would be trained on.",
            fix="Choose another name with --name NAME.",
        )


def identity(
    workspace: Workspace, manifest: Manifest, labels: Labels, graph: "Graph", asked: "Asked"
) -> dict[str, Any]:
    """All that a run's result depends on, as JSON holds it: equal exactly when a stopped run can be gone on from."""
    catalog = workspace.catalog
    return {
        "encoder": asdict(manifest.origin),
        "vectors": f"{manifest.sum:08x}",
        "images": images_fingerprint(catalog),
        "split": fingerprint(catalog.split),
        "labels": fingerprint(labels.query, labels.candidate, labels.label),
        "graph": _sum(graph.node, *graph.positive, *graph.negative),
        "settings": asked.settings.as_values(),
        "nodes": asked.nodes,
        "views": asked.views,
        "projection": asked.projection,
        "plan": asdict(asked.plan),
    }


def _sum(*columns: np.ndarray) -> str:
    digest = hashlib.sha256()
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes() + b"|")
    return digest.hexdigest()[:16]


def _views(
    workspace: Workspace, encoder: str, vectors: np.ndarray, asked: "Asked", watch: Watch
) -> list[np.ndarray]:
    """The workspace's vectors, or those of several augmented views of each photo."""
    if asked.views == 1:
        return [vectors]
    return augmented_views(workspace, encoder, asked.views, asked.settings.seed, progress=watch.views)


def _noted(epoch: "Epoch", asked: "Asked") -> tuple[dict[str, Any], Mapping[str, float]]:
    """An epoch as its line of the history, and as the curves of TensorBoard."""
    scalars = {
        "loss": epoch.loss,
        f"validation {asked.settings.measure}": epoch.value,
        "rate": epoch.rate,
        "anchors skipped": float(epoch.skipped),
    }
    return epoch._asdict(), scalars


def _files(manifest: Manifest, found: "Trained", asked: "Asked", told: Mapping[str, Any]) -> dict[str, bytes]:
    """The checkpoint's files; they are the same however often the run was stopped."""
    from lookalike.encode.checkpoint import head_files

    best = found.best
    if found.head is None or best is None:
        return {}
    learned = {
        **{key: told[key] for key in ("settings", "nodes", "views", "labels", "split", "vectors")},
        "epochs": len(found.found.history),
        "best": best.number,
        "value": None if math.isnan(best.value) else best.value,
        "before": None if math.isnan(found.before) else found.before,
        "stopped": found.found.stopped,
    }
    return head_files(manifest.origin, found.head, learned)


def _stopped(found: "Trained", name: str, encoder: str) -> LearningError:
    """The error of a run that ended before its time, and what is left of it."""
    best = found.best
    kept = (
        f"The head of epoch {best.number}, the best before, is kept as {name} (checkpoint:{name})."
        if best
        else f"No epoch was done before, so nothing is kept under {name}."
    )
    return LearningError(
        f"Training on {encoder} stopped: {found.found.stopped}. {kept}",
        fix="Train again with a lower --rate or a higher --temperature"
        + (", and --replace or another --name." if best else "."),
    )


def _export(workspace: Workspace, spec: str, file: Path) -> None:
    """The encoder as one ONNX file; of a head on vectors from a file the head alone, which is all there is."""
    from lookalike.encode.checkpoint import read_head
    from lookalike.encode.export import onnx_bytes
    from lookalike.encode.opening import open_encoder

    parsed = parse(spec)
    if heads_down(parsed, workspace.folder)[-1].source == "precomputed":
        exported = onnx_bytes(read_head(require_folder(parsed, workspace.folder), spec).head)
    else:
        exported = onnx_bytes(open_encoder(parsed, workspace.folder))
    write_file(file, exported)


def _outcome(
    name: str,
    encoder: str,
    asked: "Asked",
    found: "Trained",
    resumed: int,
    ahead: "Ahead",
    folder: Path,
    onnx: Path | None,
) -> Outcome:
    best = found.best
    return Outcome(
        name=name,
        encoder=encoder,
        measure=asked.settings.measure,
        keep=asked.settings.keep,
        before=found.before,
        value=best.value if best else math.nan,
        best=found.found.best,
        resumed=resumed,
        history=found.found.history,
        ahead=ahead,
        folder=folder,
        onnx=onnx,
    )
