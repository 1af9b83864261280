"""Training a head from Python, on frozen values and without a workspace."""

from typing import TYPE_CHECKING, Any

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import ArgumentError, LearningError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.learn.request import TrainingRequest

if TYPE_CHECKING:
    from lookalike.api.training_verdict import TrainedEmbeddings

NEEDED = ("torch", "torchvision", "timm", "safetensors", "tensorboard")


def finetune(
    catalog: Catalog,
    embeddings: Embeddings,
    labels: Labels,
    *,
    name: str = "finetuned",
    device: str = "auto",
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 - fields of TrainingRequest
) -> "TrainedEmbeddings":
    """Vectors of a head trained on an encoder's vectors. Split `train` trains it, `validation` chooses the epoch.

    Whether it helped cannot be told from these labels: label the pairs in `to_label`, then call `training_verdict`.
    `settings` are the fields of `learn.settings.TrainingRequest`, the options of the command: loss, positives, beta,
    epochs, rate, measure and so on. Raises ArgumentError for an unknown setting or a wrong value, LabelsError
    if no label can be used, LearningError if the loss becomes infinite in the first epoch.
    """
    require_learning()
    import torch

    from lookalike.api.training import chosen_device, material, train
    from lookalike.api.training_verdict import with_verdict
    from lookalike.learn.keeper import Unkept
    from lookalike.learn.validation import encode

    on: torch.device = chosen_device(device)
    request = TrainingRequest(**settings)
    if request.views > 1:
        raise ArgumentError(
            f"views is {request.views}, but vectors without photos have one view.",
            fix="Leave out views, or use `lookalike finetune --views` in a workspace with photos.",
        )
    given = material(catalog, labels, embeddings.vectors, request)
    trained = train(given, [embeddings.vectors], request, Unkept(), device=on, progress=progress)
    if trained.head is None:
        raise LearningError(
            f"Training on {embeddings.encoder} stopped: {trained.run.stopped}.",
            fix="Train again with a lower rate or a higher temperature.",
        )
    made = Embeddings(name, catalog.image, encode(trained.head, embeddings.vectors))
    return with_verdict(catalog, embeddings, made, labels, request.seed)


def require_learning() -> None:
    """Raise LearningError if the libraries for training are not installed."""
    if missing := not_installed(NEEDED):
        raise LearningError(
            f"Training needs {missing[0]}, which is not installed.",
            fix=install("learn"),
        )
