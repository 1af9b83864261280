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
from lookalike.learn.losses.weighted import Loss


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


def state_bytes(
    model: nn.Module, optimizer: Optimizer, best: Tensors, at: Progress, objective: nn.Module | None = None
) -> bytes:
    """Everything a run goes on from: what learns, the optimizer's moments, the best parameters, the history.

    And the state of the objective, if it has one.
    """
    tensors = {f"model.{name}": value for name, value in learned(model).items()}
    tensors |= {f"best.{name}": value for name, value in best.items()}
    if objective is not None:
        tensors |= {f"objective.{name}": value for name, value in objective.state_dict().items()}
    for place, moments in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{place}.{name}": value for name, value in moments.items()}
    kept = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    return save(
        kept, {"progress": json.dumps(asdict(at) | {"history": [one._asdict() for one in at.history]})}
    )


def restore(
    state: bytes, model: nn.Module, optimizer: Optimizer, objective: nn.Module | None = None
) -> tuple[Tensors, Progress]:
    """Put a run back where `state_bytes` found it; returns the best parameters so far and how far it is.

    Raises LearningError for a state that is damaged or of another model.
    """
    with _damage():
        tensors, at = load(state), _progress(state)
        fill(model, _under(tensors, "model."))
        if objective is not None:
            objective.load_state_dict(_under(tensors, "objective."))
        moments: dict[int, Tensors] = {}
        learning = [one for group in optimizer.param_groups for one in group["params"]]
        for name, value in _under(tensors, "optimizer.").items():
            place, _, moment = name.partition(".")
            moments.setdefault(int(place), {})[moment] = _laid_out(value, learning[int(place)])
        optimizer.load_state_dict(optimizer.state_dict() | {"state": moments})
    return _under(tensors, "best."), at


def _laid_out(value: Tensor, like: Tensor) -> Tensor:
    """A moment in the memory layout of its parameter: fused kernels walk through both side by side."""
    return torch.empty_like(like, dtype=value.dtype).copy_(value) if value.shape == like.shape else value


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


def learned(model: nn.Module) -> Tensors:
    """The parameters that learn and the buffers, as they are now; parameters that are frozen never change."""
    frozen = {name for name, value in model.named_parameters() if not value.requires_grad}
    return {name: value for name, value in model.state_dict().items() if name not in frozen}


def fill(model: nn.Module, known: Tensors) -> None:
    """Put what `learned` found back. Raises KeyError for the state of another model."""
    if known.keys() != learned(model).keys():
        raise KeyError("it is the state of another model")
    model.load_state_dict(known, strict=False)


def copied(model: nn.Module) -> Tensors:
    """What `learned` finds, as a copy."""
    with torch.no_grad():
        return {name: value.detach().clone() for name, value in learned(model).items()}
