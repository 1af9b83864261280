"""Nadeau and Bengio (2003), "Inference for the generalization error", section 4.4, by hand: plain sums, scipy's t."""

import math

from scipy import stats


def corrected(values: list[float], tested: int, trained: int) -> tuple[float, float]:
    """Mean and standard error: its square is (1/J + n2/n1) S^2, with S^2 = sum (mu_j - mu)^2 / (J - 1)."""
    j = len(values)
    mean = sum(values) / j
    spread = sum((value - mean) ** 2 for value in values) / (j - 1)
    return mean, math.sqrt((1 / j + tested / trained) * spread)


def interval(values: list[float], tested: int, trained: int, level: float) -> tuple[float, float]:
    """The mean plus and minus the t quantile of J - 1 degrees of freedom times the standard error."""
    mean, error = corrected(values, tested, trained)
    reach = stats.t.ppf((1 + level) / 2, len(values) - 1) * error
    return mean - reach, mean + reach


def p_value(differences: list[float], tested: int, trained: int) -> float:
    """Both tails of t = mean / standard error."""
    mean, error = corrected(differences, tested, trained)
    return 2 * stats.t.sf(abs(mean / error), len(differences) - 1)
