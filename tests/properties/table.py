"""Every measure of the table, so that one added later is held to the laws without a line here.

A law returns the measures that break it, so that a failure names them all.
"""

from collections.abc import Sequence
from math import isnan

from oracles.scoring import Row
from oracles.worlds import Candidate, Ranking, judged_of, rows_of

from lookalike.core.types import Score
from lookalike.evaluate.measures.table import FAMILIES, parse

VARIANTS = [
    "DCS(alpha=0)",
    "DCS(alpha=-4)",
    "DCS(alpha=inf)",
    "DCS(alpha=20,alpha_negative=2)",
    "DCS(alpha=10,average=macro)",
    "DCS(half=2)",
    "DCS(average=macro,half=7)",
    "BPREF(depth=1)",
    "BPREF(depth=3)",
    "HR@3(of=possible)",
    "Recall@3(average=macro)",
    "MRR@3(of=possible)",
    "RR",
]
EVERY = [
    *(
        name
        for family in FAMILIES.values()
        for name in ([f"{family.name}@{k}" for k in (1, 3, 20)] if family.takes_k else [family.name])
    ),
    *VARIANTS,
]

PARSED = {measure: parse(measure) for measure in EVERY}  # once: laws ask for them thousands of times

Rows = Sequence[Row]
NEARLY = 1e-12  # sums of fractions in another order


def without(*families: str) -> list[str]:
    """All measures but those of families a law does not hold for."""
    assert set(families) <= set(FAMILIES)
    return [measure for measure in EVERY if PARSED[measure].family not in families]


def only(*families: str) -> list[str]:
    """The measures of some families."""
    left = set(without(*families))
    return [measure for measure in EVERY if measure not in left]


def scores(measures: Sequence[str], rows: Rows) -> dict[str, Score]:
    """Several measures of the same rows."""
    judged = judged_of(rows)
    return {measure: PARSED[measure](judged) for measure in measures}


def value(measure: str, rankings: Sequence[Ranking]) -> float:
    """One measure of rankings."""
    return parse(measure)(judged_of(rows_of(rankings))).value


def same(a: float, b: float) -> bool:
    """Equal up to the order of summation, NaN like NaN."""
    return (isnan(a) and isnan(b)) or abs(a - b) <= NEARLY


def that_differ(measures: Sequence[str], one: Rows, other: Rows) -> list[str]:
    """Measures that do not give the same for both."""
    first, second = scores(measures, one), scores(measures, other)
    return [measure for measure in measures if not same(first[measure].value, second[measure].value)]


def that_fall(measures: Sequence[str], before: Rows, after: Rows) -> list[str]:
    """Measures that were defined before and are lower, or undefined, after."""
    first, second = scores(measures, before), scores(measures, after)
    return [
        measure
        for measure in measures
        if not isnan(first[measure].value) and not second[measure].value >= first[measure].value - NEARLY
    ]


def ranking_of(labels: Sequence[int | None], *, tied: bool = False) -> Ranking:
    """A ranking without ties, or one in which all tie."""
    return [Candidate(label, tied) for label in labels]
