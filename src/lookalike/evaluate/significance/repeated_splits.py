"""Values over repeated splits of one catalog: the splits share images, so their spread alone is too sure of itself."""

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64
from scipy.special import stdtrit

from lookalike.core.checks import at_least
from lookalike.core.errors import ArgumentError
from lookalike.evaluate.significance.compare import holm, share_won, t_test
from lookalike.evaluate.significance.intervals import LEVEL


@dataclass(frozen=True)
class OverSplits:
    """A mean over splits and its interval; `splits` have a value. NaN ends where fewer than two splits have one."""

    value: float
    low: float
    high: float
    splits: int


@dataclass(frozen=True)
class Difference:
    """One method minus another on the same splits. `won`: share of splits on which the first is ahead, ties half."""

    methods: tuple[str, str]
    by: OverSplits
    won: float
    p: float
    p_holm: float = float("nan")


def standard_error(values: Float64[np.ndarray, " splits"], tested: int, trained: int) -> float:
    """The standard error of a mean over splits that overlap (Nadeau and Bengio 2003, 4.4, "corrected resampled").

        SE^2 = (1 / J + n_test / n_train) s^2

    s^2 is the variance of the J values, with J - 1 below the fraction. The plain s^2 / J supposes that splits are
    independent catalogs; they are draws from one, and the second term stands for what they have in common. It is not
    exact (no unbiased estimate exists).

    values (J,) without NaN, tested and trained numbers of images. NaN for fewer than two values. ArgumentError: a
    number of images below 1.

    >>> round(standard_error(np.array([0.0, 0.2, 0.4]), tested=25, trained=60), 4)
    0.1732
    """
    at_least(tested, 1, "tested")
    at_least(trained, 1, "trained")
    if len(values) < 2:
        return float("nan")
    return float(np.sqrt((1.0 / len(values) + tested / trained) * values.var(ddof=1)))


def over_splits(
    values: Float64[np.ndarray, " splits"], tested: int, trained: int, *, level: float = LEVEL
) -> OverSplits:
    """The mean of the splits that have a value, plus and minus t quantile x `standard_error`, J - 1 degrees of freedom.

    NaN marks a split without a value.

    >>> over_splits(np.array([0.5, 0.5, np.nan]), 25, 60)
    OverSplits(value=0.5, low=0.5, high=0.5, splits=2)
    """
    if not 0.0 < level < 1.0:
        raise ArgumentError(f"level is {level}; it must lie between 0 and 1.", fix="Give 0.95.")
    known = values[~np.isnan(values)]
    if not len(known):
        return OverSplits(np.nan, np.nan, np.nan, 0)
    mean = float(known.mean())
    if len(known) < 2:
        return OverSplits(mean, np.nan, np.nan, len(known))
    reach = float(stdtrit(len(known) - 1, (1.0 + level) / 2.0)) * standard_error(known, tested, trained)
    return OverSplits(mean, mean - reach, mean + reach, len(known))


def resampled_t_test(differences: Float64[np.ndarray, " splits"], tested: int, trained: int) -> float:
    """Two-sided p of the corrected resampled t-test: t = mean / `standard_error`, J - 1 degrees of freedom.

    Source: Nadeau and Bengio 2003, section 4.4. differences (J,) of two methods on the same splits, without NaN.
    1 where all are 0; NaN for fewer than two, and where all are the same but not 0.

    >>> round(resampled_t_test(np.array([0.1, 0.2, 0.3]), tested=25, trained=60), 4)
    0.1472
    """
    return t_test(differences, standard_error(differences, tested, trained))


def differences(
    found: dict[str, np.ndarray], pairs: list[tuple[str, str]], tested: int, trained: int
) -> list[Difference]:
    """The first method minus the second for each pair, on the splits that both have; p adjusted by Holm over all pairs.

    `found` holds each method's values, a place for each split, NaN where there is none.
    """
    made = []
    for one, other in pairs:
        apart = np.asarray(found[one] - found[other], np.float64)
        known = apart[~np.isnan(apart)]
        by = over_splits(known, tested, trained)
        made.append(Difference((one, other), by, share_won(known), resampled_t_test(known, tested, trained)))
    adjusted = holm(np.array([one.p for one in made], np.float64))
    return [replace(one, p_holm=float(p)) for one, p in zip(made, adjusted, strict=True)]
