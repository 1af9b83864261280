"""Several rounds of one question as one estimate (Des Raj 1956)."""

import math
from collections.abc import Sequence

from lookalike.audit.sampling.estimate import Estimate
from lookalike.core.errors import ArgumentError


def round_weights(there: Sequence[int], labels: Sequence[int]) -> tuple[float, ...]:
    """The weights of rounds that draw `labels` of the units that are open then, `there`; they add up to 1.

    Round r draws n_r of N_r units. Its variance is S^2 N_r (N_r - n_r) / n_r, so

        a_r in proportion to n_r / (N_r (N_r - n_r)).

    If nothing but the rounds gives labels (N_r+1 = N_r - n_r), they are together as precise as one draw of all labels.
    The weights depend on plans alone, never on answers. The last round that takes all that is open has all the weight:
    its value is exact.

    >>> [round(a, 3) for a in round_weights([100, 90], [10, 10])]
    [0.444, 0.556]
    >>> round_weights([100, 40], [10, 40])
    (0.0, 1.0)
    """
    found = []
    for left, n in zip(there, labels, strict=True):
        if not 0 < n <= left:
            raise ArgumentError(f"A round has {n} labels of {left} open units.", fix="Leave out such rounds.")
        found.append(math.inf if n == left else n / (left * (left - n)))
    if math.inf in found:
        last = len(found) - 1 - found[::-1].index(math.inf)
        return tuple(float(at == last) for at in range(len(found)))
    return tuple(one / sum(found) for one in found)


def combined(rounds: Sequence[Estimate], weights: Sequence[float]) -> Estimate:
    """The weighted mean of rounds' estimates, each made with the labels of earlier rounds as known.

        value = sum a_r value_r        error^2 = sum a_r^2 error_r^2

    Given the earlier rounds, each estimate has no bias, so rounds do not correlate and their variances add up (Des Raj
    1956). Half-widths are joined by their squares, as in MOVER; where drawn units have no answer they are added up,
    because bounds do not cancel.

    >>> half = Estimate(0.5, 0.4, 0.6, "Wilson", 50, 0, 0.0, 0.05)
    >>> found = combined([half, half], [0.5, 0.5])
    >>> round(found.low, 3), round(found.high, 3), found.labels
    (0.429, 0.571, 100)
    """
    if len(rounds) != len(weights) or abs(sum(weights) - 1.0) > 1e-9:
        raise ArgumentError(
            "The weights of the rounds do not add up to 1.", fix="Give one weight for each round."
        )
    parts = list(zip(rounds, weights, strict=True))
    value = sum(a * one.value for one, a in parts)
    add = sum if any(one.open for one in rounds) else lambda widths: math.hypot(*widths)

    def ends(each: Sequence[tuple[float, float]]) -> tuple[float, float]:
        below = [a * (one.value - low) for (one, a), (low, _) in zip(parts, each, strict=True)]
        above = [a * (high - one.value) for (one, a), (_, high) in zip(parts, each, strict=True)]
        return value - add(below), value + add(above)

    low, high = ends([(one.low, one.high) for one in rounds])
    last = max(parts, key=lambda part: part[1])[0]
    return Estimate(
        value,
        low,
        high,
        last.method,
        sum(one.labels for one in rounds),
        sum(one.open for one in rounds),
        sum(a * one.coefficient for one, a in parts),
        math.hypot(*(a * one.error for one, a in parts)),
        ends([one.bootstrap for one in rounds]),
    )
