"""Hours left, the expected end, and how much narrower intervals get with more labels."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt

import numpy as np
from jaxtyping import Float64

from lookalike.annotate.agreement.figure import Figure, deviate, share, undefined
from lookalike.annotate.agreement.pace import DAY_MS, HOUR_MS, Worked
from lookalike.annotate.agreement.patterns import BY_CODE, Counts
from lookalike.annotate.protocol import DISCUSSION, Protocol

RECENT_DAYS = 14
FEWEST_QUERIES = 10
STEPS = 6


@dataclass(frozen=True)
class Step:
    """At a number of labelled queries: the labels to expect, and the half-width of the interval."""

    queries: int
    labels: int
    half_width: float


@dataclass(frozen=True)
class Forecast:
    """A share with its interval from the queries labelled so far, and its width with more queries.

    `value.count` is those queries. `reason` of the value says why there is no forecast.
    """

    value: Figure
    labels: int
    steps: tuple[Step, ...]


def hours_left(answers: int, per_hour: Figure) -> Figure:
    """The remaining answers divided by the pace. The interval comes from that of the pace.

    >>> found = hours_left(1_200, Figure(120.0, 100.0, 150.0, 30))
    >>> found.value, found.low, found.high
    (10.0, 8.0, 12.0)
    """
    if answers == 0:
        return Figure(0.0, 0.0, 0.0, 0)
    if isnan(per_hour.value) or per_hour.value == 0:
        return undefined(per_hour.reason or "there are no answers yet", per_hour.count)
    low = answers / per_hour.high if per_hour.is_sure else nan
    high = (answers / per_hour.low if per_hour.low > 0 else inf) if per_hour.is_sure else nan
    return Figure(answers / per_hour.value, low, high, per_hour.count, per_hour.reason)


def expected_end(left: Figure, worked: Sequence[Worked], now: int) -> tuple[float, float, float]:
    """When the remaining hours end, earliest and latest, in milliseconds since 1970, at the recent pace.

    Active hours for each day of the calendar, over the last 14 days (or since the first hour worked, at least one day):
    nights and weekends are in it. NaN where nobody worked in that time.
    """
    since = now - RECENT_DAYS * DAY_MS
    rows = [row for row in worked if row.hour * HOUR_MS >= since and row.active > 0]
    if not rows:
        return nan, nan, nan
    first = max(since, min(row.hour for row in rows) * HOUR_MS)
    a_day = sum(row.active for row in rows) / HOUR_MS / max(1.0, (now - first) / DAY_MS)
    value, low, high = (now + hours / a_day * DAY_MS for hours in (left.value, left.low, left.high))
    return value, low, high


def discussed(votes: Counts, protocol: Protocol) -> Figure:
    """The share of pairs whose blind votes lead to a discussion, with Wilson's interval.

    >>> from lookalike.annotate.agreement.patterns import vote_table
    >>> votes = vote_table([("", "1+ 2+", 8), ("", "1+ 2-", 1), ("", "1? 2+", 1)])
    >>> discussed(votes.counts, Protocol("consensus", 2)).value
    0.2
    """
    talked = sum(
        pairs
        for answers, pairs in zip(votes.answers.tolist(), votes.pairs.tolist(), strict=True)
        if protocol.outcome(np.repeat(BY_CODE, answers).tolist()).state == DISCUSSION
    )
    return share(talked, int(votes.pairs.sum()))


def forecast(
    numerator: Float64[np.ndarray, " queries"],
    denominator: Float64[np.ndarray, " queries"],
    *,
    labels: int,
    most: int,
) -> Forecast:
    """A ratio over queries, and the half-width of its interval as queries are added, up to `most`.

    The value is R = sum y_q / sum x_q: of the share of similar pairs y counts a query's similar labels and x its
    labels; of a measure they are the parts of its score. Queries are the sample, because pairs of one query are
    alike:

        s^2 = sum (y_q - R x_q)^2 / (n - 1),   half(n') = z s / (mean(x) sqrt(n'))      (Cochran 1977, ch. 6)

    so four times the queries halve it. It assumes that queries to come are drawn like those so far (labelled in random
    order, not the easy ones first), that they get as many labels each, and that labels stay as right as they are.
    Without an interval below 10 queries.
    """
    counts = denominator > 0
    y, x = numerator[counts], denominator[counts]
    n = len(x)
    if n == 0:
        return Forecast(undefined("no query has a label"), labels, ())
    ratio = float(y.sum() / x.sum())
    if n < FEWEST_QUERIES:
        reason = f"an interval needs {FEWEST_QUERIES} queries"
        return Forecast(Figure(ratio, nan, nan, n, reason), labels, ())
    spread = sqrt(float(((y - ratio * x) ** 2).sum()) / (n - 1)) / float(x.mean())
    half = deviate() * spread / sqrt(n)
    ahead = [min(n * 2**step, most) for step in range(STEPS)]
    steps = tuple(
        Step(queries, round(labels * queries / n), deviate() * spread / sqrt(queries))
        for queries in dict.fromkeys(queries for queries in ahead if queries >= n)
    )
    return Forecast(Figure(ratio, ratio - half, ratio + half, n), labels, steps)
