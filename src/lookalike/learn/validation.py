"""What chooses the checkpoint: a measure of the validation split, from the vectors that the model makes now."""

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32
from torch import nn

from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.evaluate.measures.table import Measure
from lookalike.learn.settings import choosing_measure
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, judged_pairs

SLICE = 4096


def encode(
    model: nn.Module, features: Float32[np.ndarray, "images features"]
) -> Float32[np.ndarray, "images _"]:
    """The model's vectors of kept features, a slice at a time, on the device the model is on."""
    device = next(model.parameters()).device
    parts = []
    with torch.inference_mode():
        for first in range(0, len(features), SLICE):
            part = np.array(features[first : first + SLICE], np.float32)
            parts.append(model(torch.from_numpy(part).to(device)).float().cpu().numpy())
    return np.concatenate(parts)


@dataclass(frozen=True, eq=False)
class Validation:
    """How good vectors are on one split by one measure: higher is better, NaN where the measure is undefined.

    Calling it with a model asks for the model's vectors of `features`, which are those of the split.
    """

    inside: Catalog
    pairs: JudgedPairs
    features: Float32[np.ndarray, "images features"]
    measure: Measure

    def __call__(self, model: nn.Module) -> float:
        """The value of a model."""
        return self.of(encode(model, self.features)) if len(self.pairs) else float("nan")

    def of(self, vectors: Float32[np.ndarray, "images _"]) -> float:
        """The value of vectors of the split's images."""
        if not len(self.pairs):
            return float("nan")
        made = Embeddings("finetuned", self.inside.image, vectors)
        return float(self.measure(judged_ranks(self.inside, made, self.pairs)).value)

    def untrained(self) -> float:
        """The value of the features themselves."""
        return self.of(self.features)


def validator(
    catalog: Catalog,
    labels: Labels,
    features: Float32[np.ndarray, "images features"],
    measure: str,
    *,
    split: str = "validation",
) -> Validation:
    """A measure of one split. Queries and candidates are those of the split.

    Raises MeasureError for a name nobody knows, and for a measure of sampled negatives.
    """
    rows = np.flatnonzero(catalog.split == split)
    inside = catalog.take(rows)
    pairs = judged_pairs(inside, labels, Rule())
    return Validation(inside, pairs, np.array(features[rows], np.float32), choosing_measure(measure))
