"""The loss of an adaptation head: each image of a pair is to find the other among all pairs at once (ADAPT 3.3)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from lookalike.evaluate.measures.asymmetric_recall import asymmetric_recall, pair_places
from lookalike.learn.losses.pairs import exact, require_number
from lookalike.learn.losses.weighted import Loss


def symmetric(
    vectors: Float[Tensor, "images d"], apart: Bool[Tensor, "n n"] | None, *, sigma: float = 15.0
) -> Loss:
    """Symmetric cross-entropy of the full cosine matrix with the identity. Source: ADAPT Eq. 1.

        C_ij = cos(l_i, r_j)
        L = 1 / 2n * sum_i ( -log softmax_j(sigma C_ij)_i - log softmax_j(sigma C_ji)_i )

    vectors (2n, d): the n left images, then the n right ones. `apart` (n, n) marks entries that take no part: other
    known positives and other photos of the same item. It is False on the diagonal; None means that there are none,
    which is the paper's case. A zero vector has cosine 0 with all others and gets no gradient. `recall` is aR@1 of the
    same matrix, so it is that of the parameters before the step.

    ArgumentError: a sigma not above 0.

    >>> loss = symmetric(torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), None, sigma=1.0)
    >>> round(loss.value.item(), 4), loss.recall
    (0.3133, 1.0)
    """
    require_number(sigma, "sigma", zero=False)
    with exact(vectors):
        wide = vectors.double() if vectors.dtype == torch.float64 else vectors.float()
        cosine = pair_cosines(wide, apart)
        score = sigma * cosine
        directions = score.logsumexp(1) + score.logsumexp(0)
        value = directions.mean() / 2 - score.diagonal().mean()
    count = torch.tensor(len(cosine))
    others = count * (count - 1) - (0 if apart is None else apart.sum().cpu())
    recall = asymmetric_recall(pair_places(cosine.detach()), 1)
    return Loss(value, count, torch.zeros_like(count), others, recall)


def pair_cosines(
    vectors: Float[Tensor, "images d"], apart: Bool[Tensor, "n n"] | None
) -> Float[Tensor, "n n"]:
    """Cosines of each left image (first half of the rows) with each right one; minus infinity where `apart`.

    >>> pair_cosines(torch.tensor([[2.0, 0.0], [0.0, 0.0]]), None)
    tensor([[0.]])
    """
    left, right = _units(vectors).chunk(2)
    cosine = left @ right.T
    return cosine if apart is None else cosine.masked_fill(apart, -torch.inf)


def _units(vectors: Float[Tensor, "images d"]) -> Float[Tensor, "images d"]:
    """Rows of length 1; a zero row stays zero, and its gradient is 0."""
    length = torch.linalg.vector_norm(vectors, dim=1, keepdim=True)
    zero = length == 0
    return torch.where(zero, 0.0, vectors / length.masked_fill(zero, 1))
