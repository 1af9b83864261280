"""An encoder of the workspace as a judge: its similarity of two photos, turned into a chance by the labels."""

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.audit.corrected import chance, logistic
from lookalike.core.errors import JudgeError
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.engine.source import aligned

SLICE = 8192
LEAST = 10
"""Labels of each kind that a curve is fitted to."""


def encoder_scores(
    catalog: Catalog,
    encoder: Embeddings,
    pairs: Int64[np.ndarray, "pairs 2"],
    labelled: Int64[np.ndarray, "labelled 2"],
    label: Float64[np.ndarray, " labelled"],
) -> Float64[np.ndarray, " pairs"]:
    """P(similar) of pairs of photos, given as catalog rows, by a curve fitted to labelled pairs.

        P = 1 / (1 + exp(-(b0 + b1 s)))

    s is the cosine of the two photos' vectors. b0 and b1 are those of a logistic regression of the labels (with a ridge
    of .1 on standardised s). It is one score in both orders.
    """
    positives = int(label.sum())
    if min(positives, len(label) - positives) < LEAST:
        raise JudgeError(
            f"{positives:,} labelled pairs are similar and {len(label) - positives:,} dissimilar, too few for a curve.",
            fix=f"Label at least {LEAST} pairs of each kind first: lookalike discover",
        )
    known = _cosine(catalog, encoder, labelled)
    middle, spread = float(known.mean()), max(float(known.std()), 1e-12)

    def features(s: Float64[np.ndarray, " rows"]) -> Float64[np.ndarray, "2 rows"]:
        return np.stack([np.ones(len(s)), (s - middle) / spread])

    weights = logistic(features(known), label)
    return chance(features(_cosine(catalog, encoder, pairs)), weights)


def _cosine(
    catalog: Catalog, encoder: Embeddings, pairs: Int64[np.ndarray, "pairs 2"]
) -> Float64[np.ndarray, " pairs"]:
    source, found = aligned(catalog, encoder), np.empty(len(pairs))
    for first in range(0, len(pairs), SLICE):
        part = pairs[first : first + SLICE]
        a, b = (source.copied(part[:, end]).astype(np.float64) for end in (0, 1))
        length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        found[first : first + len(part)] = (a * b).sum(axis=1) / length
    return found
