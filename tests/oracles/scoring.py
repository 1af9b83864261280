"""Every measure from its equation (VSD 4, 5; EDS 4, 6.3; SPEC 7), one loop per sum. Nothing here comes from src.

None stands for undefined. Exact fractions where the formula allows them; exponentials with fifty digits.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import isinf
from typing import NamedTuple

TIE = 1e-6


class Row(NamedTuple):
    """One labelled pair: what a measure may look at."""

    query: str
    candidate: str
    label: int
    above: int
    tied: int
    score: float
    candidates: int


Rows = Sequence[Row]


def by_query(rows: Rows) -> list[list[Row]]:
    """The rows of each query that has a label."""
    queries: dict[str, list[Row]] = {}
    for row in rows:
        queries.setdefault(row.query, []).append(row)
    return list(queries.values())


def mean(values: Sequence[Fraction | float | None]) -> float | None:
    """The mean of the defined values; None if there is none."""
    defined = [Fraction(value) for value in values if value is not None]
    return float(sum(defined) / len(defined)) if defined else None


def rank(row: Row) -> Fraction:
    """Zero-based rank, ties in the middle."""
    return row.above + Fraction(row.tied, 2)


# ---- DCS, VSD 4


def percentile(row: Row) -> Fraction | None:
    """p = 1 - r / (n - 1); nothing for a candidate that is alone."""
    return None if row.candidates == 1 else 1 - rank(row) / (row.candidates - 1)


def phi(p: Fraction, alpha: float) -> float:
    """VSD Eq. 2, with its limits: p itself for alpha 0, a step for an infinite alpha."""
    if alpha == 0:
        return float(p)
    if isinf(alpha):
        return float(p == 1) if alpha > 0 else float(p > 0)
    with localcontext() as context:
        context.prec = 400 if abs(alpha) < 1e-100 else 60
        a, at = Decimal(alpha), Decimal(p.numerator) / Decimal(p.denominator)
        return float(((a * at).exp() - 1) / (a.exp() - 1))


def credit(row: Row, alpha: float, alpha_negative: float) -> float | None:
    """VSD Eq. 1: phi for a positive, 1 - phi for a negative."""
    p = percentile(row)
    if p is None:
        return None
    return phi(p, alpha) if row.label == 1 else 1 - phi(p, alpha_negative)


def dcs(
    rows: Rows, alpha: float = 10, alpha_negative: float | None = None, average: str = "micro"
) -> float | None:
    """Mean credit of labelled pairs; macro: of each query first."""
    negative = alpha if alpha_negative is None else alpha_negative
    if average == "micro":
        return mean([credit(row, alpha, negative) for row in rows])
    return mean([mean([credit(row, alpha, negative) for row in query]) for query in by_query(rows)])


# ---- the top K, VSD 5


def membership(row: Row, k: int) -> Fraction:
    """The share of tie orders that put the pair in the top K: it may stand at above, ..., above + tied."""
    places = range(row.above, row.above + row.tied + 1)
    return Fraction(sum(place < k for place in places), len(places))


def in_top(query: Rows, k: int, labels: tuple[int, ...]) -> Fraction:
    """How many with one of these labels stand in the top K."""
    return sum((membership(row, k) for row in query if row.label in labels), Fraction(0))


def hr(rows: Rows, k: int) -> float | None:
    """Positives in the top K over K, mean over queries with a label."""
    return mean([in_top(query, k, (1,)) / k for query in by_query(rows)])


def coverage(rows: Rows, k: int) -> float | None:
    """Labelled in the top K over K, mean over queries with a label."""
    return mean([in_top(query, k, (0, 1)) / k for query in by_query(rows)])


def ehr(rows: Rows, k: int) -> float | None:
    """Positives over labelled in the top K; queries with none take the mean of the others, as VSD 5 words it."""
    shares: list[Fraction | None] = []
    for query in by_query(rows):
        labelled = in_top(query, k, (0, 1))
        shares.append(in_top(query, k, (1,)) / labelled if labelled > 0 else None)
    covered = [share for share in shares if share is not None]
    if not covered:
        return None
    others = sum(covered) / len(covered)
    return mean([others if share is None else share for share in shares])


# ---- areas under curves, EDS 4 and 6.3


def auc_of(pairs: Sequence[tuple[float, float]]) -> Fraction | None:
    """EDS Eq. 4 over (positive, negative) losses: the smaller loss wins, equals count half."""
    if not pairs:
        return None
    won = sum((Fraction(p < n) + Fraction(p == n, 2) for p, n in pairs), Fraction(0))
    return won / len(pairs)


def auc_mac(rows: Rows) -> float | None:
    """AUC of each query by ranks, mean over queries with both labels."""
    return mean(
        [
            auc_of([(rank(p), rank(n)) for p in query if p.label == 1 for n in query if n.label == 0])
            for query in by_query(rows)
        ]
    )


def auc_mic(rows: Rows, tie: float = TIE) -> float | None:
    """AUC of all pairs by scores; scores within the tolerance are equal."""
    won = total = 0.0
    for p in rows:
        for n in rows:
            if p.label == 1 and n.label == 0:
                total += 1
                won += 0.5 if abs(p.score - n.score) <= tie else float(p.score > n.score)
    return won / total if total else None


def precision(row: Row, rows: Rows, as_good) -> Fraction:
    """Positives among all labelled ones that stand at least as well."""
    ahead = [other for other in rows if as_good(other, row)]
    return Fraction(sum(other.label for other in ahead), len(ahead))


def average_precision(rows: Rows, as_good) -> Fraction | None:
    """Mean over positives of the precision at their place."""
    positives = [row for row in rows if row.label == 1]
    if not positives:
        return None
    return sum((precision(row, rows, as_good) for row in positives), Fraction(0)) / len(positives)


def pr_auc_mac(rows: Rows) -> float | None:
    """Average precision of each query by ranks, mean over queries with a positive."""
    return mean([average_precision(query, lambda a, b: rank(a) <= rank(b)) for query in by_query(rows)])


def pr_auc_mic(rows: Rows, tie: float = TIE) -> float | None:
    """Average precision of all pairs by scores."""
    value = average_precision(rows, lambda a, b: a.score >= b.score - tie)
    return None if value is None else float(value)


# ---- BPREF, trec_eval's form


def bpref_of(query: Rows) -> Fraction | None:
    """1/R sum over positives of 1 - min(negatives above, R) / min(R, N); a tied negative counts half."""
    positives = [row for row in query if row.label == 1]
    negatives = [row for row in query if row.label == 0]
    if not positives:
        return None
    total = Fraction(0)
    for p in positives:
        ahead = sum(
            (Fraction(rank(n) < rank(p)) + Fraction(rank(n) == rank(p), 2) for n in negatives), Fraction(0)
        )
        least = min(len(positives), len(negatives))
        total += 1 - min(ahead, len(positives)) / least if least else 1
    return total / len(positives)


def bpref(rows: Rows) -> float | None:
    """Mean over queries with a positive."""
    return mean([bpref_of(query) for query in by_query(rows)])
