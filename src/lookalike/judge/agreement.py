"""How far a judge agrees with experts, and what labels are worth with it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Bool, Float64, Int64, Shaped

from lookalike.annotate.agreement.bootstrap import figures
from lookalike.annotate.agreement.coefficients import Values, Weights, cohen_kappa
from lookalike.annotate.agreement.figure import Figure, share

SIMILAR_FROM = 0.5
NO_PAIRS = "no judged pair has a label"
ONE_KIND = "the labels or the judge's answers are all alike"
FAMILY = re.compile("siglip|clip|dino|convnext|swin|efficientnet|resnet|beit|eva|mobilenet")


@dataclass(frozen=True)
class JudgeAgreement:
    """A judge against the experts' labels, on the pairs of one category of the query ("": all pairs).

    `kappa` is Cohen's, of the answers; `correlation` is of score and label within strata (`within_strata`). `worth` is
    how many labels without the judge one label with it is worth. `flips` is the share of the judged pairs, with a label
    or not, whose answer changes with the order of the photos.
    """

    category: str
    flips: Figure
    kappa: Figure
    correlation: Figure
    worth: Figure


def agreement(
    score: Float64[np.ndarray, " pairs"],
    label: Float64[np.ndarray, " pairs"],
    stratum: Int64[np.ndarray, " pairs"],
    query: Shaped[np.ndarray, " pairs"],
    *,
    flipped: Float64[np.ndarray, " judged"],
    category: str = "",
    seed: int = 0,
) -> JudgeAgreement:
    """The figures of pairs that have a score and a label. Their intervals are from a bootstrap over queries.

    `flipped` is that of all judged pairs (`Judgments`).
    """
    _, of = np.unique(query.astype(str), return_inverse=True)
    count = len(score)
    judged = _two_kinds(score >= SIMILAR_FROM)
    known = _two_kinds(label > 0)
    measures = {
        "kappa": lambda weights: cohen_kappa(judged, known, weights[:, of]),
        "correlation": lambda weights: within_strata(score, label, stratum, weights[:, of]),
    }
    ones = np.ones(int(of.max(initial=-1)) + 1, np.int64)
    found = figures(measures, ones, count, seed=seed, no_pairs=NO_PAIRS)
    kappa, correlation = (_explained(found[name], count) for name in measures)
    flips = share(int(np.nansum(flipped)), int(np.isfinite(flipped).sum()), of="pairs judged in both orders")
    return JudgeAgreement(category, flips, kappa, correlation, worth(correlation))


def worth(correlation: Figure) -> Figure:
    """How many labels without a judge one label with it is worth: 1 / (1 - r^2), for the correlation r within strata.

    The difference estimator with its best coefficient has 1 - r^2 of the variance without covariate (Cochran 1977, 7.3)
    and variance falls as 1 / labels. n pairs cannot show a factor above n. The interval is that of r: where it contains
    0, the lower end is 1.

    >>> found = worth(Figure(0.6, -0.1, 0.8, 100))
    >>> round(found.value, 3), found.low, round(found.high, 3)
    (1.562, 1.0, 2.778)
    """
    r, low, high, count = correlation.value, correlation.low, correlation.high, correlation.count
    ends = sorted((abs(low), abs(high)))
    least = 0.0 if low <= 0 <= high else ends[0]

    def factor(r: float) -> float:
        return 1.0 / max(1.0 - r * r, 1.0 / max(count, 1))

    return Figure(factor(r), factor(least), factor(ends[1]), count, correlation.reason)


def within_strata(
    x: Float64[np.ndarray, " pairs"],
    y: Float64[np.ndarray, " pairs"],
    stratum: Int64[np.ndarray, " pairs"],
    weights: Weights,
) -> Values:
    """The correlation of x and y within strata, for each row of weights; NaN where x or y is constant in all strata.

        r = S_xy / sqrt(S_xx S_yy),   S_ab = sum_h sum_(i in h) w_i (a_i - mean_h a) (b_i - mean_h b)

    >>> x, y = np.array([0.0, 1, 5, 6]), np.array([0.0, 1, 0, 1])
    >>> within_strata(x, y, np.array([0, 0, 1, 1]), np.ones((1, 4))).round(12).tolist()
    [1.0]
    """
    parts = [_about_means(x, y, stratum == one, weights) for one in np.unique(stratum)]
    xx, yy, xy = np.sum(parts, axis=0) if parts else np.zeros((3, len(weights)))
    both = np.maximum(xx * yy, 0.0)
    is_defined = (xx > 1e-12) & (yy > 1e-12)
    return np.divide(xy, np.sqrt(both), out=np.full(len(weights), np.nan), where=is_defined)


def shared_families(model: str, encoders: Sequence[tuple[str, str]]) -> dict[str, str]:
    """The encoders, given as (name, encoder string), that are of a family of networks that the model's name has too.

    >>> shared_families("acme/SigLIP-judge", [("s", "timm:vit_b_16_siglip_224"), ("h", "descriptor:hog")])
    {'s': 'siglip'}
    """
    own = set(FAMILY.findall(model.lower()))
    shared = {name: own.intersection(FAMILY.findall(spec.lower())) for name, spec in encoders}
    return {name: min(families) for name, families in shared.items() if families}


def _about_means(
    x: Float64[np.ndarray, " pairs"],
    y: Float64[np.ndarray, " pairs"],
    here: Bool[np.ndarray, " pairs"],
    weights: Weights,
) -> Float64[np.ndarray, "3 sets"]:
    """S_xx, S_yy and S_xy of one stratum. Columns are centred first, so that no digits are lost."""
    a, b, w = x[here] - x[here].mean(), y[here] - y[here].mean(), weights[:, here]
    total = w.sum(axis=1)
    per = 1.0 / np.maximum(total, 1e-300)
    return np.array(
        [w @ (one * other) - (w @ one) * (w @ other) * per for one, other in ((a, a), (b, b), (a, b))]
    )


def _two_kinds(similar: Bool[np.ndarray, " pairs"]) -> Float64[np.ndarray, "pairs 2"]:
    return np.stack([similar, ~similar], axis=1).astype(np.float64)


def _explained(found: Figure, count: int) -> Figure:
    return replace(found, reason=ONE_KIND) if np.isnan(found.value) and count else found
