"""The compiler of inner loops, and the sort that they share.

Only files of kernels import this, and they are imported when first used.
"""

from collections.abc import Callable
from inspect import unwrap
from typing import Any, TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def compiler(**options: object) -> Callable[[F], F]:
    """numba's compiler with these options: without the interpreter lock, kept on disk, without shape checkers."""

    def compile_function(function: F) -> F:
        jit: Callable[[F], F] = numba.njit(nogil=True, cache=True, **options)
        return jit(unwrap(function))

    return compile_function


compiled = compiler()


@compiled
def rising(keys: np.ndarray) -> np.ndarray:
    """The places of float64 keys, smallest key first; equal keys keep their order.

    A sort takes seconds to compile: with one type of keys it is compiled once for all kernels.
    """
    return np.argsort(keys, kind="mergesort")
