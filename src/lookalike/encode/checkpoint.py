"""A network kept with all that it takes to use it again: `checkpoint:models/run-7` names such a folder.

checkpoint.json       the network's own encoder string, its preprocessing, a format number
weights.safetensors   its parameters, without a classifier
"""

import json
from dataclasses import asdict
from pathlib import Path

from safetensors.torch import save
from torch import nn

from lookalike.core.errors import EncoderError
from lookalike.encode.libraries import build_module
from lookalike.encode.network import Network
from lookalike.encode.preprocessing import Preprocessing
from lookalike.encode.spec import EncoderSpec, parse

FORMAT = 1
ABOUT, WEIGHTS = "checkpoint.json", "weights.safetensors"


def checkpoint_files(network: str, module: nn.Module, preprocessing: Preprocessing) -> dict[str, bytes]:
    """The files of a checkpoint folder, by name; whoever owns the disk writes them.

    `network` is the encoder string the module was made from, without `weights`; only its structure is taken from it.
    """
    about = {"format": FORMAT, "network": network, "preprocessing": asdict(preprocessing)}
    tensors = {name: value.detach().cpu().contiguous() for name, value in module.state_dict().items()}
    return {WEIGHTS: save(tensors), ABOUT: (json.dumps(about, indent=2) + "\n").encode()}


def open_checkpoint(spec: EncoderSpec, base: Path) -> Network:
    """The network of a checkpoint folder, looked for under `base`, then under the current folder."""
    folder = next((place for place in (base / spec.name, Path(spec.name)) if place.is_dir()), None)
    if folder is None:
        raise EncoderError(
            f"{spec}: there is no folder {spec.name!r}.",
            fix="Give the folder of a checkpoint, from the workspace on: checkpoint:models/NAME",
        )
    options = dict(spec.options)
    if unknown := sorted(set(options) - {"precision"}):
        raise EncoderError(
            f"{spec}: a checkpoint takes no option {unknown[0]!r}; its own are in {ABOUT}.",
            fix="Leave it out.",
        )
    network, preprocessing = _about(spec, folder)
    module = build_module(network, folder / WEIGHTS).module
    return Network.of(spec, module, preprocessing, options.get("precision"))


def _about(spec: EncoderSpec, folder: Path) -> tuple[EncoderSpec, Preprocessing]:
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        if about["format"] > FORMAT:
            raise EncoderError(
                f"{spec} was written by a newer Lookalike (checkpoint format {about['format']}).",
                fix="Install the newer Lookalike: pip install --upgrade lookalike",
            )
        network, told = about["network"], about["preprocessing"]
        if not isinstance(network, str) or not isinstance(told, dict) or "size" not in told:
            raise ValueError("it names no network, or no preprocessing with a size")
        return parse(network), Preprocessing.of_values(told, f"{spec}, {ABOUT}")
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EncoderError(
            f"{spec}: {folder / ABOUT} is not what Lookalike writes there ({type(error).__name__}: {error}).",
            fix="Give a folder that Lookalike wrote, with its checkpoint.json and weights.safetensors.",
        ) from None
