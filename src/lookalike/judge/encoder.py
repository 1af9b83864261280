"""An encoder of the workspace as a judge: its similarity of two photos, turned into a chance by the labels."""

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.audit.corrected import chance, logistic
from lookalike.core.errors import JudgeError
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.engine.source import cosines

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
    known = cosines(catalog, encoder, labelled)
    middle, spread = float(known.mean()), max(float(known.std()), 1e-12)

    def features(s: Float64[np.ndarray, " rows"]) -> Float64[np.ndarray, "2 rows"]:
        return np.stack([np.ones(len(s)), (s - middle) / spread])

    weights = logistic(features(known), label)
    return chance(features(cosines(catalog, encoder, pairs)), weights)
