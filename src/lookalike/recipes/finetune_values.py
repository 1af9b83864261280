"""Training a head from Python, on frozen values and without a workspace."""

from collections.abc import Mapping
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

from lookalike.core.errors import ArgumentError, LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.learn.settings import Settings
from lookalike.positive.positiveness import Softness
from lookalike.recipes.finetune import require_learning

WHOLE, NUMBERS = ("epochs", "batch", "patience", "seed"), ("temperature", "margin", "rate")
WORDS = ("loss", "unjudged", "triplets", "measure", "keep")


def finetune(
    catalog: Catalog,
    embeddings: Embeddings,
    labels: Labels,
    *,
    name: str = "finetuned",
    nodes: str = "item",
    projection: int = 2048,
    device: str = "auto",
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 - fields of Settings
) -> Embeddings:
    """An encoder's vectors through a head trained on them: labels of the split `train` teach, `validation` chooses.

    `settings` are those of `learn.settings.Settings` by name: loss, soft, epochs, rate, measure and so on; `soft` is a
    `positive.positiveness.Softness`, or None for labels alone. Raises ArgumentError for a setting that there is not,
    LabelsError where there is nothing to learn from, LearningError where the loss becomes infinite before the first
    epoch is done.
    """
    require_learning()
    import torch

    from lookalike.learn.validation import encode
    from lookalike.recipes.training import Asked, Unkept, chosen_device, material, train

    on: torch.device = chosen_device(device)
    _require_settings(settings)
    _require("projection", projection, Integral, "a whole number")
    asked = Asked(Settings(**settings), nodes, 1, projection)
    given = material(catalog, labels, embeddings.vectors, asked)
    found = train(given, [embeddings.vectors], asked, Unkept(), device=on, progress=progress)
    if found.head is None:
        raise LearningError(
            f"Training on {embeddings.encoder} stopped: {found.found.stopped}.",
            fix="Train again with a lower rate or a higher temperature.",
        )
    return Embeddings(name, catalog.image, encode(found.head, embeddings.vectors))


def _require_settings(settings: Mapping[str, Any]) -> None:
    """Refuse a setting that there is not, and a value of another kind than its setting has."""
    known = [one.name for one in fields(Settings)]
    if unknown := sorted(set(settings) - set(known)):
        raise ArgumentError(
            f"There is no setting {', '.join(unknown)}.",
            fix=f"There are: {', '.join(known)}. "
            "beta and max_distance are given as soft=Softness(beta, max_distance), of lookalike.positive.positiveness.",
        )
    for name, value in settings.items():
        if value is None and name in ("soft", "patience", "margin"):
            continue
        for names, kind, words in (
            (WHOLE, Integral, "a whole number"),
            (NUMBERS, Real, "a number"),
            (WORDS, str, "text"),
            (("soft",), Softness, "a Softness, or None"),
        ):
            if name in names:
                _require(name, value, kind, words)


def _require(name: str, value: object, kind: type, words: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ArgumentError(f"{name} is {value!r}; it must be {words}.", fix=f"Give {name} as {words}.")
