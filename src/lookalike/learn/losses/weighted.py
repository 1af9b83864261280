"""SupCon, Con and TRPL on soft positives (VSD 6): pure functions of vectors, weights and judgments.

`weight` is W, the positiveness between the images of two views: 1 between two views of one image, soft in between,
0 for none. `judged` says which pairs a person labelled (or are one image). The diagonals of both do not matter.
A positive has W > 0. A negative has W = 0 and is judged, or need not be with `unjudged="negative"`; with "ignore" an
unjudged pair with W = 0 takes no part at all.

z = v / |v| and d = |z_i - z_j|. A zero vector has no direction: its z is 0, so its cosine with all others is 0, its
distance 1 (to another zero vector 0), and it gets no gradient. Half-precision vectors are counted in float32, inside
autocast too; the gradient comes back in their own precision. NaN or infinite vectors give a NaN, so that a trainer
sees them. Each loss takes n^2 memory beside the vectors.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import torch
from torch import Tensor

from lookalike.core.checks import one_of
from lookalike.learn.losses.pairs import exact, pairs, require_number, roots, squared_distances
from lookalike.learn.losses.triplets import TRIPLETS, violating


class Loss(NamedTuple):
    """A loss to minimise, and how much of the batch it comes from; all tensors, so that no device is waited for."""

    value: Tensor  # a scalar with a gradient; 0 where nothing can be learned
    kept: Tensor  # anchors; for Con ordered pairs with W > 0
    skipped: Tensor  # anchors without a positive; for TRPL those without a chosen triplet; for Con 0
    negatives: Tensor  # ordered pairs that are negatives by the rule
    recall: float | None = None  # aR@1 of the batch's pairs, where they are left and right images


def supcon(
    vectors: Tensor, weight: Tensor, judged: Tensor, *, temperature: float = 0.1, unjudged: str = "negative"
) -> Loss:
    """The positives of an anchor are to stand out among all that take part (Khosla et al. 2020, Eq. 2; VSD 6.1).

    L_i = -sum_p W_ip log( exp(z_i.z_p / tau) / sum_a exp(z_i.z_a / tau) ) / sum_p W_ip; the loss is the mean of L_i
    over the anchors with a positive, others are skipped and counted. p runs over the positives of i, a over its
    positives and negatives.

    vectors (n, d), weight (n, n) in [0, 1], judged (n, n). Without an anchor left the value is 0. In float32 it
    is off by about 1e-7 / tau. ArgumentError: a temperature not above 0, an unknown `unjudged`, shapes that do not fit.

    >>> vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> weight = torch.tensor([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    >>> loss = supcon(vectors, weight, weight > 0, temperature=1.0)
    >>> round(loss.value.item(), 4), loss.kept.item(), loss.skipped.item(), loss.negatives.item()
    (0.3133, 2, 1, 4)
    """
    require_number(temperature, "temperature", zero=False)
    with exact(vectors):
        cosine, soft, negative = pairs(vectors, weight, judged, unjudged)
        score = cosine / temperature
        total = soft.sum(dim=1)
        kept = total > 0
        apart = ~(negative | (soft > 0))
        # The least number instead of minus infinity: an anchor that nothing takes part with must not end in NaN.
        every = score.masked_fill(apart, torch.finfo(score.dtype).min).logsumexp(dim=1)
        share = soft / total.masked_fill(~kept, 1).unsqueeze(1)
        each = (every - (share * score).sum(dim=1)).masked_fill(~kept, 0)
        anchors = kept.sum()
        return Loss(each.sum() / anchors.clamp(min=1), anchors, (~kept).sum(), negative.sum())


def contrastive(
    vectors: Tensor, weight: Tensor, judged: Tensor, *, margin: float = 1.0, unjudged: str = "negative"
) -> Loss:
    """Positives are to meet, negatives to keep a margin (Hadsell et al. 2006, Eq. 4, each half averaged, Con).

    L = sum_ij W_ij d_ij^2 / sum_ij W_ij + sum_in max(0, m - d_in)^2 / number of negatives (i, n), over ordered pairs.
    A half without a pair is 0.

    vectors (n, d), weight (n, n) in [0, 1], judged (n, n). Where d is 0 between negatives the gradient is 0.
    For the accuracy of d see `squared_distances`. ArgumentError: a margin below 0, an unknown `unjudged`, shapes that
    do not fit.

    >>> vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> weight = torch.tensor([[0.0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    >>> loss = contrastive(vectors, weight, weight > 0, margin=2.0)
    >>> round(loss.value.item(), 4), loss.kept.item(), loss.skipped.item(), loss.negatives.item()
    (2.1716, 2, 0, 4)
    """
    require_number(margin, "margin", zero=True)
    with exact(vectors):
        cosine, soft, negative = pairs(vectors, weight, judged, unjudged)
        squared = squared_distances(cosine)
        short = (margin - roots(squared)).clamp(min=0) * negative
        total, positives, negatives = soft.sum(), (soft > 0).sum(), negative.sum()
        pull = (soft * squared).sum() / total.masked_fill(total == 0, 1)
        push = short.square().sum() / negatives.clamp(min=1)
        return Loss(pull + push, positives, torch.zeros_like(positives), negatives)


def triplet(
    vectors: Tensor,
    weight: Tensor,
    judged: Tensor,
    *,
    margin: float = 0.2,
    triplets: str = "all",
    unjudged: str = "negative",
) -> Loss:
    """Each negative is to lie a margin farther off than each positive (Weinberger et al. 2005, TRPL).

    L = sum_ipn W_ip max(0, d_ip - d_in + m) / sum_ipn W_ip over the chosen triplets: positives p, negatives n of i.
    `triplets`: "all"; "hard", d_in < d_ip; "semihard", d_ip < d_in < d_ip + m. Without a triplet the value is 0.
    Which triplets cost something does not change with small steps. So with k_ip negatives and c_in weights of positives
    in them L is sum_ip W_ip k_ip (d_ip + m) - sum_in c_in d_in over the same denominator: n^2 terms, not n^3.

    vectors (n, d), weight (n, n) in [0, 1], judged (n, n). Where d is 0 its gradient is 0. For the accuracy of d see
    `squared_distances`. ArgumentError: a margin below 0, unknown `triplets` or `unjudged`, shapes that do not fit.

    >>> vectors = torch.tensor([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    >>> weight = torch.tensor([[0.0, 0.5, 0], [0.5, 0, 0], [0, 0, 0]])
    >>> loss = triplet(vectors, weight, weight > 0, margin=1.0)
    >>> round(loss.value.item(), 4), loss.kept.item(), loss.skipped.item(), loss.negatives.item()
    (0.7071, 2, 1, 4)
    """
    require_number(margin, "margin", zero=True)
    one_of(triplets, TRIPLETS, "triplets")
    with exact(vectors):
        cosine, soft, negative = pairs(vectors, weight, judged, unjudged)
        distance = roots(squared_distances(cosine))
        closer, heavier = violating(distance.detach(), soft, negative, margin, triplets)
        cost = soft * closer
        # A row of slopes adds up to 0: taking its mean off the distances leaves smaller numbers to cancel.
        middle = distance.detach().mean(dim=1, keepdim=True)
        violation = ((cost - heavier) * (distance - middle)).sum() + margin * cost.sum()
        if triplets == "all":
            cost = soft * negative.sum(dim=1, keepdim=True)
        total, kept = cost.sum(), (cost > 0).any(dim=1)
        value = violation / total.masked_fill(total == 0, 1)
        return Loss(value, kept.sum(), (~kept).sum(), negative.sum())


LOSSES: Mapping[str, Callable[..., Loss]] = MappingProxyType(
    {"supcon": supcon, "con": contrastive, "trpl": triplet}
)
