"""The compiler of inner loops. Only files of kernels import this, and they are imported when first used."""

from collections.abc import Callable
from inspect import unwrap
from typing import Any, TypeVar

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """numba's compiler, without the interpreter lock and without checkers around it; typed as what it was given."""
    jit: Callable[[F], F] = numba.njit(nogil=True, cache=True)
    return jit(unwrap(function))
