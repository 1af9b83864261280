"""Several layers of a network as one vector, from one pass: `?layers=layer1,layer2,layer3,layer4`."""

from collections.abc import Sequence
from contextvars import ContextVar
from functools import partial
from math import isqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from lookalike.core.errors import EncoderError

LISTED = 12  # names in an error
CLASS = ("cls_token", "class_token", "class_embedding")
PREFIX = (
    *CLASS,
    "dist_token",
    "distillation_token",
    "reg_token",
    "register_tokens",
)  # parameters that are tokens

# One per pass, because several threads share a network.
_pooled: ContextVar[dict[str, Tensor]] = ContextVar("pooled")


class Layers(nn.Module):
    """A network whose vector is the concatenation of some of its layers' outputs, in the order given.

        x -> ( p_1 / |p_1|, ..., p_L / |p_L| ),    p_l = the mean of layer l's output over space, by channel

    Source: ADAPT 3.2. Maps are averaged over their positions, and tokens over those of the patches. A zero p_l
    stays zero. If a layer runs several times in a pass, its last output counts.

    >>> network = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), nn.Conv2d(4, 2, 3))
    >>> found = Layers(network, ["0", "2"])(torch.ones(5, 3, 8, 8))
    >>> found.shape, torch.allclose(found[:, :4].norm(dim=1), torch.ones(5))
    (torch.Size([5, 6]), True)
    """

    def __init__(self, network: nn.Module, names: Sequence[str]) -> None:
        super().__init__()
        self.network, self.names = network, tuple(names)
        prefix = prefix_tokens(network)
        for name in dict.fromkeys(self.names):
            layer = network.get_submodule(name)
            widths = frozenset(value.shape[0] for value in layer.parameters() if value.ndim)
            layer.register_forward_hook(partial(_pool, name, widths, prefix))

    def forward(self, photos: Tensor) -> Tensor:
        """Photos to the vectors of the layers."""
        found: dict[str, Tensor] = {}
        token = _pooled.set(found)
        try:
            self.network(photos)
        finally:
            _pooled.reset(token)
        for name in self.names:
            if name not in found or found[name].shape[0] != photos.shape[0]:
                raise EncoderError(
                    f"The layer {name!r} gives no vector per photo.",
                    fix="Name another layer, or one around it.",
                )
        return torch.cat([normalize(found[name], dim=1) for name in self.names], dim=1)


def with_layers(network: nn.Module, layers: str | None, label: str) -> nn.Module:
    """The network, or those of its layers that `?layers=` names. The error for an unknown name lists the known ones."""
    if layers is None:
        return network
    names, there = layers.split(","), dict(network.named_modules())
    for name in names:
        if not name or name not in there:
            above = name.rpartition(".")[0]
            while above not in there:
                above = above.rpartition(".")[0]
            inner = [f"{above}.{one}".lstrip(".") for one, _ in there[above].named_children()]
            if len(inner) > LISTED:
                inner = [*inner[: LISTED - 1], "...", inner[-1]]
            raise EncoderError(
                f"{label}: the network has no layer {name!r}.",
                fix=f"{above or 'The network'} has {', '.join(inner) or 'no layers inside'}.",
            )
    return Layers(network, names)


def prefix_tokens(network: nn.Module) -> int:
    """The number of class, distillation and register tokens of a transformer, which come before those of patches."""
    for part in network.modules():
        if isinstance(count := getattr(part, "num_prefix_tokens", None), int):  # timm's own count
            return count
    named = (value for name, value in network.named_parameters() if name.rpartition(".")[2] in PREFIX)
    return sum(value.shape[-2] if value.ndim > 1 else 1 for value in named)


def _pool(name: str, widths: frozenset[int], prefix: int, _: nn.Module, __: object, output: object) -> None:
    """Average a layer's output and keep it for the pass that is running."""
    first = output[0] if isinstance(output, tuple | list) and output else output
    if not isinstance(first, Tensor) or first.ndim not in (2, 3, 4):
        return
    _pooled.get()[name] = pooled(first, widths, prefix)


def pooled(output: Tensor, widths: frozenset[int], prefix: int) -> Tensor:
    """One vector per photo: (n, c, h, w) and (n, h, w, c) averaged over space, (n, tokens, c) over the patches' tokens.

    The channels are the axis that is as long as one of the layer's parameters (`widths`); where both or none are, the
    axis that differs from the others.
    """
    if output.ndim == 2:
        return output.float()
    if output.ndim == 3:
        # A square number of tokens is a grid of patches: some networks add the class token later.
        whole = isqrt(output.shape[1]) ** 2 == output.shape[1]
        return output[:, 0 if whole else prefix :].mean(1, dtype=torch.float32)
    _, first, middle, last = output.shape
    square = first == middle != last
    channels_last = last in widths if (first in widths) != (last in widths) else square
    return output.mean((1, 2) if channels_last else (2, 3), dtype=torch.float32)
