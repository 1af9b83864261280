"""Networks of torch.hub: `hub:facebookresearch/barlowtwins:main/resnet50`, or `hub:FOLDER/ENTRY`.

An entry of torch.hub is a program of its authors. It runs only for repositories in the environment variable
LOOKALIKE_TRUSTED_HUB, also if torch.hub has it on this machine already. An encoder string cannot trust itself: strings
are stored in workspaces, and workspaces come from other people.
"""

import warnings
from pathlib import Path

import torch
from torch import nn

from lookalike.core.errors import EncoderError, first_line
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.network import Arguments, Backbone
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import fit, read_weights, require_reachable, unreachable
from lookalike.encode.zoo.here import TRUSTED, trusted

HEADS = ("fc", "classifier", "head")
GITHUB = "https://github.com"


def build(spec: EncoderSpec, file: Path | None, arguments: Arguments) -> Backbone:
    """The network of a trusted repository without its classifier; torch.hub states no preprocessing."""
    repository, _, entry = spec.name.rpartition("/")
    if repository.count("/") < 1 or not entry:
        raise EncoderError(
            f"{spec} names no entry of a repository.",
            fix="Write hub:OWNER/REPOSITORY:BRANCH/ENTRY, or hub:/path/of/a/folder/ENTRY.",
        )
    _require_trusted(spec, repository)
    module = _made(spec, repository, entry, arguments | ({"pretrained": False} if file else {}))
    head = _without_head(module)
    if file is not None:
        fit(module, read_weights(file), str(spec), file, head=head)
    return Backbone(module, Preprocessing((224, 224), resize=256))


def _require_trusted(spec: EncoderSpec, repository: str) -> None:
    if repository not in trusted():
        raise EncoderError(
            f"{spec} runs code of {repository}, which you have not trusted. Nothing was downloaded or run.",
            fix=f"Read its hubconf.py. If you trust it, set {TRUSTED}={repository} and run this again.",
        )


def _made(spec: EncoderSpec, repository: str, entry: str, arguments: Arguments) -> nn.Module:
    local = Path(repository).is_dir()
    place = repository if local else f"{GITHUB}/{repository.partition(':')[0]}"
    try:
        if not local and not any(
            Path(torch.hub.get_dir()).glob(f"{repository.translate({47: '_', 58: '_'})}*")
        ):
            require_reachable(GITHUB)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # old entries use old arguments of torchvision
            made = torch.hub.load(  # type: ignore[no-untyped-call]
                repository,
                entry,
                source="local" if local else "github",
                trust_repo=True,  # by `_require_trusted`
                skip_validation=True,
                verbose=False,
                **arguments,
            )
    except OSError as error:
        raise unreachable(spec, place, error) from None
    except Exception as error:  # code of others can raise anything
        raise EncoderError(
            f"{spec}: its code failed: {type(error).__name__}: {first_line(error)}.",
            fix=f"Correct the entry or its keyword arguments; the code is in {place}.",
        ) from None
    if not isinstance(made, nn.Module):
        raise EncoderError(
            f"{spec} returns a {type(made).__name__}, not a network.",
            fix="Name another entry of its hubconf.py.",
        )
    return made


def _without_head(module: nn.Module) -> tuple[str, ...]:
    """Remove a classifier: a linear layer, or several layers that end in one, of a usual name."""
    for name in HEADS:
        part = getattr(module, name, None)
        last = list(part.modules())[-1] if isinstance(part, nn.Module) else None
        if isinstance(last, nn.Linear):
            setattr(module, name, nn.Identity())
            return (name,)
    return HEADS
