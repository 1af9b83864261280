"""Weights: reading a file without running code in it, fitting them to a network, hashing them."""

import hashlib
import socket
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies

import torch
from torch import nn

from lookalike.core.errors import EncoderError, first_line
from lookalike.core.object_store import is_address
from lookalike.core.text import quoted
from lookalike.encode.fetched import fetched_file
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.zoo.networks import published_at

WRAPPERS = ("state_dict", "model", "model_state_dict", "teacher", "student")
PREFIXES = ("module.", "_orig_mod.", "backbone.", "encoder.", "model.")

TRAINED = ("module.encoder_q.",)  # a file can hold two networks; this one is used

COUNTER = "num_batches_tracked"  # older files lack it, and inference does not use it

State = dict[str, torch.Tensor]


def weights_file(given: str, base: Path, spec: str) -> Path:
    """The file that `?weights=` names: by its address, or under `base` or the current folder."""
    if is_address(given):
        return fetched_file(given, spec)
    for folder in (base, Path()):
        if given and (folder / given).is_file():
            return folder / given
    place = published_at(given)
    raise EncoderError(
        f"{spec}: there is no weights file {given!r}.",
        fix=f"Get it from {place} into the current folder, or give its path: ?weights=FILE"
        if place
        else "Give the path or the address of a .safetensors or .pth file.",
    )


def read_weights(file: Path) -> State:
    """The parameters in a file of safetensors or torch.save. Of the latter, only tensors are read."""
    try:
        if file.suffix == ".safetensors":
            from safetensors.torch import load_file

            return load_file(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the error below says what is wrong
            return _unwrapped(torch.load(file, map_location="cpu", weights_only=True))
    except EncoderError:
        raise
    except Exception as error:  # readers of damaged files can raise anything
        reason = first_line(error)
        if "weights_only" in reason:
            reason = "torch.save did not write it, or it holds more than tensors"
        raise EncoderError(
            f"{file} cannot be read as weights: {reason}.",
            fix="Give a .safetensors file, or one that torch.load(..., weights_only=True) reads.",
        ) from None


def unreachable(spec: EncoderSpec, place: str, error: Exception) -> EncoderError:
    """The error for published weights that are neither on this machine nor can be downloaded."""
    here = f"copy the file here and name it: {spec}{'&' if spec.options else '?'}weights=FILE"
    if spec.source in ("hf", "hub") or spec.name.startswith("hf-hub:"):  # a file of weights is not enough
        form = {"hf": "hf:FOLDER", "hub": "hub:FOLDER/ENTRY"}.get(spec.source, "open_clip:local-dir:FOLDER")
        here = f"copy the files of the repository into a folder here and name that: {form}"
    return EncoderError(
        f"The weights of {spec} are not on this machine and cannot be fetched: {first_line(error)}.",
        fix=f"They come from {place}. Run this once with a connection to it, or {here}",
    )


def require_reachable(url: str) -> None:
    """Fail at once without a connection: the clients of hubs would retry for a minute."""
    if not getproxies():
        socket.create_connection((urlsplit(url).hostname or "", 443), timeout=10).close()


def fit(module: nn.Module, state: State, spec: str, file: Path, *, head: tuple[str, ...] = ()) -> None:
    """Load parameters into a network without its classifier, whose names start with one of `head`.

    Every other name and every shape must agree. Weights of another network are refused with the differences.
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
        differences = []
        if missing:
            differences.append(
                f"{len(missing):,} of its {len(wanted):,} parameters are missing ({quoted(missing, 2)})"
            )
        if unknown:
            differences.append(f"{len(unknown):,} are of no use to it ({quoted(unknown, 2)})")
        if other:
            shapes = f"{other[0]}: {given[other[0]]}, the network has {wanted[other[0]]}"
            differences.append(f"{len(other):,} have another shape ({shapes})")
        raise EncoderError(
            f"{spec}: {file.name} holds the weights of another network: {'; '.join(differences)}.",
            fix="Name the network that these weights were trained for, with its keyword arguments, "
            "or give weights of this network.",
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


def _unwrapped(held: Any) -> State:  # noqa: ANN401 - a file can hold anything
    """The parameters without the dictionaries in which training programs save them."""
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
    """Names without a wrapper's prefix, if more of them fit that way."""
    for prefix in TRAINED:
        if any(name.startswith(prefix) for name in state):
            return {
                name.removeprefix(prefix): value for name, value in state.items() if name.startswith(prefix)
            }
    best, most = state, sum(name in wanted for name in state)
    for prefix in PREFIXES:
        shorter = {name.removeprefix(prefix): value for name, value in state.items()}
        fitting = sum(name in wanted for name in shorter)
        if fitting > most:
            best, most = shorter, fitting
    return best
