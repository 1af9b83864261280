"""Small batches for the tests of the losses: vectors, soft weights, judgments; and the losses with their settings."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest
from oracles import pulling
from torch import Tensor

from lookalike.learn.losses.weighted import Loss, contrastive, supcon, triplet

torch = pytest.importorskip("torch")


class Batch(NamedTuple):
    """What every loss takes."""

    vectors: Tensor
    weight: Tensor
    judged: Tensor


def batch(seed: int, n: int = 12, dimension: int = 5, *, views: int = 1, hard: bool = False) -> Batch:
    """Float64 vectors in loose clusters; W symmetric, 1 between views of one image, elsewhere soft or 0 and 1."""
    random = torch.Generator().manual_seed(seed)
    images = -(-n // views)
    centre = torch.randn(3, dimension, generator=random, dtype=torch.float64)
    near = centre[torch.randint(0, 3, (images,), generator=random)]
    image = torch.arange(n) % images
    vectors = near[image] + torch.randn(n, dimension, generator=random, dtype=torch.float64)
    upper = torch.rand(images, images, generator=random, dtype=torch.float64).triu(1)
    soft = torch.where(upper > 0.75, torch.ones_like(upper) if hard else upper, torch.zeros_like(upper))
    labelled = (torch.rand(images, images, generator=random) < 0.4).triu(1)
    same = torch.eye(images, dtype=torch.bool)
    weight = (soft + soft.T + same)[image][:, image]
    judged = (labelled | labelled.T | same)[image][:, image]
    return Batch(vectors, weight, judged)


class Kind(NamedTuple):
    """A loss with its settings, and the same in the oracle."""

    name: str
    loss: Callable[..., Loss]
    oracle: Callable[..., pulling.Outcome]


KINDS = [
    Kind("supcon", partial(supcon, temperature=0.1), partial(pulling.supcon, temperature=0.1)),
    Kind("supcon cold", partial(supcon, temperature=0.01), partial(pulling.supcon, temperature=0.01)),
    Kind("con", partial(contrastive, margin=1.0), partial(pulling.contrastive, margin=1.0)),
    *(
        Kind(
            f"trpl {rule} {margin}",
            partial(triplet, margin=margin, triplets=rule),
            partial(pulling.triplet, margin=margin, triplets=rule),
        )
        for rule in ("all", "hard", "semihard")
        for margin in (0.2, 0.6)
    ),
]
NAMES = [kind.name for kind in KINDS]
each_kind = pytest.mark.parametrize("kind", KINDS, ids=NAMES)
each_rule = pytest.mark.parametrize("unjudged", ["negative", "ignore"])


def value_and_gradient(kind: Kind, vectors: Tensor, *others: Tensor, unjudged: str = "negative"):
    """The loss at the vectors, and its slope there."""
    leaf = vectors.detach().clone().requires_grad_()
    loss = kind.loss(leaf, *others, unjudged=unjudged)
    loss.value.backward()
    return loss, leaf.grad
