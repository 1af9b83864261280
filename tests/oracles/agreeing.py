"""Agreement from its definitions, vote by vote, in exact fractions. Nothing here comes from src.

A unit is what all raters said of one pair, None where they said nothing. None is also what is undefined.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import permutations, product

Answer = Hashable | None
Units = Sequence[Sequence[Answer]]


def given(unit: Sequence[Answer]) -> list[Hashable]:
    """The votes of a unit that are there."""
    return [answer for answer in unit if answer is not None]


def percent(units: Units) -> Fraction | None:
    """Of every pair with two votes, the share of ordered couples of votes that are equal; their mean."""
    shares = []
    for unit in units:
        couples = list(permutations(given(unit), 2))
        if couples:
            shares.append(Fraction(sum(a == b for a, b in couples), len(couples)))
    return mean(shares)


def cohen(one: Sequence[Answer], other: Sequence[Answer]) -> Fraction | None:
    """Cohen 1960: both rated, chance from each rater's own marginals."""
    both = [(a, b) for a, b in zip(one, other, strict=True) if a is not None and b is not None]
    if not both:
        return None
    observed = Fraction(sum(a == b for a, b in both), len(both))
    chance = Fraction(
        sum(a == b for a, b in product([a for a, _ in both], [b for _, b in both])), len(both) ** 2
    )
    return corrected(observed, chance)


def fleiss(units: Units) -> Fraction | None:
    """Fleiss 1971; an answer's share is the mean over units of its share there."""
    shares = answer_shares(units)
    return corrected(percent(units), sum((p * p for p in shares.values()), Fraction(0)))


def ac1(units: Units, answers: int) -> Fraction | None:
    """Gwet 2008, 2014: chance is that of raters who guess now and then."""
    shares = answer_shares(units)
    return corrected(percent(units), sum((p * (1 - p) for p in shares.values()), Fraction(0)) / (answers - 1))


def alpha(units: Units) -> Fraction | None:
    """Krippendorff: 1 - observed / expected disagreement, every ordered couple of votes looked at."""
    pairable = [given(unit) for unit in units if len(given(unit)) >= 2]
    votes = [vote for unit in pairable for vote in unit]
    if not votes:
        return None
    n = len(votes)
    observed = sum(
        (Fraction(sum(a != b for a, b in permutations(unit, 2)), len(unit) - 1) for unit in pairable),
        Fraction(0),
    )
    expected = Fraction(sum(a != b for a, b in permutations(votes, 2)), n - 1)
    return 1 - observed / expected if expected else None


def with_any_other(units: Units, rater: int) -> Fraction | None:
    """Cohen's kappa of one rater with a second who is a random other one on each unit."""
    rows = [
        (unit[rater], given([*unit[:rater], *unit[rater + 1 :]])) for unit in units if unit[rater] is not None
    ]
    rows = [(own, others) for own, others in rows if others]
    if not rows:
        return None
    observed = mean([Fraction(others.count(own), len(others)) for own, others in rows])
    answers = {vote for own, others in rows for vote in (own, *others)}
    chance = Fraction(0)
    for answer in answers:
        second = mean([Fraction(others.count(answer), len(others)) for _, others in rows])
        chance += Fraction(sum(own == answer for own, _ in rows), len(rows)) * second
    return corrected(observed, chance)


def answer_shares(units: Units) -> dict[Hashable, Fraction]:
    """Mean over units with a vote of each answer's share."""
    rated = [given(unit) for unit in units if given(unit)]
    total: Counter[Hashable] = Counter()
    for unit in rated:
        for vote in unit:
            total[vote] += Fraction(1, len(unit) * len(rated))
    return dict(total)


def corrected(observed: Fraction | None, chance: Fraction) -> Fraction | None:
    """(observed - chance) / (1 - chance)."""
    return None if observed is None or chance == 1 else (observed - chance) / (1 - chance)


def mean(values: Sequence[Fraction]) -> Fraction | None:
    """The mean of some fractions."""
    return sum(values, Fraction(0)) / len(values) if values else None
