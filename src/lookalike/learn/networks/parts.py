"""Which parameters of a network learn: all, those of its last blocks, or small matrices beside its layers (LoRA)."""

from collections.abc import Iterator

from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm

from lookalike.core.checks import install
from lookalike.core.errors import LearningError
from lookalike.core.text import plural


def train_last(module: nn.Module, blocks: int) -> None:
    """Only the last blocks learn, and what follows them.

    A block is a module of several layers, found where containers of modules end: a stage of a ResNet holds blocks, and
    so does the list of a transformer's layers. Raises LearningError where there are fewer blocks.
    """
    found = list(_units(module))
    places = [at for at, unit in enumerate(found) if _is_block(unit)]
    if len(places) < blocks:
        raise LearningError(
            f"The network has {plural(len(places), 'block')}, fewer than {blocks}.",
            fix=f"Set blocks to {len(places)} or fewer, or part to network."
            if places
            else "Set part to network.",
        )
    module.requires_grad_(False)
    for unit in found[places[-blocks] :]:
        unit.requires_grad_(True)


def add_adapters(module: nn.Module, rank: int) -> nn.Module:
    """The network with matrices B A of a rank beside its linear and convolution layers, which alone learn.

    y = W x + B A x with B = 0 at the start (Hu et al. 2022, "LoRA", 4.1), by the library `peft` with scale 1. Grouped
    convolutions have none, nor have layers inside of `nn.MultiheadAttention`, which reads their weights itself.
    """
    try:
        from peft import LoraConfig, get_peft_model
    except ImportError:
        raise LearningError("Adapters need the library peft.", fix=install("adapters")) from None
    inside = {
        id(one)
        for part in module.modules()
        if isinstance(part, nn.MultiheadAttention)
        for one in part.modules()
    }
    targets = [name for name, one in module.named_modules() if id(one) not in inside and _takes_adapter(one)]
    if not targets:
        raise LearningError(
            "The network has no layer that takes an adapter.", fix="Set part to network or blocks."
        )
    config = LoraConfig(r=rank, lora_alpha=rank, target_modules=targets, lora_dropout=0.0)
    made: nn.Module = get_peft_model(module, config)
    return made


def merged(module: nn.Module) -> nn.Module:
    """A network whose adapters became part of its weights; one without adapters as it is."""
    merge = getattr(module, "merge_and_unload", None)
    return module if merge is None else merge()


def freeze_statistics(module: nn.Module) -> None:
    """BatchNorm layers use the means and variances that they have, and keep them."""
    for one in module.modules():
        if isinstance(one, _BatchNorm):
            one.eval()


def _units(module: nn.Module) -> Iterator[nn.Module]:
    """The parts of a network in their order: containers are opened, and what has a single part."""
    parts = [part for part in module.children() if any(True for _ in part.parameters())]
    for part in parts:
        inner = [one for one in part.children() if any(True for _ in one.parameters())]
        opens = isinstance(part, nn.Sequential | nn.ModuleList) or (
            len(inner) == 1 and not any(True for _ in part.parameters(recurse=False))
        )
        if inner and opens:
            yield from _units(part)
        else:
            yield part


def _is_block(unit: nn.Module) -> bool:
    return any(True for one in unit.children() for _ in one.parameters())


def _takes_adapter(layer: nn.Module) -> bool:
    return isinstance(layer, nn.Linear) or (isinstance(layer, nn.Conv2d) and layer.groups == 1)
