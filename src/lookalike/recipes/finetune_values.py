"""Training a head from Python, on frozen values and without a workspace."""

from typing import Any

from lookalike.core.errors import LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.learn.settings import Settings
from lookalike.recipes.finetune import require_learning


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

    `settings` are those of `learn.settings.Settings` by name: loss, soft, epochs, rate, measure and so on.
    Raises LabelsError where there is nothing to learn from, LearningError where the loss becomes infinite before the
    first epoch is done.
    """
    require_learning()
    import torch

    from lookalike.learn.validation import encode
    from lookalike.recipes.training import Asked, Unkept, chosen_device, material, train

    on: torch.device = chosen_device(device)
    asked = Asked(Settings(**settings), nodes, 1, projection)
    given = material(catalog, labels, embeddings.vectors, asked)
    found = train(given, [embeddings.vectors], asked, Unkept(), device=on, progress=progress)
    if found.head is None:
        raise LearningError(
            f"Training on {embeddings.encoder} stopped: {found.found.stopped}.",
            fix="Train again with a lower rate or a higher temperature.",
        )
    return Embeddings(name, catalog.image, encode(found.head, embeddings.vectors))
