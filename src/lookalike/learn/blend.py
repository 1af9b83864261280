"""The weights of a blend of encoders, learned from labelled pairs by logistic regression on their cosines."""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float64, Int
from scipy.special import expit, log_expit

from lookalike.core.errors import LearningError

STEPS, ENOUGH = 100, 1e-10
CONSTANT = 1e-9  # standard deviation of cosines that differ by rounding alone


class BlendWeights(NamedTuple):
    """The weight of each encoder, 0 for those in `dropped`, with sum 1; and each encoder's own log likelihood."""

    weights: Float64[np.ndarray, " encoders"]
    dropped: tuple[int, ...]
    alone: Float64[np.ndarray, " encoders"]


def blend_weights(
    cosines: Float64[np.ndarray, "pairs encoders"], label: Int[np.ndarray, " pairs"]
) -> BlendWeights:
    """Weights w_k >= 0 with which the encoders' cosines c_k tell similar pairs from others.

        P(similar) = 1 / (1 + exp(-(b + sum_k v_k z_k))),    z_k = (c_k - mean c_k) / sd c_k,    w_k ~ v_k / sd c_k

    b and v maximise the likelihood less |v|^2 / 2, which keeps v finite where the labels are separated. A blend is one
    vector, whose cosine cannot subtract: the encoder with the most negative v_k is left out and the rest fitted again,
    until none is negative. An encoder whose cosines are all equal is left out first. Undefined where all labels are
    equal, or no cosine rises with similarity: LearningError.

    >>> cosines = np.array([[0.9, 0.1], [0.8, 0.7], [0.2, 0.9], [0.1, 0.3]])
    >>> blend_weights(cosines, np.array([1, 1, 0, 0])).dropped
    (1,)
    """
    if len(np.unique(label)) < 2:
        raise LearningError(
            f"The training split has {len(label):,} labelled pairs, none of them similar or none dissimilar.",
            fix="Label more pairs, or give the weights: --weights 1,1",
        )
    spread = cosines.std(axis=0)
    varies = spread > CONSTANT
    scaled = np.where(varies, cosines - cosines.mean(axis=0), 0.0) / np.where(varies, spread, 1.0)
    fits = [_fit(scaled[:, [k]], label) for k in range(cosines.shape[1])]
    rises = varies & np.array([slope[0] > 0 for slope, _ in fits])
    alone = np.where(rises, [likelihood for _, likelihood in fits], -np.inf)
    left, dropped = np.flatnonzero(varies).tolist(), np.flatnonzero(~varies).tolist()
    while left:
        slope, _ = _fit(scaled[:, left], label)
        if slope.min() > 0:
            weights = np.zeros(cosines.shape[1])
            weights[left] = slope / spread[left]
            return BlendWeights(weights / weights.sum(), tuple(dropped), alone)
        dropped.append(left.pop(int(slope.argmin())))
    raise LearningError(
        "No encoder's cosine rises with similarity on the labelled pairs of the training split.",
        fix="Check the labels, or give the weights: --weights 1,1",
    )


def _fit(
    scaled: Float64[np.ndarray, "pairs encoders"], label: Int[np.ndarray, " pairs"]
) -> tuple[Float64[np.ndarray, " encoders"], float]:
    """The slopes of a logistic regression with a ridge, by Newton's method; and the log likelihood less the ridge."""
    given = np.column_stack([scaled, np.ones(len(scaled))])
    ridge = np.append(np.ones(scaled.shape[1]), 0.0)
    at, sign = np.zeros(given.shape[1]), 2.0 * label - 1.0

    def value(point: np.ndarray) -> float:
        return float(log_expit(sign * (given @ point)).sum() - (ridge * point**2).sum() / 2)

    now = value(at)
    for _ in range(STEPS):
        chance = expit(given @ at)
        slope = given.T @ (label - chance) - ridge * at
        bend = (given * (chance * (1 - chance))[:, None]).T @ given + np.diag(ridge)
        step = np.linalg.lstsq(bend, slope, rcond=None)[0]
        while value(at + step) < now and np.abs(step).max() > ENOUGH:
            step /= 2
        at, before, now = at + step, now, value(at + step)
        if now - before <= ENOUGH * abs(now):
            break
    return at[:-1], now
