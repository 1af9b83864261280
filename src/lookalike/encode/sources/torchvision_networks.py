"""Networks of the torchvision library: `torchvision:resnet50/IMAGENET1K_V2`."""

from difflib import get_close_matches
from pathlib import Path
from typing import Any

import torchvision
from torch import nn

from lookalike.core.errors import EncoderError
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.network import Arguments, Backbone
from lookalike.encode.sources.faster_start import without_random_weights
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import fit, read_weights, unreachable


def build(spec: EncoderSpec, file: Path | None, arguments: Arguments) -> Backbone:
    """The network up to the input of its last linear layer, and the preprocessing of its weights."""
    name, _, tag = spec.name.partition("/")
    _require_name(spec, name)
    weights = _weights(spec, name, tag)
    try:
        with without_random_weights():
            module = torchvision.models.get_model(
                name, weights=None, **{**_quiet(name), **_sized(name, weights), **arguments}
            )
    except (TypeError, ValueError, AssertionError) as error:
        raise EncoderError(
            f"{spec}: torchvision cannot make {name} with these arguments: {error}.",
            fix="Correct or leave out these keyword arguments of the network.",
        ) from None
    if file is not None:
        head = _without_head(module)
        fit(module, read_weights(file), str(spec), file, head=head)
    else:
        module.load_state_dict(_fetched(spec, weights), strict=False)
        _without_head(module)
    return Backbone(module, _preprocessing(weights))


def _require_name(spec: EncoderSpec, name: str) -> None:
    known = torchvision.models.list_models(module=torchvision.models)
    if name not in known:
        near = get_close_matches(name.lower(), known, n=3, cutoff=0.5)
        raise EncoderError(
            f"{spec}: torchvision has no classification network named {name!r}.",
            fix=f"Did you mean {', '.join(f'torchvision:{one}' for one in near)}?"
            if near
            else "torchvision.models.list_models() lists all.",
        )


def _weights(spec: EncoderSpec, name: str, tag: str) -> Any:  # noqa: ANN401 - an enumeration of torchvision's
    known = torchvision.models.get_model_weights(name)
    if not tag:
        return known.DEFAULT
    if tag not in known.__members__:
        listed = ", ".join(f"torchvision:{name}/{one}" for one in known.__members__ if one != "DEFAULT")
        raise EncoderError(f"{spec}: torchvision has no weights {tag!r} of {name}.", fix=f"Use {listed}.")
    return known[tag]


def _fetched(spec: EncoderSpec, weights: Any) -> dict[str, Any]:  # noqa: ANN401
    try:
        return dict(weights.get_state_dict(progress=False, check_hash=True))
    except Exception as error:  # the connection and its cache fail in many ways
        raise unreachable(spec, weights.url, error) from None


def _quiet(name: str) -> dict[str, Any]:
    """Two networks warn at length about their initialisation unless this is set."""
    return {"init_weights": False} if name in ("googlenet", "inception_v3") else {}


def _sized(name: str, weights: Any) -> dict[str, Any]:  # noqa: ANN401
    """A vision transformer has one position per patch: it is made for the photos that its weights were trained on."""
    return {"image_size": int(weights.transforms().crop_size[0])} if name.startswith("vit_") else {}


def _without_head(module: nn.Module) -> tuple[str, ...]:
    """Remove the last linear layer and return its name. SqueezeNet has none: its features are averaged."""
    linear = [name for name, part in module.named_modules() if isinstance(part, nn.Linear)]
    linear = [name for name in linear if not name.startswith(("AuxLogits", "aux"))]
    if not linear:
        module.classifier = nn.AdaptiveAvgPool2d(1)
        return ("classifier",)
    parent, _, last = linear[-1].rpartition(".")
    setattr(module.get_submodule(parent), last, nn.Identity())
    return (linear[-1],)


def _preprocessing(weights: Any) -> Preprocessing:  # noqa: ANN401
    made = weights.transforms()
    crop, resize = int(made.crop_size[0]), int(made.resize_size[0])
    return Preprocessing(
        (crop, crop),
        resize=resize,
        interpolation=made.interpolation.value,
        mean=tuple(made.mean),
        std=tuple(made.std),
    )
