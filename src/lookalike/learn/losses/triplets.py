"""Which triplets a batch holds, counted without listing them: n^2 memory and sorted rows for up to n^3 triplets."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

TRIPLETS = ("all", "hard", "semihard")


class Counted(NamedTuple):
    """For each ordered pair, what the triplets it stands in come to; 0 where it stands in none."""

    # k_ip, of a positive: negatives n it is to be told from
    closer: Float[Tensor, "n n"]
    # c_in, of a negative: the W_ip of positives p it is to be told from, added up
    heavier: Float[Tensor, "n n"]


def violating(
    distance: Float[Tensor, "n n"],
    weight: Float[Tensor, "n n"],
    negative: Bool[Tensor, "n n"],
    margin: float,
    triplets: str,
) -> Counted:
    """The chosen triplets (i, p, n) that cost something: d_in < d_ip + m, and by the rule

    all: nothing more; hard: d_in < d_ip; semihard: d_ip < d_in (Schroff et al. 2015, FaceNet 3.2, with d for d^2, as
    the field's miners do). Rows are anchors. Distances that differ in the last bit alone are equal: neither rule's.
    """
    if triplets == "hard":
        return _counted(distance, weight, negative, 0.0)
    within = _counted(distance, weight, negative, margin)
    if triplets == "all":
        return within
    hard = _counted(distance, weight, negative, 0.0, or_equal=True)
    return Counted((within.closer - hard.closer).clamp(min=0), (within.heavier - hard.heavier).clamp(min=0))


def _counted(
    distance: Float[Tensor, "n n"],
    weight: Float[Tensor, "n n"],
    negative: Bool[Tensor, "n n"],
    shift: float,
    *,
    or_equal: bool = False,
) -> Counted:
    """k_ip = #{n: d_in < d_ip + shift} and c_in = sum of W_ip over {p: d_in < d_ip + shift}; with <= if asked.

    Both kinds of pairs of an anchor lie in one descending order, positives moved by the shift: what has gone by at a
    pair is counted.
    """
    positive = weight > 0
    first = positive if or_equal else negative
    order = _order(distance + shift * positive, first).argsort(dim=1, descending=True)
    chosen = negative.to(weight)
    farther = chosen.gather(1, order).cumsum(dim=1)
    before = weight.gather(1, order).cumsum(dim=1)
    closer = farther[:, -1:] - farther
    return Counted(
        torch.empty_like(weight).scatter_(1, order, closer).mul_(positive),
        torch.empty_like(weight).scatter_(1, order, before).mul_(chosen),
    )


def _order(distance: Float[Tensor, "n n"], first: Bool[Tensor, "n n"]) -> Tensor:
    """Whole numbers in the order of numbers not below 0, the last bit given to those that come first among equals."""
    bits = distance.view(torch.int32 if distance.dtype == torch.float32 else torch.int64)
    return (bits & -2) | first
