"""Where a run stands, as bytes: what a killed run goes on from, to the last bit."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor, nn
from torch.optim import Optimizer

from lookalike.core.errors import LearningError
from lookalike.learn.epoch import Epoch
from lookalike.learn.examples import TrainingBatch
from lookalike.learn.losses import Loss


@dataclass
class Progress:
    """How far a run is: epochs done, their history, and the best of them so far (0: none)."""

    history: list[Epoch] = field(default_factory=list)
    best: int = 0
    stopped: str = ""

    @property
    def done(self) -> int:
        """Epochs done."""
        return len(self.history)


class Sums:
    """What an epoch's batches add up to."""

    def __init__(self) -> None:
        self.losses: list[float] = []
        self.recall = math.nan
        self.counts = torch.zeros(4, dtype=torch.int64)

    def add(self, loss: Loss, batch: TrainingBatch) -> None:
        """One more batch."""
        self.losses.append(loss.value.item())
        self.recall = math.nan if loss.recall is None else loss.recall
        self.counts += torch.stack([loss.kept, loss.skipped, batch.positives, loss.negatives]).cpu()

    def epoch(self, number: int, value: float, rate: float) -> Epoch:
        """The line of the history."""
        loss = math.fsum(self.losses) / len(self.losses)
        return Epoch(number, loss, value, rate, *self.counts.tolist())._replace(recall=self.recall)


Tensors = dict[str, Tensor]


def state_bytes(model: nn.Module, optimizer: Optimizer, best: Tensors, at: Progress) -> bytes:
    """Everything a run goes on from: parameters, the optimizer's moments, the best parameters, the history."""
    tensors = {f"model.{name}": value for name, value in model.state_dict().items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    for place, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{place}.{name}": value for name, value in moments.items()}
    kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    return save(
        kept, {"progress": json.dumps(asdict(at) | {"history": [one._asdict() for one in at.history]})}
    )


def restore(state: bytes, model: nn.Module, optimizer: Optimizer) -> tuple[Tensors, Progress]:
    """Put a run back where `state_bytes` found it; returns the best parameters so far and how far it is.

    Raises LearningError for a state that is damaged or of another model.
    """
    with _damage():
        tensors, at = load(state), _progress(state)
        model.load_state_dict(_under(tensors, "model."))
        moments: dict[int, Tensors] = {}
        for name, value in _under(tensors, "optimizer.").items():
            place, _, moment = name.partition(".")
            moments.setdefault(int(place), {})[moment] = value
        optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})
    return _under(tensors, "best."), at


def progress_of(state: bytes) -> Progress:
    """How far a run is by its state, without a model. Raises LearningError for a damaged state."""
    with _damage():
        return _progress(state)


@contextmanager
def _damage() -> Iterator[None]:
    """Whatever a damaged state does when it is read, in the user's words."""
    try:
        yield
    except (SafetensorError, RuntimeError, ValueError, KeyError, TypeError, IndexError) as error:
        reason = str(error).strip().split("\n", 1)[0][:200]
        raise LearningError(
            f"What the stopped run has left cannot be resumed ({type(error).__name__}: {reason}).",
            fix="Begin afresh with --replace.",
        ) from None


def _under(tensors: Tensors, head: str) -> Tensors:
    return {name.removeprefix(head): value for name, value in tensors.items() if name.startswith(head)}


def _progress(state: bytes) -> Progress:
    header: dict[str, Any] = json.loads(state[8 : 8 + int.from_bytes(state[:8], "little")])
    told = json.loads(header["__metadata__"]["progress"])
    return Progress([Epoch(**one) for one in told["history"]], told["best"], told["stopped"])


def copied(model: nn.Module) -> Tensors:
    """The parameters as they are now."""
    with torch.no_grad():
        return {name: value.detach().clone() for name, value in model.state_dict().items()}
