"""Local weights: a file read without running any code of it, fitted to a network, and hashed."""

import hashlib
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import nn

from lookalike.core.checks import shortened
from lookalike.core.errors import EncoderError

WRAPPERS = ("state_dict", "model", "model_state_dict", "teacher", "student")
PREFIXES = ("module.", "_orig_mod.", "backbone.", "encoder.", "model.")

COUNTER = "num_batches_tracked"  # older files lack it, and nothing here reads it

State = dict[str, torch.Tensor]


def weights_file(given: str, base: Path, spec: str) -> Path:
    """The file that `?weights=` names, under `base` or the current folder."""
    for folder in (base, Path()):
        if given and (folder / given).is_file():
            return folder / given
    raise EncoderError(
        f"{spec}: there is no weights file {given!r}.",
        fix="Give the path of a .safetensors or .pth file, from the current folder or as an absolute path.",
    )


def read_weights(file: Path) -> State:
    """The parameters in a safetensors file or a file of torch.save; of the latter only tensors are read."""
    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what is wrong with a file is said below
            return _unwrapped(torch.load(file, map_location="cpu", weights_only=True))
    except EncoderError:
        raise
    except Exception as error:  # a reader of a damaged file fails in any way there is
        said = str(error).strip().split("\n", 1)[0][:200] or type(error).__name__
        if "weights_only" in said:
            said = "it is no file of tensors that torch.save wrote"
        raise EncoderError(
            f"{file} cannot be read as weights: {said}.",
            fix="Give a .safetensors file, or one that torch.load(..., weights_only=True) reads.",
        ) from None


def fit(module: nn.Module, state: State, spec: str, file: Path, *, head: tuple[str, ...] = ()) -> None:
    """Load parameters into a network whose classifier (names that begin with one of `head`) is gone.

    Every other name and every shape must agree: weights of another network are refused, with what differs.
    """
    wanted = {name: tuple(value.shape) for name, value in module.state_dict().items()}
    state = _without_prefix(state, wanted)
    given = {
        name: tuple(value.shape)
        for name, value in state.items()
        if name in wanted or not any(name == part or name.startswith(f"{part}.") for part in head)
    }
    missing = [name for name in wanted if name not in given and not name.endswith(COUNTER)]
    unknown = [name for name in given if name not in wanted]
    other = [name for name in wanted if name in given and given[name] != wanted[name]]
    if missing or unknown or other:
        told = _difference(wanted, given, missing, unknown, other)
        raise EncoderError(
            f"{spec}: {file.name} holds the weights of another network: {'; '.join(told)}.",
            fix="Name the network these weights were trained for, with the keyword arguments it was made with, "
            "or give that network's weights.",
        )
    module.load_state_dict({name: state[name] for name in given}, strict=False)


def parameters_hash(module: nn.Module) -> str:
    """SHA-256 over names, shapes, kinds and bytes of all parameters and buffers, in order of name."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        held = value.detach().cpu().contiguous().reshape(-1)
        digest.update(held.view(torch.uint8).numpy().data if held.numel() else b"")
    return digest.hexdigest()


def _difference(
    wanted: Mapping[str, Any],
    given: Mapping[str, Any],
    missing: list[str],
    unknown: list[str],
    other: list[str],
) -> list[str]:
    """What does not agree, in words."""
    told = []
    if missing:
        told.append(
            f"{len(missing):,} of its {len(wanted):,} parameters are missing ({shortened(missing, 2)})"
        )
    if unknown:
        told.append(f"{len(unknown):,} are of no use to it ({shortened(unknown, 2)})")
    if other:
        told.append(_shapes(other, given, wanted))
    return told


def _shapes(names: list[str], given: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    first = names[0]
    return f"{len(names):,} have another shape ({first}: {given[first]}, the network has {wanted[first]})"


def _unwrapped(held: Any) -> State:  # noqa: ANN401 - whatever was saved
    """The parameters themselves, out of the dictionaries that training programs save them in."""
    for _ in range(3):
        wrapper = next(
            (name for name in WRAPPERS if isinstance(held, dict) and isinstance(held.get(name), dict)), None
        )
        if wrapper is None:
            break
        held = held[wrapper]
    if not isinstance(held, dict):
        raise ValueError(f"it holds a {type(held).__name__}, not named parameters")
    state = {str(name): value for name, value in held.items() if isinstance(value, torch.Tensor)}
    if not state:
        raise ValueError("it holds no parameters")
    return state


def _without_prefix(state: State, wanted: Mapping[str, Any]) -> State:
    """Names without what wrappers put before them, if that makes more of them fit."""
    best, most = state, sum(name in wanted for name in state)
    for prefix in PREFIXES:
        shorter = {name.removeprefix(prefix): value for name, value in state.items()}
        fitting = sum(name in wanted for name in shorter)
        if fitting > most:
            best, most = shorter, fitting
    return best
