"""How the studio's kernels are compiled, so that they give the same bits on every machine.

Kernels keep to + - * / sqrt, comparisons, integers and tables, in one fixed order. numba is never given
`fastmath`, so it neither reorders sums nor contracts a product and a sum into one rounding.
"""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from lookalike.core.compiled import compiler

Function = TypeVar("Function", bound=Callable[..., Any])

_SOURCES = sorted(Path(__file__).parent.rglob("*.py"))
_VERSION = hashlib.sha256(b"".join(file.read_bytes() for file in _SOURCES)).hexdigest()[:12]


def kernel(function: Function, **options: bool) -> Function:
    """The function, compiled at its first call and kept on disk."""
    # numba keeps a kernel until the kernel's own file changes, not those it calls: the name carries all of them.
    function.__qualname__ = f"{function.__qualname__}_{_VERSION}"
    return compiler(error_model="numpy", **options)(function)


def inner(function: Function) -> Function:
    """A small kernel that is inlined into its callers: a third less time for a whole photo.

    Only kernels call it. Without what Python needs to call it, the first photo takes a third less time.
    """
    return kernel(function, forceinline=True, no_cpython_wrapper=True, no_cfunc_wrapper=True)
