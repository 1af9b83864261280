"""`finetune`: train a head or a whole network from the workspace's labels, and keep it as an encoder."""

import dataclasses
import hashlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.api.finetune import require_learning
from lookalike.audit.training_verdict import TrainingVerdict
from lookalike.core.checks import fingerprint
from lookalike.core.errors import LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Labels
from lookalike.encode.sources.checkpoint_file import encodes_photos, lineage, read_about, require_folder
from lookalike.encode.spec import MODELS, check_name, parse
from lookalike.learn.batches import plan_of
from lookalike.learn.epoch import Epoch
from lookalike.learn.request import TrainingRequest
from lookalike.store.disk import write_file
from lookalike.store.vectors import models
from lookalike.store.vectors.arrays import Manifest, images_fingerprint
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import seen_labels, uses_labels
from lookalike.workflows.decide.training_verdict import verdict_on
from lookalike.workflows.learn.preview import TrainingPreview
from lookalike.workflows.learn.requirements import require_trainable
from lookalike.workflows.learn.views import augmented_views
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.encoders import licence_of

if TYPE_CHECKING:
    import torch

    from lookalike.api.training import Material, RunKeeper, TrainedModel
    from lookalike.learn.networks.processes import Processes
    from lookalike.positive.graph import Graph


@dataclass(frozen=True)
class TrainingOutcome:
    """The new encoder, made from the encoder `base`. `value` is that of the epoch `best`, `before` that of the base.

    Both are measured on the pool's labels of the same pairs, NaN where undefined; `helped` compares them (None: one is
    undefined). `out_of_bag` is the mean aR@1 of resamples, where these chose the number of epochs. Whether the
    encoder is better in truth is the `verdict`. `resumed` epochs were done by earlier commands. `history` has every
    epoch.
    """

    encoder: str
    spec: str
    base: str
    measure: str
    before: float
    value: float
    helped: bool | None
    verdict: TrainingVerdict
    keep: str
    out_of_bag: float | None
    best: int
    epochs: int
    resumed: int
    preview: TrainingPreview
    warnings: tuple[str, ...]
    history: tuple[Epoch, ...]
    folder: str
    onnx: str | None
    remark: str = ""


@dataclass(frozen=True)
class TrainingCallbacks:
    """What a run reports: its preview (with the epochs done before), each epoch, each step, sentences; and its clock.

    `every` is the number of seconds between two saved states.
    """

    begin: Callable[[TrainingPreview, int], None] | None = None
    epoch: Callable[[Epoch], None] | None = None
    step: Progress | None = None
    views: Progress | None = None
    say: Callable[[str], None] | None = None
    clock: Callable[[], float] = time.monotonic
    every: float | None = None


def finetune(
    workspace: Workspace,
    encoder: str,
    name: str,
    request: TrainingRequest,
    *,
    device: str = "auto",
    onnx: Path | None = None,
    replace: bool = False,
    callbacks: TrainingCallbacks | None = None,
    processes: "Processes | None" = None,
) -> TrainingOutcome:
    """Train a head on an encoder's vectors, or its network, choose an epoch, and keep it as the encoder `name`.

    A stopped run is resumed if the request is the same and its data has not changed. A finished run with the same
    request is not repeated: its outcome is read, with what labels of the test split say by now. Where the loss becomes
    infinite, the best epoch so far is kept, and LearningError says so. This is the first of the `processes`; the others
    call `networks.assist`.
    """
    require_learning()
    from lookalike.api.training import chosen_device, material
    from lookalike.learn.networks.processes import ALONE
    from lookalike.workflows.learn.preview import preview

    callbacks, processes = callbacks or TrainingCallbacks(), processes or ALONE
    spec = f"checkpoint:{MODELS}/{check_name(name)}"
    require_trainable(workspace, encoder, name, spec, onnx, replace=replace)
    on = chosen_device(device)
    manifest, labels = workspace.manifest(encoder), workspace.labels()
    given = material(workspace.catalog, labels, workspace.embeddings(encoder).vectors, request)
    around = given.around
    run_id = identity(workspace, manifest, labels, None if around is None else around.graph, request)
    licence = "" if request.part == "head" else _licence_doubts(workspace, encoder)
    previewed = dataclasses.replace(preview(workspace.catalog, given, request), licence=licence)

    with models.running(workspace.folder, name):
        if not replace and _is_complete(workspace, name, run_id):
            processes.from_first(False)
            return _outcome(workspace, encoder, name, request, previewed, None, onnx)
        models.require_startable(workspace.folder, name, run_id, replace=replace)
        prepared = prepared_training(workspace, encoder, given, request, on, callbacks, processes)
        if replace and name in workspace.encoders:
            workspace.remove_embeddings(name)
        run = models.begin(
            workspace.folder, name, run_id, replace=replace, clock=callbacks.clock, every=callbacks.every
        )
        resumed = _restore_history(run, request)
        if callbacks.begin:
            callbacks.begin(previewed, resumed)
        processes.from_first(True)

        def record(epoch: Epoch) -> None:
            run.note(*_recorded(epoch, request))
            if callbacks.epoch:
                callbacks.epoch(epoch)

        trained = prepared(run, record)
        if trained.files is None:
            run.forget()
            raise _stopped(trained, name, encoder)
        run.write(trained.files(_record(trained, run_id)))
        embed(workspace, spec, name=name, stored=True, replace=True)
        run.finish()

    if trained.run.stopped:
        raise _stopped(trained, name, encoder)
    return _outcome(workspace, encoder, name, request, previewed, resumed, onnx)


def prepared_training(
    workspace: Workspace,
    encoder: str,
    given: "Material",
    request: TrainingRequest,
    device: "torch.device",
    callbacks: TrainingCallbacks,
    processes: "Processes",
) -> "Callable[[RunKeeper, Callable[[Epoch], None]], TrainedModel]":
    """The training of a request, when all that it needs is there and before anything is written."""
    if request.part != "head":
        from lookalike.workflows.learn.networks import prepared_network

        return prepared_network(workspace, encoder, given, request, device, callbacks, processes)
    if processes.count > 1:
        raise LearningError(
            f"{processes.count} processes were started, but a head is trained by one.",
            fix="Run the command without torchrun, or train more than the head with --part.",
        )
    from lookalike.api.training import require_learnable, train

    views = [workspace.embeddings(encoder).vectors]
    if request.views > 1:
        views = augmented_views(workspace, encoder, request.views, request.seed, progress=callbacks.views)
    require_learnable(given, views)
    return lambda run, record: train(
        given, views, request, run, device=device, on_epoch=record, progress=callbacks.step
    ).as_model(workspace.manifest(encoder).origin)


def _licence_doubts(workspace: Workspace, encoder: str) -> str:
    """What to know of the licences of the weights that are trained on; "" where they allow derivatives."""
    chain = lineage(parse(workspace.manifest(encoder).spec), workspace.folder)
    found = {str(one): licence_of(str(one), workspace.folder) for one in chain}
    return " ".join(f"{spec}: {one.doubt}" for spec, one in found.items() if one is not None and one.doubt)


def identity(
    workspace: Workspace, manifest: Manifest, labels: Labels, graph: "Graph | None", request: TrainingRequest
) -> dict[str, Any]:
    """Everything that a run's result depends on, as JSON: equal exactly when a stopped run can be resumed."""
    catalog = workspace.catalog
    return {
        "encoder": asdict(manifest.origin),
        "vectors": f"{manifest.sum:08x}",
        "images": images_fingerprint(catalog),
        "split": fingerprint(catalog.split),
        "labels": seen_labels(catalog, labels) if uses_labels(request.as_values()) else "",
        "graph": "" if graph is None else _hash(graph.node, *graph.positive, *graph.negative),
        "settings": request.as_values(),
        "plan": asdict(plan_of(request)),
    }


def _hash(*columns: np.ndarray) -> str:
    digest = hashlib.sha256()
    for column in columns:
        digest.update(np.ascontiguousarray(column).tobytes() + b"|")
    return digest.hexdigest()[:16]


def _is_complete(workspace: Workspace, name: str, run_id: Mapping[str, Any]) -> bool:
    """Whether there is a run with this name and identity that did not stop before its end."""
    if not models.is_finished(workspace.folder, name, run_id):
        return False
    return not read_about(workspace.folder / MODELS / name, name)["learned"]["stopped"]


def _restore_history(run: models.TrainingRun, request: TrainingRequest) -> int:
    """Write the history up to the saved state; returns how many epochs it holds."""
    from lookalike.learn.state import progress_of

    state = run.last()
    done = progress_of(state).history if state is not None else []
    run.begin_history([_recorded(epoch, request) for epoch in done])
    return len(done)


def _recorded(epoch: Epoch, request: TrainingRequest) -> tuple[dict[str, Any], Mapping[str, float]]:
    """An epoch as its line of the history, and as the curves of TensorBoard."""
    scalars = {
        "loss": epoch.loss,
        f"validation {request.measure}": epoch.value,
        "rate": epoch.rate,
        "anchors skipped": float(epoch.skipped),
        "training aR@1": epoch.recall,
    }
    return epoch._asdict(), scalars


def _record(trained: "TrainedModel", run_id: Mapping[str, Any]) -> dict[str, Any]:
    """What the checkpoint keeps of its training; it is the same however often the run was stopped."""
    best = trained.best
    assert best is not None  # noqa: S101 - a checkpoint has an epoch
    learned = {
        **{key: run_id[key] for key in ("settings", "labels", "split", "vectors")},
        "epochs": len(trained.run.history),
        "best": best.number,
        "value": None if math.isnan(best.value) else best.value,
        "before": None if math.isnan(trained.before) else trained.before,
        "stopped": trained.run.stopped,
    }
    if trained.run.remark:
        learned["remark"] = trained.run.remark
    if trained.chosen is not None:
        learned["bootstrap"] = {"epochs": trained.chosen.epochs, "recall": trained.chosen.recall}
    return learned


def _export(workspace: Workspace, spec: str, file: Path) -> None:
    """Write the encoder as one ONNX file; for a head on imported vectors, the head alone."""
    from lookalike.encode.export import onnx_bytes
    from lookalike.encode.open import open_encoder
    from lookalike.encode.sources.checkpoint import read_head

    parsed = parse(spec)
    if not encodes_photos(parsed, workspace.folder):
        exported = onnx_bytes(read_head(require_folder(parsed, workspace.folder), spec).head)
    else:
        exported = onnx_bytes(open_encoder(parsed, workspace.folder))
    write_file(file, exported)


def _stopped(trained: "TrainedModel", name: str, encoder: str) -> LearningError:
    """The error of a run that ended early, and what is kept of it."""
    best = trained.best
    kept = (
        f"What epoch {best.number} gave, the best so far, is kept as {name} (checkpoint:{name})."
        if best
        else f"No epoch was finished, so nothing is kept under {name}."
    )
    return LearningError(
        f"Training on {encoder} stopped: {trained.run.stopped}. {kept}",
        fix="Train again with a lower --rate or a higher --temperature"
        + (", and with --replace or another --name." if best else "."),
    )


def _outcome(
    workspace: Workspace,
    encoder: str,
    name: str,
    request: TrainingRequest,
    previewed: TrainingPreview,
    resumed: int | None,
    onnx: Path | None,
) -> TrainingOutcome:
    """The outcome of a finished run, from its files; `resumed` is None where an earlier command did all epochs.

    An ONNX file is written if one is requested.
    """
    spec = f"checkpoint:{MODELS}/{name}"
    if onnx is not None:
        _export(workspace, spec, onnx)
    folder = workspace.folder / MODELS / name
    learned = read_about(folder, name)["learned"]
    before, value = (math.nan if learned[key] is None else learned[key] for key in ("before", "value"))
    history = tuple(Epoch(**line) for line in models.history(workspace.folder, name))
    return TrainingOutcome(
        encoder=name,
        spec=spec,
        base=encoder,
        measure=request.measure,
        before=before,
        value=value,
        helped=None if math.isnan(before) or math.isnan(value) else value > before,
        verdict=verdict_on(workspace, name, encoder),
        keep=request.keep,
        out_of_bag=learned["bootstrap"]["recall"] if "bootstrap" in learned else None,
        best=learned["best"],
        epochs=len(history),
        resumed=len(history) if resumed is None else resumed,
        preview=previewed,
        warnings=previewed.warnings,
        history=history,
        folder=str(folder),
        onnx=None if onnx is None else str(onnx),
        remark=learned.get("remark", ""),
    )
