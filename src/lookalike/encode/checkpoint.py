"""A network, or a head on another encoder, kept with all that it takes to use it again.

`checkpoint:run-7` names such a folder, in the workspace's models/ or elsewhere.

    checkpoint.json       of a network its encoder string, of a head the encoder it is on (checkpoint_file.py)
    weights.safetensors   a network's parameters, without a classifier
    head.safetensors      a head's parameters
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import torch
from safetensors.torch import save
from torch import nn

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.checkpoint_file import (
    FORMAT,
    HeadAbout,
    head_about,
    heads_down,
    not_ours,
    read_about,
    require_folder,
)
from lookalike.encode.encoder import Encoder
from lookalike.encode.head import Head
from lookalike.encode.headed import Headed
from lookalike.encode.libraries import build_module
from lookalike.encode.network import Network
from lookalike.encode.preprocessing import Preprocessing
from lookalike.encode.spec import ABOUT, EncoderSpec, parse
from lookalike.encode.weights import read_weights

WEIGHTS, HEAD = "weights.safetensors", "head.safetensors"


@dataclass(frozen=True, eq=False)
class HeadCheckpoint:
    """A head as it was kept: what made the vectors it was trained on, itself, and what it was trained with."""

    base: Origin
    head: Head
    learned: Mapping[str, Any]


def checkpoint_files(network: str, module: nn.Module, preprocessing: Preprocessing) -> dict[str, bytes]:
    """The files of a network's checkpoint folder, by name; whoever owns the disk writes them.

    `network` is the encoder string the module was made from, without `weights`; only its structure is taken from it.
    They are of format 1, which earlier versions open too.
    """
    about = {"format": 1, "network": network, "preprocessing": asdict(preprocessing)}
    return {WEIGHTS: _tensors(module), ABOUT: _json(about)}


def head_files(base: Origin, head: Head, learned: Mapping[str, Any]) -> dict[str, bytes]:
    """The files of a head's checkpoint folder, by name; whoever owns the disk writes them, checkpoint.json last.

    `base` is the origin of the vectors the head was trained on, `learned` anything that JSON holds.
    """
    about = {
        "format": FORMAT,
        "encoder": base.spec,
        "weights": base.weights,
        "preprocessing": base.preprocessing,
        "precision": base.precision,
        "head": {"features": head.features, "projection": head.projection},
        "learned": dict(learned),
    }
    return {HEAD: _tensors(head), ABOUT: _json(about)}


def read_head(folder: Path, said: str = "") -> HeadCheckpoint:
    """The head in a checkpoint folder; `said` names it in errors.

    Raises EncoderError where the folder holds no head, or one that is damaged.
    """
    said = said or str(folder)
    about = head_about(read_about(folder, said), folder, said)
    if about is None:
        raise EncoderError(
            f"{said} is a checkpoint of a whole network, not of a head.",
            fix="Name the checkpoint of a head: lookalike finetune writes one.",
        )
    return HeadCheckpoint(
        about.base, _head(about, folder / HEAD, said), MappingProxyType(dict(about.learned))
    )


def open_checkpoint(spec: EncoderSpec, base: Path, opener: Callable[[EncoderSpec, Path], Encoder]) -> Encoder:
    """The encoder in a checkpoint folder: `NAME` is looked for as `base`/models/NAME, `base`/NAME, then NAME.

    `opener` opens the encoder that a head is on.
    """
    folder = require_folder(spec, base)
    about = read_about(folder, str(spec))
    if about["format"] < 2:
        return _open_network(spec, folder, about)
    heads_down(spec, base)  # refuses one that comes to itself
    if spec.options:
        raise EncoderError(
            f"{spec}: the checkpoint of a head takes no option {spec.options[0][0]!r}; its encoder's are in {ABOUT}.",
            fix="Leave it out.",
        )
    held = read_head(folder, str(spec))
    return Headed.of(spec, held.base, held.head, opener(parse(held.base.spec), base))


def _open_network(spec: EncoderSpec, folder: Path, about: Mapping[str, Any]) -> Network:
    options = dict(spec.options)
    if unknown := sorted(set(options) - {"precision"}):
        raise EncoderError(
            f"{spec}: a checkpoint takes no option {unknown[0]!r}; its own are in {ABOUT}.",
            fix="Leave it out.",
        )
    network, preprocessing = _network_about(spec, folder, about)
    module = build_module(network, folder / WEIGHTS).module
    return Network.of(spec, module, preprocessing, options.get("precision"))


def _network_about(
    spec: EncoderSpec, folder: Path, about: Mapping[str, Any]
) -> tuple[EncoderSpec, Preprocessing]:
    try:
        network, told = about["network"], about["preprocessing"]
        if not isinstance(network, str) or not isinstance(told, dict) or "size" not in told:
            raise ValueError("it names no network, or no preprocessing with a size")
        return parse(network), Preprocessing.of_values(told, f"{spec}, {ABOUT}")
    except (ValueError, KeyError, TypeError) as error:
        raise not_ours(folder, str(spec), error) from None


def _head(about: HeadAbout, file: Path, said: str) -> Head:
    """The head of a file that holds exactly its parameters, all of them finite."""
    if not file.is_file():
        raise _damaged(said, f"there is no {HEAD}")
    state = read_weights(file)
    with torch.device("meta"):  # shapes only: what an edited file asks for may be larger than memory
        wanted = _sizes(Head(about.features, about.projection).state_dict())
    given = _sizes(state)
    if given != wanted:
        raise _damaged(said, f"{HEAD} holds {_shapes(given)}, where {ABOUT} says {_shapes(wanted)}")
    if not all(torch.isfinite(value).all() for value in state.values()):
        raise _damaged(said, f"{HEAD} holds NaN or infinite values")
    head = Head.empty(about.features, about.projection)
    head.load_state_dict(state)
    return head


def _sizes(state: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in state.items()}


def _shapes(state: Mapping[str, tuple[int, ...]]) -> str:
    listed = [f"{name} {'x'.join(map(str, shape))}" for name, shape in sorted(state.items())[:4]]
    return ", ".join(listed) or "nothing"


def _damaged(said: str, what: str) -> EncoderError:
    return EncoderError(
        f"{said}: this checkpoint is damaged: {what}.",
        fix="Restore its folder from a copy, or train it again under another name.",
    )


def _tensors(module: nn.Module) -> bytes:
    return bytes(
        save({name: value.detach().cpu().contiguous() for name, value in module.state_dict().items()})
    )


def _json(about: Mapping[str, Any]) -> bytes:
    return (json.dumps(about, indent=2) + "\n").encode()
