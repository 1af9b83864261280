"""The expected time and disk space of cells, before any is trained."""

import shutil
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from lookalike.api.training import TRAINING, VALIDATION, chosen_device
from lookalike.core.errors import LearningError
from lookalike.core.text import duration, megabytes, plural
from lookalike.encode.spec import parse
from lookalike.learn.settings import CLASSES
from lookalike.research.learning.cells import LACKING, Cell
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.networks import opened_network

FLOAT = 4  # bytes
STATES = 3  # copies of the parameters in a saved state: themselves, and two moments of AdamW
FORWARDS = {
    "dino": 12.0,
    **dict.fromkeys(CLASSES, 3.0),
}  # of a photo in an epoch: 2 views, forward and backward, are 6
PAIRS = 6.0
TIMED = 8  # photos


@dataclass(frozen=True)
class CellsCost:
    """What cells are expected to take. `seconds` is computing alone, without reading photos; None where heads learn."""

    cells: int
    seconds: float | None
    bytes: int

    @property
    def sentence(self) -> str:
        """The cost in words."""
        if not self.cells:
            return "All encoders of the table are trained."
        long = f"about {duration(self.seconds)} of computing, " if self.seconds else ""
        return f"{plural(self.cells, 'encoder')} to train: {long}{megabytes(self.bytes)} on disk."


def cost_of(workspace: Workspace, cells: Sequence[Cell], device: str = "auto") -> CellsCost:
    """The cost of training cells. Raises LearningError where the disk has no room for them."""
    seconds, size, largest = 0.0, 0, 0
    for encoder in dict.fromkeys(cell.encoder for cell in cells):
        of = [cell for cell in cells if cell.encoder == encoder]
        try:
            photo, parameters = _network(workspace, encoder, device) if _is_network(of[0]) else (0.0, 0)
        except LACKING:  # the cells will say so
            continue
        vectors = len(workspace.catalog) * workspace.manifest(encoder).dimension * FLOAT
        size += len(of) * (parameters * FLOAT + vectors)
        largest = max(largest, STATES * parameters * FLOAT)
        for cell in of:
            with suppress(*LACKING):
                seconds += photo * _forwards(workspace, cell)
    free = shutil.disk_usage(workspace.folder).free
    if size + largest > free:
        raise LearningError(
            f"{len(cells):,} encoders need {megabytes(size + largest)} in {workspace.folder}, which has "
            f"{megabytes(free)} free.",
            fix="Free some space, or train fewer with --encoders, --methods, or --part adapters or head.",
        )
    return CellsCost(len(cells), seconds or None, size)


def _is_network(cell: Cell) -> bool:
    return cell.settings.get("part", "head") != "head"


def _network(workspace: Workspace, encoder: str, device: str) -> tuple[float, int]:
    """Seconds for a photo, forward only, and the number of parameters."""
    _, network = opened_network(parse(workspace.manifest(encoder).spec), workspace.folder)
    network = network.on(chosen_device(device))
    blank = np.zeros((TIMED, *network.preprocessing.size, 3), np.uint8)
    network.vectors(blank)
    begun = time.perf_counter()
    network.vectors(blank)
    return (time.perf_counter() - begun) / TIMED, sum(one.numel() for one in network.module.parameters())


def _forwards(workspace: Workspace, cell: Cell) -> float:
    """Forward passes of a photo in a training, and for the vectors of the catalog after it."""
    split, request = workspace.catalog.split, cell.method.request(cell.settings)
    training, validation = (int(np.sum(split == name)) for name in (TRAINING, VALIDATION))
    return request.epochs * (training * FORWARDS.get(request.loss, PAIRS) + validation) + len(split)
