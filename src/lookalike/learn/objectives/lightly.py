"""The library `lightly`, imported where self-supervised training needs it: losses and transforms, nothing else."""

from importlib import import_module
from typing import Any

from lookalike.core.checks import install
from lookalike.core.errors import LearningError


def lightly_part(module: str, name: str) -> Any:  # noqa: ANN401 - a class of the library
    """A class of the library. Raises LearningError where it is not installed."""
    try:
        return getattr(import_module(module), name)
    except ImportError:
        raise LearningError(
            "Self-supervised training needs the library lightly.", fix=install("selfsupervised")
        ) from None
