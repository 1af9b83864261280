"""Every method on every encoder of a workspace, each trained under a name of its own, so that each can be resumed.

A finished cell is read, an unfinished one is resumed, and one that cannot be trained gives its reason.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lookalike.core.errors import ArgumentError, EmbeddingsError, EncoderError, LabelsError, LearningError
from lookalike.core.progress import Progress, part
from lookalike.core.text import listed
from lookalike.encode.sources.checkpoint_file import made_of, read_about
from lookalike.encode.spec import MODELS, parse
from lookalike.research.learning.methods import Method
from lookalike.store.vectors.models import recorded, unfinished
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.finetune import TrainingCallbacks, TrainingOutcome, finetune

LACKING = (ArgumentError, EmbeddingsError, LabelsError, LearningError)
"""Errors that concern one cell."""
MISSING, UNFINISHED = "not trained", "training is unfinished"


@dataclass(frozen=True)
class Cell:
    """A method on an encoder, with the settings that all cells of a table have in common."""

    encoder: str
    method: Method
    settings: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the encoder that it makes."""
        return self.method.encoder(self.encoder)

    @property
    def is_trained(self) -> bool:
        """Whether something is trained."""
        return self.method.kind != "pretrained"


@dataclass(frozen=True)
class TrainedCell:
    """A cell after its training. `outcome` is None for an encoder as it is, and where `reason` says why there is none.

    A training that stopped with an infinite loss has both a reason and an encoder: its best epoch until then.
    """

    cell: Cell
    outcome: TrainingOutcome | None = None
    reason: str = ""

    @property
    def remark(self) -> str:
        """What to know of the cell: why it could not be trained, or that its training came to nothing."""
        return self.reason or ("" if self.outcome is None else self.outcome.remark)

    @property
    def sentence(self) -> str:
        """The result in words."""
        found = self.outcome
        if found is None or self.remark:
            return f"{self.cell.name}: {self.remark}"
        return f"{self.cell.name}: epoch {found.best:,} of {len(found.history):,}, {found.measure} {found.value:.4f}."


def cells_of(
    encoders: Iterable[str], methods: Sequence[Method], settings: Mapping[str, Any]
) -> tuple[Cell, ...]:
    """Every method on every encoder, encoder by encoder."""
    return tuple(Cell(encoder, method, settings) for encoder in encoders for method in methods)


def train_cells(
    workspace: Workspace,
    cells: Sequence[Cell],
    *,
    device: str = "auto",
    callbacks: TrainingCallbacks | None = None,
    progress: Progress | None = None,
) -> Iterator[TrainedCell]:
    """Train the cells one after another. `progress` counts all cells alike."""
    for at, cell in enumerate(cells):
        step = part(progress, at, len(cells))
        yield train_cell(
            workspace, cell, device=device, callbacks=replace(callbacks or TrainingCallbacks(), step=step)
        )


def train_cell(
    workspace: Workspace, cell: Cell, *, device: str = "auto", callbacks: TrainingCallbacks | None = None
) -> TrainedCell:
    """Train one cell, or read what an earlier command trained."""
    if not cell.is_trained:
        return TrainedCell(cell)
    try:
        request = cell.method.request(cell.settings)
        found = finetune(workspace, cell.encoder, cell.name, request, device=device, callbacks=callbacks)
    except LACKING as lack:
        stopped = stopped_by(workspace, cell.name)
        if stopped and recorded(workspace.folder, cell.name).get("settings") == request.as_values():
            return TrainedCell(cell, reason=f"Training stopped: {stopped}.")
        return TrainedCell(cell, reason=f"{lack.problem} {lack.fix}")
    return TrainedCell(cell, found)


def stopped_by(workspace: Workspace, name: str) -> str:
    """Why a finished training ended early; empty where it did not, or there is none."""
    try:
        learned = read_about(workspace.folder / MODELS / name, name).get("learned", {})
    except EncoderError:
        return ""
    return str(learned.get("stopped", ""))


def learned_of(workspace: Workspace, cell: Cell) -> Mapping[str, Any] | str:
    """What a cell was trained with, as its checkpoint records it; or, as a text, why the cell does not exist."""
    if not cell.is_trained:
        return {}
    if cell.name not in workspace.encoders:
        return UNFINISHED if cell.name in unfinished(workspace.folder) else MISSING
    try:
        about = made_of(parse(workspace.manifest(cell.name).spec), workspace.folder)
    except EncoderError as error:
        return error.problem
    if about is None or about.bases[0].spec != workspace.manifest(cell.encoder).spec:
        return f"not trained on {cell.encoder}, but under a name like that"
    known = {"part": "head", **about.learned.get("settings", {})}
    asked = cell.method.used(cell.settings)
    differs = [f"{key} {known.get(key)}" for key, value in asked.items() if known.get(key) != value]
    return f"trained with {listed(differs)}" if differs else about.learned
