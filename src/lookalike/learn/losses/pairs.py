"""What every loss starts from: the cosines of all pairs of a batch, their distances, and who is a negative.

Memory is n^2 numbers beside the n vectors; nothing here waits for the device.
"""

from contextlib import AbstractContextManager
from math import isfinite
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from lookalike.core.checks import one_of
from lookalike.core.errors import ArgumentError

UNJUDGED = ("negative", "ignore")


class BatchPairs(NamedTuple):
    """All ordered pairs of a batch, a vector with itself left out of the last two."""

    cosine: Float[Tensor, "n n"]
    weight: Float[Tensor, "n n"]  # W; a positive has W > 0
    negative: Bool[Tensor, "n n"]


def pairs(vectors: Tensor, weight: Tensor, judged: Tensor, unjudged: str) -> BatchPairs:
    """The pairs of a batch: a positive has W > 0, a negative W = 0 and a judgment, or none where that is enough.

    Half-precision vectors are counted in float32, float64 stays float64. Call it, and all that follows, in `exact`.
    """
    one_of(unjudged, UNJUDGED, "unjudged")
    _check_shapes(vectors, weight, judged)
    wide = vectors.double() if vectors.dtype == torch.float64 else vectors.float()
    given = weight.detach().to(wide)
    none = torch.zeros_like(given, dtype=torch.bool).fill_diagonal_(fill_value=True)
    negative = (given == 0) & ~none
    if unjudged == "ignore":
        negative &= judged.to(wide.device)
    return BatchPairs(_Cosines.apply(wide), given.masked_fill(none, 0), negative)


def exact(vectors: Tensor) -> AbstractContextManager[Any]:
    """No automatic half precision inside, whatever is asked for outside."""
    return torch.autocast(vectors.device.type, enabled=False)


def squared_distances(cosine: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """d_ij^2 = z_i.z_i + z_j.z_j - 2 z_i.z_j between unit vectors, never below 0; equal vectors give 0.

    The squares are taken from the same product, so that for near vectors their rounding goes with that of z_i.z_j.
    With vectors of n numbers and unit roundoff u (2^-24 in float32), d^2 is off by at most B = 8 (n + 6) u in any order
    of summation (2.5e-4 at n = 512), and by some sqrt(n) u as a rule (1e-6). d is off by at most min(sqrt(B), B / d).
    """
    own = cosine.detach().diagonal()  # no gradient: a unit vector's length does not change
    return (own.unsqueeze(1) + own - 2 * cosine).clamp(min=0)


def roots(squared: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    """d from d^2; where d is 0 its gradient is taken as 0, it has none."""
    zero = squared == 0
    return squared.masked_fill(zero, 1).sqrt().masked_fill(zero, 0)


def require_number(value: float, argument: str, *, zero: bool) -> None:
    """Raise ArgumentError for what is no number above 0; with `zero`, 0 is allowed."""
    if not (isfinite(value) and (value > 0 or (zero and value == 0))):
        wanted, fix = ("not below 0", ">= 0, 0.2") if zero else ("above 0", "> 0, 0.1")
        raise ArgumentError(
            f"{argument} is {value}; it must be a number {wanted}.",
            fix=f"Give {argument} {fix} for instance.",
        )


class _Cosines(torch.autograd.Function):
    """z_i.z_j of all pairs, z = v / |v|. A zero vector has no direction: its z and its gradient are 0.

    With H the gradient of the products, that of v_i is the part of h_i = sum_j (H_ij + H_ji) z_j across z_i,
    over |v_i|. Written out because one product then does what automatic differentiation needs two for.
    """

    @staticmethod
    def forward(ctx: Any, vectors: Float[Tensor, "n d"]) -> Float[Tensor, "n n"]:  # noqa: ANN401 - torch's own
        length = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
        length = length.masked_fill(length.isinf(), torch.nan).masked_fill(length == 0, torch.inf)
        units = vectors / length
        ctx.save_for_backward(units, length)
        return units @ units.T

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, gradient: Float[Tensor, "n n"]) -> Float[Tensor, "n d"]:  # noqa: ANN401
        units, length = ctx.saved_tensors
        with exact(units):
            turn = (gradient + gradient.T) @ units
        along = (turn * units).sum(dim=1, keepdim=True)
        return (turn - along * units) / length


def _check_shapes(vectors: Tensor, weight: Tensor, judged: Tensor) -> None:
    """One row per vector, one number and one yes or no per pair."""
    if vectors.ndim != 2 or not vectors.is_floating_point():
        raise ArgumentError(
            f"vectors is a tensor of {vectors.dtype} of shape {tuple(vectors.shape)}.",
            fix="Give floating point vectors as rows: (n, dimension).",
        )
    square = (len(vectors), len(vectors))
    if weight.shape != square or not weight.is_floating_point():
        raise ArgumentError(
            f"weight is a tensor of {weight.dtype} of shape {tuple(weight.shape)} beside {len(vectors)} vectors.",
            fix=f"Give one floating point weight for each ordered pair: shape {square}.",
        )
    if judged.shape != square or judged.dtype != torch.bool:
        raise ArgumentError(
            f"judged is a tensor of {judged.dtype} of shape {tuple(judged.shape)} beside {len(vectors)} vectors.",
            fix=f"Give one True or False for each ordered pair: shape {square}.",
        )
