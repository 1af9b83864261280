"""Which networks of the zoo can run on this machine now, and what the next step is for the others."""

import os
from pathlib import Path
from typing import Literal

from lookalike.core.checks import install
from lookalike.encode.fetched import user_cache
from lookalike.encode.open import missing_libraries
from lookalike.encode.spec import EncoderSpec, parse
from lookalike.encode.zoo.networks import ZooNetwork

TRUSTED = "LOOKALIKE_TRUSTED_HUB"
Missing = Literal["", "library", "trust", "weights"]


def missing(network: ZooNetwork) -> Missing:
    """What a network still needs here: a library, your trust in its code, its weights, or nothing."""
    spec = parse(network.source)
    if missing_libraries(spec.source)[0]:
        return "library"
    if spec.source == "hub" and _repository(spec) not in trusted():
        return "trust"
    return "" if _has_weights(network, spec) else "weights"


def next_step_of(network: ZooNetwork) -> str:
    """What to type or do next."""
    spec, what = parse(network.source), missing(network)
    file = dict(spec.options).get("weights") or (spec.name if spec.source == "onnx" else "")
    if what == "library":
        return install(missing_libraries(spec.source)[1])
    if what == "trust":
        return f"Read the code of {_repository(spec)}, then: export {TRUSTED}={_repository(spec)}"
    if what == "weights" and spec.source == "onnx":
        return f"{network.note} Its weights: {network.weights}"
    if what == "weights" and file:
        return f"Get {file} from {network.weights}"
    return f"lookalike embed {network.name}" + " (downloads its weights)" * (what == "weights")


def trusted() -> list[str]:
    """The repositories whose code you allow to run, in the environment variable LOOKALIKE_TRUSTED_HUB."""
    return [one.strip() for one in os.environ.get(TRUSTED, "").split(",")]


def _repository(spec: EncoderSpec) -> str:
    return spec.name.rpartition("/")[0]


def _has_weights(network: ZooNetwork, spec: EncoderSpec) -> bool:
    """Whether the weights are in the folder where their library looks for them."""
    cache = user_cache()
    if spec.source == "onnx":
        return Path(spec.name).is_file()
    if file := dict(spec.options).get("weights"):
        return Path(file).is_file()
    if network.weights.startswith("https://"):
        folder = Path(os.environ.get("TORCH_HOME", cache / "torch")).expanduser()
        return (folder / "hub/checkpoints" / network.weights.rpartition("/")[2]).is_file()
    repository = (network.weights or f"timm/{spec.name}").replace("/", "--")
    home = Path(os.environ.get("HF_HOME", cache / "huggingface")).expanduser()
    held = (
        Path(os.environ.get("HF_HUB_CACHE", home / "hub")).expanduser()
        / f"models--{repository}"
        / "snapshots"
    )
    return any(held.glob("*/*.safetensors")) or any(held.glob("*/*.bin"))
