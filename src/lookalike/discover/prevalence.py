"""How rare similar pairs are: the positive rate p, its interval, its budget, and what the pool gains (EDS 3.3.1)."""

import math
from dataclasses import dataclass

from lookalike.core.checks import at_least
from lookalike.core.errors import ArgumentError
from lookalike.core.text import plural, small_percent

LEVEL = 0.95
ENOUGH_LABELLED = 0.9
NAN = math.nan


@dataclass(frozen=True)
class PositiveRate:
    """The positive rate over all pairs, as far as it is known.

    `pairs` is |A|; `known` of them are labelled similar, from any generator. Of the `drawn` random pairs
    `labelled` (b) have a label, `positives` (a) of them similar. `lower_bound` is p_LB, `rate` the MAP
    estimate, [`low`, `high`] the credible interval that holds p with probability `level`. `pool_rate` is p_k,
    `gain` is p_k / p, highest where p is lowest (infinite where p may be 0). `known_share` is the share of all
    similar pairs that is known. Whatever cannot be known yet is NaN, and `reason` says why. If no random pair is
    similar, the rate is unknown: then `rate` is p_LB as in EDS Eq. 2, `high` is the most that it can be, and `reason`
    says so.
    """

    pairs: int
    known: int
    drawn: int
    labelled: int
    positives: int
    level: float
    lower_bound: float
    rate: float
    low: float
    high: float
    pool_rate: float
    gain: float
    gain_low: float
    gain_high: float
    known_share: float
    reason: str = ""


def positive_rate(
    *,
    pairs: int,
    known: int,
    drawn: int,
    labelled: int,
    positives: int,
    pool_labelled: int = 0,
    pool_positives: int = 0,
    level: float = LEVEL,
) -> PositiveRate:
    """The figures of EDS 3.3.1 from counts.

    Undefined until 9 of 10 drawn pairs have a label: those that had one before the draw come from the
    pool, where similar pairs are common, and a rate of them alone would be far too high. The pairs that stay
    open are left out, so a rate of 9 in 10 errs by at most that tenth of the sample. The gain is undefined
    while no pair of the pool is labelled or the rate is 0.

    >>> found = positive_rate(pairs=105_422_000, known=45_920, drawn=2_000, labelled=2_000, positives=2,
    ...                       pool_labelled=54_170, pool_positives=45_920)
    >>> found.rate, round(found.low, 5), round(found.high, 5), round(found.gain)
    (0.001, 0.00044, 0.00318, 848)
    """
    _require_counts(pairs, known, drawn, labelled, positives)
    _require_counts(pool_labelled, pool_positives, pool_labelled, pool_labelled, pool_positives)
    lower_bound = known / pairs if pairs else NAN
    pool_rate = pool_positives / pool_labelled if pool_labelled else NAN
    rate, low, high = NAN, NAN, NAN
    reason = _why_undefined(pairs, drawn, labelled)
    if not reason:
        rate = map_estimate(labelled, positives, lower_bound)
        low, high = credible_interval(labelled, positives, lower_bound, level)
        if math.isnan(low):
            reason = "the sample holds so few similar pairs that it contradicts the labels already known"
        elif not positives and labelled < pairs:
            reason = (
                f"none of the {labelled:,} labelled random pairs is similar, so the rate is unknown, at most "
            )
            reason += small_percent(high)
    is_known = rate > 0 and not reason
    return PositiveRate(
        pairs=pairs,
        known=known,
        drawn=drawn,
        labelled=labelled,
        positives=positives,
        level=level,
        lower_bound=lower_bound,
        rate=rate,
        low=low,
        high=high,
        pool_rate=pool_rate,
        gain=pool_rate / rate if is_known else NAN,
        gain_low=pool_rate / high if high else NAN,
        gain_high=pool_rate / low if low else math.inf,
        known_share=lower_bound / rate if is_known else NAN,
        reason=reason,
    )


def map_estimate(labelled: int, positives: int, lower_bound: float) -> float:
    """p = max(p_LB, a/b) (EDS Eq. 2): the mode of a binomial under a uniform prior on [p_LB, 1]; NaN where b = 0.

    >>> map_estimate(2_000, 2, 45_920 / 105_422_000)
    0.001
    """
    return max(lower_bound, positives / labelled) if labelled else NAN


def credible_interval(
    labelled: int, positives: int, lower_bound: float, level: float = LEVEL
) -> tuple[float, float]:
    """The shortest interval that holds p with probability `level`.

    Prior: uniform on [p_LB, 1] (EDS 3.3.1). Posterior: Beta(a + 1, b - a + 1) cut to [p_LB, 1]. The interval
    of highest density always holds the MAP estimate; one with equal tails would leave it out
    where it is p_LB, and with a = 0 never reach down to 0, where rare positives are. The binomial is that of
    drawing with repeats: where b nears |A| the interval is too wide. NaN, NaN where the posterior has no mass
    above p_LB that a double can hold.

    >>> [round(end, 5) for end in credible_interval(500, 0, 0.0)]
    [0.0, 0.00596]
    """
    from scipy.optimize import brentq
    from scipy.special import betaincc, betainccinv, xlog1py, xlogy

    require_share(level, "level")
    shape = positives + 1, labelled - positives + 1
    mass = float(betaincc(*shape, lower_bound))
    if not mass > 1e-300:
        return NAN, NAN

    def upper(low: float) -> float:
        above = float(betaincc(*shape, low)) - level * mass
        return float(betainccinv(*shape, max(above, 0.0)))

    def log_density(p: float) -> float:
        return float(xlogy(positives, p) + xlog1py(labelled - positives, -p))

    def higher_at_the_low_end(low: float) -> float:
        return log_density(low) - log_density(upper(low))

    mode = positives / labelled if labelled else 1.0
    last = min(mode, float(betainccinv(*shape, level * mass)))  # from here on the interval would pass 1
    if last <= lower_bound or higher_at_the_low_end(lower_bound) >= 0:
        return lower_bound, upper(lower_bound)
    if higher_at_the_low_end(last) <= 0:
        return last, upper(last)
    low = float(brentq(higher_at_the_low_end, lower_bound, last, xtol=1e-15, rtol=1e-12))
    return low, upper(low)


def chebyshev_budget(precision: float, risk: float, rate: float | None = None) -> int:
    """How many random pairs b keep the error of the estimate below eps but with probability q (EDS Eq. 3).

    P(|p_hat - p| >= eps) <= p(1 - p) / (b eps^2) <= q, so b = p(1 - p) / (q eps^2), rounded up. Where
    p < eps the paper bounds p(1 - p) by eps: b = 1 / (eps q). `rate` is the highest p to be ready for; None is
    any p, at worst 1/2. Taking max(p_LB, .) only brings a/b nearer to p, so Eq. 3 holds for the MAP
    estimate too.

    The paper prints "setting b = k / eps" without saying that this k is not the pool's; with b = 1 / (eps q)
    its right side is p q / eps < q. The bound is loose twice: Chebyshev's inequality asks for several
    times the pairs that a binomial needs, and an error of eps says little about a rate below eps: there, take
    eps as a part of the rate. Raises ArgumentError unless eps and q lie between 0 and 1.

    >>> chebyshev_budget(0.001, 0.05, rate=0.0005), chebyshev_budget(0.1, 0.05)
    (20000, 500)
    """
    require_share(precision, "precision")
    require_share(risk, "risk")
    if rate is not None and rate < precision:
        return _rounded_up(1.0 / (precision * risk))
    worst = 0.5 if rate is None else min(rate, 0.5)
    return _rounded_up(worst * (1.0 - worst) / (risk * precision**2))


def _rounded_up(pairs: float) -> int:
    return math.ceil(pairs - 1e-9 * pairs)  # 1 / (0.001 x 0.05) is 20,000, not 20,001


def _why_undefined(pairs: int, drawn: int, labelled: int) -> str:
    if not pairs:
        return "there is no pair to ask about"
    if not drawn:
        return "no random pair was drawn"
    if labelled < ENOUGH_LABELLED * drawn:
        return (
            f"only {labelled:,} of {plural(drawn, 'random pair')} labelled, and at least 9 of 10 are needed"
        )
    return ""


def _require_counts(pairs: int, known: int, drawn: int, labelled: int, positives: int) -> None:
    """Counts that fit into each other: known <= pairs, positives <= labelled <= drawn <= pairs."""
    for value, least, name in ((known, 0, "known"), (positives, 0, "positives"), (labelled, 0, "labelled")):
        at_least(value, least, name)
    for part, whole, names in (
        (known, pairs, "known is at most pairs"),
        (drawn, pairs, "drawn is at most pairs"),
        (labelled, drawn, "labelled is at most drawn"),
        (positives, labelled, "positives is at most labelled"),
    ):
        if part > whole:
            raise ArgumentError(
                f"{part:,} is more than {whole:,}: {names}.", fix="Give counts of one labelling."
            )


def require_share(value: float, argument: str) -> None:
    """Refuse what is no share between 0 and 1, both left out."""
    if not 0.0 < value < 1.0:
        raise ArgumentError(
            f"{argument} is {value}; it must lie between 0 and 1.",
            fix=f"Give a share, such as {0.95 if argument.strip('-') in ('level', 'confidence') else 0.05}.",
        )
