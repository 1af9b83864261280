"""What makes a network ready sooner: the compiler of PyTorch is not loaded, and random weights are not drawn."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from importlib import import_module
from types import ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

UTILS = "torch._dynamo.utils"  # torchvision takes one function from it, which only detectors call

RANDOM = {  # of torch.nn.init and of tensors
    *("uniform_", "normal_", "trunc_normal_", "erfinv_", "orthogonal_"),
    *("kaiming_uniform_", "kaiming_normal_", "xavier_uniform_", "xavier_normal_"),
}


class _Undrawn(TorchFunctionMode):
    """Functions that draw values leave them as they are."""

    def __torch_function__(
        self,
        function: Callable[..., object],
        _types: object,
        given: tuple[object, ...] = (),
        named: dict[str, object] | None = None,
    ) -> object:
        """The function's result; of one that draws values, the tensor as it is."""
        named = named or {}
        if getattr(function, "__name__", "") in RANDOM:
            return given[0] if given else named["tensor"]
        return function(*given, **named)


def _as_it_is(tensor: torch.Tensor, *_: object, **__: object) -> torch.Tensor:
    return tensor


@contextmanager
def without_random_weights() -> Iterator[None]:
    """While a network is made whose parameters are loaded afterwards, no initial values are drawn for them."""
    truncated = torch.nn.init._no_grad_trunc_normal_
    torch.nn.init._no_grad_trunc_normal_ = _as_it_is  # it draws again until all values are within a range
    try:
        with _Undrawn():
            yield
    finally:
        torch.nn.init._no_grad_trunc_normal_ = truncated


def _is_compile_supported(device: object) -> object:
    return import_module(UTILS).is_compile_supported(device)


class _Deferred(ModuleType):
    """In the place of a module: its functions load the real one when called, any other name at once."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the real module has
        if name == "is_compile_supported":
            return _is_compile_supported
        if name.startswith("__"):  # `inspect` asks every module for its file
            raise AttributeError(name)
        if sys.modules.get(UTILS) is self:
            del sys.modules[UTILS]
        return getattr(import_module(UTILS), name)


@contextmanager
def without_compiler() -> Iterator[None]:
    """While a library is imported, two names of the compiler are replaced by ones that load it when needed.

    Nothing is replaced if the compiler is loaded already.
    """
    if "torch._dynamo" in sys.modules:
        yield
        return
    sys.modules[UTILS] = stand_in = _Deferred(UTILS)
    disable = torch.compiler.disable
    torch.compiler.disable = _disable_later(disable)
    try:
        yield
    finally:
        torch.compiler.disable = disable
        if sys.modules.get(UTILS) is stand_in:
            del sys.modules[UTILS]


def _disable_later(disable: Callable[..., Any]) -> Callable[..., Any]:
    """`torch.compiler.disable` for functions that are marked before the compiler is loaded."""

    def marked(function: Callable[..., Any] | None = None, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        if function is None:
            return disable(function, *given, **named)

        @wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:  # noqa: ANN401
            loaded = "torch._dynamo" in sys.modules
            chosen = disable(function, *given, **named) if loaded else function
            return chosen(*arguments, **keywords)

        return called

    return marked
