"""What chooses the checkpoint: a measure of the validation split, from the vectors that the model makes now."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float32
from torch import nn

from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.evaluate.measures import parse
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs

SLICE = 4096


def encode(
    model: nn.Module, features: Float32[np.ndarray, "images features"]
) -> Float32[np.ndarray, "images _"]:
    """The model's vectors of kept features, a slice at a time, on the device the model is on."""
    device = next(model.parameters()).device
    parts = []
    with torch.inference_mode():
        for first in range(0, len(features), SLICE):
            part = np.ascontiguousarray(features[first : first + SLICE], np.float32)
            parts.append(model(torch.from_numpy(part).to(device)).float().cpu().numpy())
    return np.concatenate(parts)


def validator(
    catalog: Catalog,
    labels: Labels,
    features: Float32[np.ndarray, "images features"],
    measure: str,
    *,
    split: str = "validation",
    rule: Rule | None = None,
) -> tuple[Callable[[nn.Module], float], int]:
    """How good a model is on one split by one measure, and how many labelled pairs say so.

    Queries and candidates are those of the split (SPEC 7). The function gives NaN where the measure is undefined.
    """
    rows = np.flatnonzero(catalog.split == split)
    inside = catalog.take(rows)
    pairs = judged_pairs(inside, labels, rule or Rule())
    asked = parse(measure)
    kept = features[rows]

    def validate(model: nn.Module) -> float:
        made = Embeddings("finetuned", inside.image, encode(model, kept))
        return float(asked(judged_ranks(inside, made, pairs)).value)

    return validate, len(pairs)
