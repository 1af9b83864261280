"""`finetune`: a head on an encoder's cached vectors, from the workspace's labels, kept as an encoder of its own."""

import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.core.checks import fingerprint
from lookalike.core.errors import LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Labels
from lookalike.encode.checkpoint_file import read_about
from lookalike.encode.spec import MODELS, check_name
from lookalike.recipes.embed import embed
from lookalike.recipes.finetune_onnx import export, require_writable
from lookalike.recipes.finetune_refusals import require_another, require_none_above, require_vectors
from lookalike.recipes.views import augmented_views
from lookalike.store import models
from lookalike.store.arrays import Manifest, images_fingerprint
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

    A run that was stopped goes on where it stood if it is told the same and nothing beneath it has changed; of one that
    was finished, and told the same, only the ONNX file is written if it is asked for. Where the
    loss becomes infinite the best epoch before is kept all the same, and LearningError says so.
    """
    require_learning()
    from lookalike.recipes.finetune_ahead import look_ahead
    from lookalike.recipes.training import chosen_device, material, require_learnable, train

    watch = watch or Watch()
    spec = f"checkpoint:{MODELS}/{check_name(name)}"
    require_vectors(workspace, encoder)
    require_another(workspace, name, encoder)
    if replace:
        require_none_above(workspace, name)
    workspace.require_free(name, spec)
    require_writable(onnx)
    on = chosen_device(device)
    beneath, manifest = workspace.embeddings(encoder), workspace.manifest(encoder)
    labels = workspace.labels()
    given = material(workspace.catalog, labels, beneath.vectors, asked)
    told = identity(workspace, manifest, labels, given.around.graph, asked)
    ahead = look_ahead(
        workspace.catalog, given.around, asked.plan, asked.settings, asked.views, len(given.validation.pairs)
    )
    with models.running(workspace.folder, name):
        if onnx is not None and not replace and models.is_finished(workspace.folder, name, told):
            export(workspace, spec, onnx)
            return _earlier(workspace, encoder, name, asked, ahead, onnx)
        models.require_startable(workspace.folder, name, told, replace=replace)
        views = _views(workspace, encoder, beneath.vectors, asked, watch)
        require_learnable(given, views)
        if replace and name in workspace.encoders:
            workspace.remove_embeddings(name)
        run = models.begin(
            workspace.folder, name, told, replace=replace, clock=watch.clock, every=watch.every
        )
        from lookalike.learn.state import progress_of

        state = run.last()
        done = progress_of(state).history if state is not None else []
        run.begin_history([_noted(epoch, asked) for epoch in done])
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
        export(workspace, spec, onnx)
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


def _earlier(
    workspace: Workspace, encoder: str, name: str, asked: "Asked", ahead: "Ahead", onnx: Path
) -> Outcome:
    """What came of a run that an earlier command finished, from its files."""
    from lookalike.learn.state import Epoch

    folder = workspace.folder / MODELS / name
    learned = read_about(folder, name)["learned"]
    before, value = (math.nan if learned[key] is None else learned[key] for key in ("before", "value"))
    epochs = tuple(Epoch(**line) for line in models.history(workspace.folder, name))
    measure, keep = asked.settings.measure, asked.settings.keep
    return Outcome(
        name, encoder, measure, keep, before, value, learned["best"], len(epochs), epochs, ahead, folder, onnx
    )


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
