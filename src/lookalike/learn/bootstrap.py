"""How many epochs to train, from the training pairs alone: the bootstrap of ADAPT 4.2."""

from collections.abc import Callable
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float64
from torch import nn

from lookalike.core.errors import LabelsError
from lookalike.core.progress import Progress, part
from lookalike.evaluate.measures.asymmetric_recall import PairPlaces, asymmetric_recall, pair_places
from lookalike.learn.examples import Cached
from lookalike.learn.finetune import finetune
from lookalike.learn.keeper import Unkept
from lookalike.learn.losses.symmetric import pair_cosines
from lookalike.learn.settings import TrainingSettings
from lookalike.learn.similar_pairs import PairExamples, SimilarPairs


@runtime_checkable
class ResampleKeeper(Protocol):
    """Where the curves of finished resamples are kept, so that a stopped run does not repeat them."""

    def resample(self, number: int) -> list[float] | None:
        """The curve of a resample; None if it is not finished."""

    def keep_resample(self, number: int, curve: list[float]) -> None:
        """Keep the curve of a resample."""


class ChosenEpoch(NamedTuple):
    """The number of epochs with the highest mean out-of-bag aR@1, that mean, and the curve of each resample."""

    epochs: int
    recall: float
    curves: Float64[np.ndarray, "resamples epochs"]


def bootstrap_epochs(
    new_model: Callable[[int], nn.Module],
    pairs: SimilarPairs,
    views: Cached,
    settings: TrainingSettings,
    keeper: ResampleKeeper,
    device: torch.device,
    progress: Progress | None = None,
) -> ChosenEpoch:
    """Choose the number of epochs by `settings.resamples` resamples of the pairs.

    A resample draws as many pairs as there are, with replacement. A new model is trained on the distinct drawn pairs,
    because a pair that is there twice would be its own negative. After each epoch, aR@1 is measured on the pairs that
    were not drawn, which is a forward pass of its own. Source: ADAPT 4.2, which does not say more than "by
    bootstrapping". Of equal means the first is chosen. `new_model` makes a model from a seed.
    """
    curves = np.full((settings.resamples, settings.epochs), np.nan)
    for number in range(settings.resamples):
        curve = keeper.resample(number)
        if curve is None:
            random = np.random.default_rng((settings.seed, number, 2))
            inside = np.unique(random.integers(len(pairs), size=len(pairs)))
            outside = np.setdiff1d(np.arange(len(pairs)), inside)
            model = new_model(int(random.integers(2**62))).to(device)
            found = finetune(
                model,
                PairExamples(pairs.take(inside), views, settings.seed, device),
                settings.changed(keep="last"),
                HeldOutPairs(pairs.take(outside), views, device),
                Unkept(),
                progress=part(progress, number, settings.resamples),
            )
            curve = [epoch.value for epoch in found.history]
            keeper.keep_resample(number, curve)
        curves[number, : len(curve)] = curve
    known = np.isfinite(curves)
    if not known.any():
        raise LabelsError(
            f"{len(pairs)} similar pairs of the training split are too few to choose the epoch by bootstrap.",
            fix="Label more pairs, or use --keep last.",
        )
    mean = np.where(known, curves, 0).sum(0) / np.maximum(known.sum(0), 1)
    best = int(np.argmax(mean))
    return ChosenEpoch(best + 1, float(mean[best]), curves)


class HeldOutPairs:
    """aR@k of a model on pairs that it is not trained on."""

    def __init__(self, pairs: SimilarPairs, views: Cached, device: torch.device) -> None:
        _, (self.batch,) = PairExamples(pairs, views, 0, device).epoch(0)

    def places(self, model: nn.Module) -> PairPlaces:
        """Where the other image of each pair is, by a model's vectors."""
        with torch.inference_mode():
            return pair_places(pair_cosines(model(self.batch.inputs), self.batch.apart))

    def __call__(self, model: nn.Module) -> float:
        """aR@1 of a model; NaN without pairs."""
        return asymmetric_recall(self.places(model), 1)
