"""Networks of the timm library: `timm:vit_base_patch14_dinov2.lvd142m`."""

import logging
import sys
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import timm
from huggingface_hub import try_to_load_from_cache
from huggingface_hub.constants import ENDPOINT as HUB
from timm.data.config import resolve_model_data_config
from torch import nn

from lookalike.core.errors import EncoderError
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.network import Arguments, Backbone
from lookalike.encode.sources.faster_start import without_random_weights
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import fit, read_weights, require_reachable, unreachable


def build(spec: EncoderSpec, file: Path | None, arguments: Arguments) -> Backbone:
    """The network without its classifier, and the preprocessing of its own configuration."""
    _require_name(spec)
    file = file or _cached(spec.name)
    if file is None:
        module = _pretrained(spec, arguments)
    else:
        module = _made(spec, arguments, pretrained=False)
        fit(module, _adapted(module, read_weights(file)), str(spec), file, head=_head(module))
    return Backbone(module, _preprocessing(module))


def licence_name(name: str) -> str:
    """The name of the licence of a network's weights in timm's table, "" where it has none."""
    try:
        configuration = timm.get_pretrained_cfg(name)
    except RuntimeError:  # an unknown tag
        return ""
    return str((configuration and configuration.license) or "")


def _made(spec: EncoderSpec, arguments: Arguments, *, pretrained: bool) -> nn.Module:
    try:
        with without_random_weights():
            made: nn.Module = timm.create_model(spec.name, pretrained=pretrained, num_classes=0, **arguments)
        return made
    except (TypeError, ValueError, AssertionError) as error:
        raise EncoderError(
            f"{spec}: timm cannot make {spec.name} with {_written(arguments)}: {error}.",
            fix="Correct or leave out these keyword arguments of timm.create_model.",
        ) from None


def _pretrained(spec: EncoderSpec, arguments: Arguments) -> nn.Module:
    if not timm.models.is_model_pretrained(spec.name):
        tags = timm.list_models(f"{spec.name.split('.')[0]}.*", pretrained=True)
        others = f" It has weights of {', '.join(tags[:5])}." if tags else ""
        raise EncoderError(
            f"{spec}: timm has no weights of that name.{others}",
            fix=f"Give a weights file: timm:{spec.name}?weights=FILE"
            + (f", or name one: timm:{tags[0]}" if tags else ""),
        )
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)  # it warns at every retry
    try:
        _require_reachable(spec.name)
        return _made(spec, arguments, pretrained=True)
    except EncoderError:
        raise
    except Exception as error:  # the network, the hub's client and its cache fail in many ways
        raise unreachable(spec, _download_place(spec.name), error) from None


def _cached(name: str) -> Path | None:
    """Weights downloaded earlier. They are used without asking the hub for newer ones."""
    configuration = timm.get_pretrained_cfg(name)
    if configuration is None or not configuration.hf_hub_id:
        return None
    for file in (configuration.hf_hub_filename, "model.safetensors", "pytorch_model.bin"):
        found = try_to_load_from_cache(_hub(configuration, name), file) if file else None
        if isinstance(found, str):
            return Path(found)
    return None


def _require_reachable(name: str) -> None:
    """Fail at once without a connection: the hub's client would retry for a minute."""
    configuration = timm.get_pretrained_cfg(name)
    url = HUB if configuration is None or configuration.hf_hub_id else configuration.url
    if isinstance(url, str):
        require_reachable(url)


def _require_name(spec: EncoderSpec) -> None:
    architecture, _, tag = spec.name.partition(".")
    if not timm.is_model(spec.name):
        known = timm.list_models()
        near = get_close_matches(architecture.lower(), known, n=3, cutoff=0.5)
        raise EncoderError(
            f"{spec}: timm has no network named {architecture!r}.",
            fix=(f"Did you mean {', '.join(f'timm:{name}' for name in near)}? " if near else "")
            + f"timm.list_models() lists all {len(known):,}.",
        )
    tags = [name.partition(".")[2] for name in timm.list_models(f"{architecture}.*", pretrained=True)]
    if tag and tag not in tags:
        near = get_close_matches(tag, tags, n=3, cutoff=0.3) or tags[:3]
        names = ", ".join(f"timm:{architecture}.{one}" for one in near)
        raise EncoderError(
            f"{spec}: timm has {architecture}, but no weights of it tagged {tag!r}.",
            fix=f"Nearest: {names}." if near else "Leave out the tag and give ?weights=FILE.",
        )


def _head(module: nn.Module) -> tuple[str, ...]:
    named: Any = getattr(module, "pretrained_cfg", {}).get("classifier") or ()
    return (named,) if isinstance(named, str) else tuple(named)


def _adapted(module: nn.Module, state: dict[str, Any]) -> dict[str, Any]:
    """Weights as the network's authors publish them, renamed by timm's own filter where needed."""
    wanted = set(module.state_dict())
    if wanted <= set(state):
        return state
    renamed = getattr(sys.modules[type(module).__module__], "checkpoint_filter_fn", None)
    if renamed is None:
        return state
    try:
        found = dict(renamed(dict(state), module))
    except Exception:  # weights of another network: `fit` refuses them by name
        return state
    return found if len(wanted & set(found)) > len(wanted & set(state)) else state


def _preprocessing(module: nn.Module) -> Preprocessing:
    settings = resolve_model_data_config(module)
    _, height, width = settings["input_size"]
    mode = settings["crop_mode"]
    mean, std = settings["mean"], settings["std"]
    return Preprocessing(
        (height, width),
        resize=int(min(height, width) / settings["crop_pct"]) if mode == "center" else 0,
        crop_mode=mode,
        interpolation=settings["interpolation"],
        mean=mean,
        std=std,
        fill=tuple(round(255 * value) for value in mean) if mode == "border" else (255, 255, 255),
    )


def _download_place(name: str) -> str:
    configuration = timm.get_pretrained_cfg(name)
    if configuration is None:
        return "timm"
    if configuration.hf_hub_id:
        file = configuration.hf_hub_filename or "model.safetensors"
        return f"{HUB}/{_hub(configuration, name)}, file {file}"
    return str(configuration.url or "timm")


def _hub(configuration: Any, name: str) -> str:  # noqa: ANN401 - timm's own class
    """The repository on the hub; timm writes `timm/` for one of the network's own name."""
    found = str(configuration.hf_hub_id)
    return f"{found}{name}" if found.endswith("/") else found


def _written(arguments: Arguments) -> str:
    return ", ".join(f"{key}={value}" for key, value in arguments.items()) or "its own arguments"
