"""Checkpoints: a network, or a head on another encoder, with everything that is needed to use it again.

`checkpoint:run-7` names such a folder, in the workspace's models/ or elsewhere.

    checkpoint.json       of a network its encoder string, of a head the encoder it is on (checkpoint_file.py)
    weights.safetensors   a network's parameters, without a classifier
    head.safetensors      a head's parameters; a network that was trained here may have one too
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import torch
from jaxtyping import Float32
from safetensors.torch import save
from torch import nn

from lookalike.core.errors import ArgumentError, EncoderError
from lookalike.core.types import Origin
from lookalike.encode.encoder import Encoder
from lookalike.encode.heads.head import Head, apply_head, placed
from lookalike.encode.heads.kinds import KINDS
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.network import Network, share_cores
from lookalike.encode.sources.checkpoint_file import (
    HEADS,
    NETWORK,
    OTHER_HEAD,
    TRAINED,
    HeadAbout,
    head_about,
    headed_origin,
    made_about,
    not_ours,
    read_about,
    require_folder,
    require_plain,
    require_unchanged,
)
from lookalike.encode.spec import ABOUT, HEAD, WEIGHTS, EncoderSpec, parse
from lookalike.encode.weights import parameters_hash, read_weights


@dataclass(frozen=True, eq=False)
class HeadCheckpoint:
    """A stored head: the origin of the vectors it was trained on, the head, and its training settings."""

    base: Origin
    head: Head
    learned: Mapping[str, Any]


class Headed:
    """A trained head on its encoder: photos are prepared and encoded by the encoder, then the head is applied."""

    def __init__(self, spec: EncoderSpec, held: HeadCheckpoint, base: Encoder) -> None:
        given, taken = base.dimension, held.head.features
        other = (
            [f"its vectors have {given:,} numbers, and the head takes {taken:,}"] if given != taken else []
        )
        require_unchanged(spec, held.base, base.origin, *other)
        self.origin = headed_origin(spec, base.origin, parameters_hash(held.head))
        self.base = base
        self.prepare, self.size_hint = base.prepare, base.size_hint
        self.batch, self.threads = base.batch, base.threads
        self.dimension = held.head.projection
        self.head = placed(held.head)

    def vectors(self, ready: np.ndarray) -> Float32[np.ndarray, "photos dimension"]:
        """Prepared photos, stacked, to their vectors."""
        found = self.base.vectors(ready)
        share_cores(self.head.device)
        return apply_head(self.head, found)


def checkpoint_files(network: str, module: nn.Module, preprocessing: Preprocessing) -> dict[str, bytes]:
    """The files of a network's checkpoint folder, by name; the caller writes them.

    `network` is the encoder string the module was made from, without `weights`; only its structure is taken from it.
    They are of format 1.
    """
    about = {"format": NETWORK, "network": network, "preprocessing": asdict(preprocessing)}
    return {WEIGHTS: _tensors(module), ABOUT: _json(about)}


def head_files(
    base: Origin, head: Head, learned: Mapping[str, Any], fitted: Mapping[str, Any] | None = None
) -> dict[str, bytes]:
    """The files of a head's checkpoint folder, by name; the caller writes them, checkpoint.json last.

    `base` is the origin of the vectors the head was trained on, `learned` and `fitted` are records of
    a training on labels and of a fit without them: anything that JSON holds.
    """
    sizes = head.sizes if head.kind in HEADS else {"kind": head.kind, **head.sizes}
    about = {
        "format": HEADS.get(head.kind, OTHER_HEAD),
        "encoder": base.spec,
        "weights": base.weights,
        "preprocessing": base.preprocessing,
        "precision": base.precision,
        "head": sizes,
        "learned": dict(learned),
    }
    return {HEAD: _tensors(head), ABOUT: _json(about | ({"fitted": dict(fitted)} if fitted else {}))}


def network_files(
    network: str,
    module: nn.Module,
    preprocessing: Preprocessing,
    head: Head | None,
    base: Origin,
    learned: Mapping[str, Any],
) -> dict[str, bytes]:
    """The files of a network that was trained here, from the encoder `base`; checkpoint.json is last."""
    started = {
        "encoder": base.spec,
        "weights": base.weights,
        "preprocessing": base.preprocessing,
        "precision": base.precision,
    }
    about = {
        "format": TRAINED,
        "network": network,
        "preprocessing": asdict(preprocessing),
        "started": started,
    }
    sizes = {} if head is None else {"head": {"kind": head.kind, **head.sizes}}
    files = {WEIGHTS: _tensors(module)} | ({} if head is None else {HEAD: _tensors(head)})
    return files | {ABOUT: _json(about | sizes | {"learned": dict(learned)})}


def read_head(folder: Path, label: str = "") -> HeadCheckpoint:
    """The head in a checkpoint folder; `label` is its name in errors.

    Raises EncoderError where the folder holds no head, or one that is damaged.
    """
    label = label or str(folder)
    about = made_about(read_about(folder, label), folder, label)
    if not isinstance(about, HeadAbout):
        kind = "a whole network" if about is None else "a blend of encoders"
        raise EncoderError(
            f"{label} is a checkpoint of {kind}, not of a head.",
            fix="Name the checkpoint of a head: lookalike finetune writes one.",
        )
    head = _filled(_empty_head(about, folder, label), folder / HEAD, label)
    return HeadCheckpoint(about.base, head, MappingProxyType(dict(about.learned)))


def open_checkpoint(spec: EncoderSpec, base: Path, opener: Callable[[EncoderSpec, Path], Encoder]) -> Encoder:
    """The encoder in a checkpoint folder: `NAME` is looked for as `base`/models/NAME, `base`/NAME, then NAME.

    `opener` opens the encoder that a head is on.
    """
    folder = require_folder(spec, base)
    about = read_about(folder, str(spec))
    if about["format"] <= NETWORK:
        return _open_network(spec, folder, about)
    if about["format"] == TRAINED:
        return _open_trained(spec, folder, about)
    require_plain(spec, base)
    held = read_head(folder, str(spec))
    return Headed(spec, held, opener(parse(held.base.spec), base))


def _open_network(spec: EncoderSpec, folder: Path, about: Mapping[str, Any]) -> Network:
    options = dict(spec.options)
    if unknown := sorted(set(options) - {"precision", "layers", "region"}):
        raise EncoderError(
            f"{spec}: a checkpoint takes no option {unknown[0]!r}; its own are in {ABOUT}.",
            fix="Leave it out.",
        )
    from lookalike.encode.sources.libraries import (
        backbone_of,  # loads timm and torchvision, which a head needs not
    )

    network, preprocessing = _network_about(spec, folder, about)
    return Network.of(spec, backbone_of(network, folder / WEIGHTS).module, preprocessing, options)


def _open_trained(spec: EncoderSpec, folder: Path, about: Mapping[str, Any]) -> Encoder:
    """A network that was trained here, with its head."""
    network = _open_network(spec, folder, about)
    if "head" not in about:
        return network
    try:
        described = head_about(about)
    except (ValueError, KeyError, TypeError, EncoderError) as error:
        raise not_ours(folder, str(spec), error) from None
    head = _filled(_empty_head(described, folder, str(spec)), folder / HEAD, str(spec))
    return Headed(spec, HeadCheckpoint(network.origin, head, described.learned), network)


def _network_about(
    spec: EncoderSpec, folder: Path, about: Mapping[str, Any]
) -> tuple[EncoderSpec, Preprocessing]:
    try:
        network, values = about["network"], about["preprocessing"]
        if not isinstance(network, str) or not isinstance(values, dict) or "size" not in values:
            raise ValueError("it names no network, or no preprocessing with a size")
        return parse(network), Preprocessing.of_values(values, f"{spec}, {ABOUT}")
    except (ValueError, KeyError, TypeError) as error:
        raise not_ours(folder, str(spec), error) from None


def _empty_head(about: HeadAbout, folder: Path, label: str) -> Head:
    """The head without its parameters; of an edited file they may be larger than memory."""
    if about.kind not in KINDS:
        raise EncoderError(
            f"{label} is a head of the kind {about.kind!r:.40}, which this Lookalike does not know.",
            fix=f"Install the Lookalike that wrote it. Known kinds: {', '.join(KINDS)}.",
        )
    try:
        with torch.device("meta"):
            return KINDS[about.kind](**about.sizes)
    except (TypeError, ArgumentError) as error:
        raise not_ours(folder, label, error) from None


def _filled(head: Head, file: Path, label: str) -> Head:
    """The head with the parameters of a file, which holds exactly them, all of them finite."""
    if not file.is_file():
        raise _damaged(label, f"there is no {HEAD}")
    state = read_weights(file)
    given, wanted = _sizes(state), _sizes(head.state_dict())
    if given != wanted:
        raise _damaged(label, f"{HEAD} holds {_shapes(given)}, where {ABOUT} says {_shapes(wanted)}")
    if not all(torch.isfinite(value).all() for value in state.values()):
        raise _damaged(label, f"{HEAD} holds NaN or infinite values")
    head = head.to_empty(device="cpu")
    head.load_state_dict(state)
    return head


def _sizes(state: Mapping[str, torch.Tensor]) -> dict[str, tuple[int, ...]]:
    return {name: tuple(value.shape) for name, value in state.items()}


def _shapes(state: Mapping[str, tuple[int, ...]]) -> str:
    listed = [f"{name} {'x'.join(map(str, shape))}" for name, shape in sorted(state.items())[:4]]
    return ", ".join(listed) or "nothing"


def _damaged(label: str, what: str) -> EncoderError:
    return EncoderError(
        f"{label}: this checkpoint is damaged: {what}.",
        fix="Restore its folder from a backup, or train it again under another name.",
    )


def _tensors(module: nn.Module) -> bytes:
    return bytes(
        save({name: value.detach().cpu().contiguous() for name, value in module.state_dict().items()})
    )


def _json(about: Mapping[str, Any]) -> bytes:
    return (json.dumps(about, indent=2) + "\n").encode()
