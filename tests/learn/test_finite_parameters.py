"""A run ends where a parameter is no longer finite, whichever way."""

import pytest
import torch
from torch import nn

from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.learn.finetune import _finite


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("place", [0, 7, 11])
def test_one_number_that_is_not_finite_is_found(value, place):
    head = ProjectionHead.seeded(4, 3, seed=0)
    assert _finite(head)
    with torch.no_grad():
        head.last.weight.view(-1)[place] = value
    assert not _finite(head)


def test_the_largest_finite_numbers_are_finite():
    head = ProjectionHead.seeded(4, 3, seed=0)
    with torch.no_grad():
        head.first.weight.fill_(torch.finfo(torch.float32).max)
    assert _finite(head)
    assert _finite(nn.BatchNorm1d(3))  # counts batches in a whole number
