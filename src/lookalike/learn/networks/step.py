"""The gradient of a whole batch, from pieces that fit into memory and from several processes.

A contrastive loss compares all vectors of a batch, so it is no sum over pieces. But its gradient is one by the chain
rule: with z_i the vector of input i,

    dL/dtheta = sum_i (dz_i/dtheta)^T dL/dz_i.

So the vectors of all inputs are computed piece by piece without a graph, the loss and dL/dz once on all of them, and
then each piece again with a graph, through which its dL/dz is sent back (Gao et al. 2021, "Scaling deep contrastive
learning batch size under memory limited setup", 3.2). A batch in one piece needs no second pass. Processes exchange
vectors, not graphs: each sends back the gradient of its own inputs, and the sums are added.
"""

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from lookalike.core.errors import LearningError
from lookalike.encode.network import out_of_memory
from lookalike.learn.examples import TrainingBatch
from lookalike.learn.losses.weighted import Loss
from lookalike.learn.networks.processes import ALONE, Processes

Objective = Callable[[Tensor, TrainingBatch], Loss]


class GradientStep:
    """Computes the gradient of each batch. `micro` inputs are in memory at once; None: all of a batch.

    Where memory runs out, `micro` is halved and `told` hears of it. The result stays the same up to rounding. With
    several processes the others wait for this one's vectors, so the run ends instead (LearningError), as it does where
    not even one input fits.
    """

    def __init__(
        self,
        micro: int | None = None,
        processes: Processes = ALONE,
        told: Callable[[int], None] | None = None,
    ) -> None:
        self.micro, self.processes, self.told = micro, processes, told

    def __call__(self, model: nn.Module, objective: Objective, batch: TrainingBatch, seed: int) -> Loss:
        """The loss of a batch; its gradient is in the parameters. `seed` draws what layers draw, such as dropout.

        The gradient is there only if the loss is finite.
        """
        while True:
            model.zero_grad()
            try:
                return self._step(model, objective, batch, seed)
            except RuntimeError as error:
                if not out_of_memory(error):
                    raise
                held = min(self.micro or _size(batch), _size(batch))
                if held == 1 or self.processes.count > 1:
                    raise _does_not_fit(held) from error
            self.micro = held // 2
            if torch.cuda.is_available():
                torch.cuda.empty_cache()
            if self.told:
                self.told(self.micro)

    def _step(self, model: nn.Module, objective: Objective, batch: TrainingBatch, seed: int) -> Loss:
        pieces, whole = list(_pieces(batch.inputs, self.micro)), _fits(batch.inputs, self.micro)
        seeds = [hash((seed, self.processes.rank, number)) % 2**63 for number in range(len(pieces))]
        with torch.set_grad_enabled(whole):
            own = [_forward(model, piece, one) for piece, one in zip(pieces, seeds, strict=True)]
        if whole and self.processes.count == 1:
            loss = objective(own[0] if len(own) == 1 else torch.cat(own), batch)
            if torch.isfinite(loss.value):
                loss.value.backward()  # type: ignore[no-untyped-call]
            return loss
        vectors = self.processes.gathered(torch.cat(own)).requires_grad_()
        loss = objective(vectors, batch)
        if not torch.isfinite(loss.value):
            return loss
        if loss.value.requires_grad:
            slopes = self._own(torch.autograd.grad(loss.value, vectors)[0], sum(map(len, own)))
            parts = torch.split(slopes, [len(one) for one in own])
            for number, slope in enumerate(parts):
                found = own[number] if whole else _forward(model, pieces[number], seeds[number])
                if found.requires_grad:
                    found.backward(slope.to(found.dtype))  # type: ignore[no-untyped-call]
        self.processes.add_gradients(model)
        return loss

    def _own(self, slopes: Tensor, count: int) -> Tensor:
        """The rows of this process."""
        before = sum(self.processes.told(count)[: self.processes.rank]) if self.processes.count > 1 else 0
        return slopes[before : before + count]


def _does_not_fit(held: int) -> LearningError:
    if held == 1:
        return LearningError(
            "The network does not fit into memory, even with one photo at a time.",
            fix="Train less of it (--part adapters, or blocks), use a smaller network, or stop other programs.",
        )
    return LearningError(
        f"Memory ran out with {held} photos at once.",
        fix=f"Run the command again with --micro {held // 2}. The gradient stays that of the whole batch.",
    )


def _forward(model: nn.Module, inputs: Tensor, seed: int) -> Tensor:
    torch.manual_seed(seed)
    found: Tensor = model(inputs)
    return found


def _pieces(inputs: Tensor | tuple[Tensor, ...], size: int | None) -> Iterator[Tensor]:
    """Inputs of equal shape, at most `size` at a time, in their order."""
    for group in inputs if isinstance(inputs, tuple) else (inputs,):
        yield from torch.split(group, size or max(1, len(group)))


def _fits(inputs: Tensor | tuple[Tensor, ...], size: int | None) -> bool:
    return size is None or (len(inputs) if isinstance(inputs, Tensor) else sum(map(len, inputs))) <= size


def _size(batch: TrainingBatch) -> int:
    return len(batch.inputs) if isinstance(batch.inputs, Tensor) else max(map(len, batch.inputs))
