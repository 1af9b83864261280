"""The one door to numba.

Kernels keep to + - * / sqrt, comparisons, integers and tables, in one fixed order. numba is never given
`fastmath`, so it neither reorders sums nor contracts a product and a sum into one rounding: a kernel gives the
same bits on every machine.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_SOURCES = ("attributes", "kernel", "light", "looks", "render", "room", "solids", "textures", "trace")
_TEXTS = [Path(__file__).with_name(f"{name}.py").read_bytes() for name in _SOURCES]
_VERSION = hashlib.sha256(b"".join(_TEXTS)).hexdigest()[:12]


def kernel(function: Function) -> Function:
    """The function compiled at its first call, kept on disk, running without the interpreter's lock."""
    return _compiled(function)


def inner(function: Function) -> Function:
    """A small kernel that is written into those that call it: a third less time for a whole photo."""
    return _compiled(function, forceinline=True)


def _compiled(function: Function, **options: bool) -> Function:
    # numba keeps a kernel until the kernel's own file changes, not those it calls: the name carries all of them.
    function.__qualname__ = f"{function.__qualname__}_{_VERSION}"
    return cast("Function", numba.njit(nogil=True, cache=True, error_model="numpy", **options)(function))
