"""Several layers of a network as one vector, from one pass: `?layers=layer1,layer2,layer3,layer4`.

With `region=pool`, their outputs are averaged inside the region of each photo; without `layers`, the last map is.
"""

from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import partial
from math import isqrt

import torch
from torch import Tensor, nn
from torch.nn.functional import adaptive_avg_pool2d, normalize

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


@dataclass
class Pass:
    """One pass through a network: the weights of its photos' pixels (None: all equal), and the layers' vectors."""

    weights: Tensor | None
    found: dict[str, Tensor] = field(default_factory=dict)


_pass: ContextVar[Pass] = ContextVar("pass")  # one for each thread, because several share a network


class Layers(nn.Module):
    """A network whose vector is the concatenation of some of its layers' outputs, in the order given.

        x -> ( p_1 / |p_1|, ..., p_L / |p_L| ),    p_l = the mean of layer l's output over space, by channel
        in a region:                               p_l = sum_ij w_ij f_ij / sum_ij w_ij

    w_ij is the mean weight of the pixels of cell (i, j); the cells divide the photo evenly. Source: ADAPT 3.2. Maps
    are averaged over their positions, and tokens over those of the patches. A zero p_l stays zero. If a layer runs
    several times in a pass, its last output counts.

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

    def forward(self, photos: Tensor, weights: Tensor | None = None) -> Tensor:
        """Photos to the vectors of the layers; `weights` (n, 1, height, width) are of the photos' pixels."""
        here = Pass(weights)
        token = _pass.set(here)
        try:
            self.network(photos)
        finally:
            _pass.reset(token)
        found = here.found
        for name in self.names:
            if name not in found or found[name].shape[0] != photos.shape[0]:
                raise EncoderError(
                    f"The layer {name!r} gives no vector per photo.",
                    fix="Name another layer, or one around it.",
                )
        return torch.cat([normalize(found[name], dim=1) for name in self.names], dim=1)


def with_layers(
    network: nn.Module, layers: str | None, label: str, region: tuple[int, int] | None = None
) -> nn.Module:
    """The network, or those of its layers that `?layers=` names. The error for an unknown name lists the known ones.

    For region=pool, `region` is the height and width of the network's input, and the last map is the default.
    """
    if layers is None and region is not None:
        layers = last_map(network, region, label)
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


def last_map(network: nn.Module, size: tuple[int, int], label: str) -> str:
    """The name of the last layer whose output has positions: what the network itself averages."""
    names = list[str]()
    with torch.inference_mode():
        handles = [
            part.register_forward_hook(partial(_note_map, names, name))
            for name, part in network.named_modules()
            if name
        ]
        network.eval()(torch.zeros(1, 3, *size))
    for handle in handles:
        handle.remove()
    if not names:
        raise EncoderError(
            f"{label}: the network has no feature map to average in a region.", fix="Use region=crop."
        )
    return names[-1]


def _note_map(names: list[str], name: str, _: nn.Module, __: object, output: object) -> None:
    if isinstance(output, Tensor) and output.ndim in (3, 4) and sum(one > 1 for one in output.shape[1:]) > 1:
        names.append(name)


def _pool(name: str, widths: frozenset[int], prefix: int, _: nn.Module, __: object, output: object) -> None:
    """Average a layer's output and keep it for the pass that is running."""
    first = output[0] if isinstance(output, tuple | list) and output else output
    if not isinstance(first, Tensor) or first.ndim not in (2, 3, 4):
        return
    here = _pass.get()
    try:
        here.found[name] = pooled(first, widths, prefix, here.weights)
    except NoPositionsError:
        raise EncoderError(
            f"The layer {name!r} gives no map of the photo, so it cannot be averaged in a region.",
            fix="Name an earlier layer, or use region=crop.",
        ) from None


class NoPositionsError(Exception):
    """A layer's output has no grid of positions."""


def pooled(output: Tensor, widths: frozenset[int], prefix: int, weights: Tensor | None = None) -> Tensor:
    """One vector per photo: (n, c, h, w) and (n, h, w, c) averaged over space, (n, tokens, c) over the patches' tokens.

    The channels are the axis that is as long as one of the layer's parameters (`widths`); where both or none are, the
    axis that differs from the others. With `weights` of the pixels, the average is weighted by theirs.
    """
    if output.ndim == 2:
        if weights is not None:
            raise NoPositionsError
        return output.float()
    if output.ndim == 3:
        whole = (
            isqrt(output.shape[1]) ** 2 == output.shape[1]
        )  # a grid without a class token, which may join later
        if weights is None:
            return output[:, 0 if whole else prefix :].mean(1, dtype=torch.float32)
        return _weighted(_grid(output, prefix, *weights.shape[2:]), weights)
    _, first, middle, last = output.shape
    square = first == middle != last
    channels_last = last in widths if (first in widths) != (last in widths) else square
    if weights is not None:
        return _weighted(output.permute(0, 3, 1, 2) if channels_last else output, weights)
    return output.mean((1, 2) if channels_last else (2, 3), dtype=torch.float32)


def _grid(tokens: Tensor, prefix: int, height: int, width: int) -> Tensor:
    """The tokens of patches, with or without others before them, as a map (n, c, h, w) of the photo's proportions."""
    for patches in (tokens[:, prefix:], tokens):
        rows = isqrt(patches.shape[1] * height // width)
        if rows and rows * rows * width == patches.shape[1] * height:
            return patches.reshape(len(patches), rows, -1, patches.shape[2]).permute(0, 3, 1, 2)
    raise NoPositionsError


def _weighted(features: Tensor, weights: Tensor) -> Tensor:
    """The mean of (n, c, h, w) features over space, weighted by those of the pixels of each cell."""
    height, width = features.shape[2:]
    cells = adaptive_avg_pool2d(weights.float(), (height, width))
    return (features.float() * cells).sum((2, 3)) / cells.sum((2, 3))
