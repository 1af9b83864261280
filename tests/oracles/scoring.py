"""Every measure from its equation (VSD 4, 5; EDS 4, 6.3, 6.5), one loop per sum. Nothing here comes from src.

None stands for undefined. Exact fractions where the formula allows them; exponentials with fifty digits.
"""

from collections.abc import Sequence
from decimal import Decimal, localcontext
from fractions import Fraction
from math import comb, isinf, log, log2
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


def dcs_of_half(rows: Rows, half: float) -> float | None:
    """DCS with alpha = (n - 1) ln 2 / half, n the candidates of the row's query."""

    def alpha(row: Row) -> float:
        return (row.candidates - 1) * log(2) / half

    return mean([credit(row, alpha(row), alpha(row)) for row in rows])


# ---- the top K, VSD 5


def membership(row: Row, k: int) -> Fraction:
    """The share of tie orders that put the pair in the top K: it may stand at above, ..., above + tied."""
    places = range(row.above, row.above + row.tied + 1)
    return Fraction(sum(place < k for place in places), len(places))


def in_top(query: Rows, k: int, labels: tuple[int, ...]) -> Fraction:
    """How many with one of these labels are in the top K."""
    return sum((membership(row, k) for row in query if row.label in labels), Fraction(0))


def hr(rows: Rows, k: int) -> float | None:
    """Positives in the top K over K, mean over queries with a label."""
    return mean([in_top(query, k, (1,)) / k for query in by_query(rows)])


def recall(rows: Rows, k: int) -> float | None:
    """Of all positive pairs, the share in the top K: every example is scored 1 or 0 and averaged (EDS 6.3)."""
    return mean([membership(row, k) for row in rows if row.label == 1])


def recall_of_queries(rows: Rows, k: int) -> float | None:
    """The same share within each query, mean over queries with a positive."""
    return mean([recall(query, k) for query in by_query(rows)])


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
    """Positives among all labelled ones with at least as good a rank."""
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


def retrieved_places(row: Row, depth: int | None) -> list[int]:
    """The places the pair may take, those among the first `depth`."""
    return [place for place in range(row.above, row.above + row.tied + 1) if depth is None or place < depth]


def tied_before(row: Row, tied: int, place: int) -> Fraction:
    """How many of some equals come before a pair that takes this place, on average over all orders."""
    return Fraction(tied * (place - row.above), row.tied) if row.tied else Fraction(0)


def bpref_of(query: Rows, depth: int | None = None) -> Fraction | None:
    """1/R sum over positives of 1 - min(negatives above, R) / min(R, N); a tied negative counts half.

    With a depth only places before it are retrieved; negatives above are averaged over those.
    """
    positives = [row for row in query if row.label == 1]
    negatives = [row for row in query if row.label == 0]
    if not positives:
        return None
    total = Fraction(0)
    for p in positives:
        places = retrieved_places(p, depth)
        if not places:
            continue
        better = sum(rank(n) < rank(p) for n in negatives)
        tied = sum(rank(n) == rank(p) for n in negatives)
        ahead = better + sum(tied_before(p, tied, place) for place in places) / len(places)
        least = min(len(positives), len(negatives))
        earned = 1 - min(ahead, Fraction(len(positives))) / least if least else Fraction(1)
        total += earned * len(places) / (p.tied + 1)
    return total / len(positives)


def bpref(rows: Rows, depth: int | None = None) -> float | None:
    """Mean over queries with a positive."""
    return mean([bpref_of(query, depth) for query in by_query(rows)])


# ---- what a list earns by the place: MRR, RR, NDCG, and the same on the condensed list


def reciprocal(place: int) -> Fraction:
    """1 / (place + 1), places from 0."""
    return Fraction(1, place + 1)


def discount(place: int) -> float:
    """1 / log2(place + 2)."""
    return 1 / log2(place + 2)


def earned(row: Row, k: int, gain) -> Fraction:
    """What the pair earns, averaged over the places its equals leave it; nothing beyond the top K."""
    places = range(row.above, row.above + row.tied + 1)
    return sum((Fraction(gain(place)) for place in places if place < k), Fraction(0)) / len(places)


def all_earn(rows: Rows, k: int, gain, labels: tuple[int, ...] = (1,)) -> Fraction:
    """What the pairs with one of these labels earn together."""
    return sum((earned(row, k, gain) for row in rows if row.label in labels), Fraction(0))


def first_places(count: int, gain) -> Fraction:
    """What the first places earn."""
    return sum((Fraction(gain(place)) for place in range(count)), Fraction(0))


def positives(query: Rows) -> int:
    """How many are labelled similar."""
    return sum(row.label for row in query)


def condensed(query: Rows) -> list[Row]:
    """The same list without its unjudged candidates."""
    return [
        row._replace(
            above=sum(rank(other) < rank(row) for other in query),
            tied=sum(rank(other) == rank(row) for other in query) - 1,
            candidates=len(query),
        )
        for row in query
    ]


def possible(share: Fraction, best: Fraction | int) -> Fraction | None:
    """A share of what was possible; nothing where nothing was."""
    return share / best if best else None


def hr_of_possible(rows: Rows, k: int) -> float | None:
    """Hits over min(K, R), EDS 6.5."""
    return mean([possible(in_top(q, k, (1,)), min(k, positives(q))) for q in by_query(rows)])


def mrr(rows: Rows, k: int) -> float | None:
    """EDS 6.3 with H_K, the harmonic number."""
    return mean([all_earn(q, k, reciprocal) / first_places(k, reciprocal) for q in by_query(rows)])


def mrr_of_possible(rows: Rows, k: int) -> float | None:
    """The same over what the query's positives could earn."""
    return mean(
        [
            possible(all_earn(q, k, reciprocal), first_places(min(k, positives(q)), reciprocal))
            for q in by_query(rows)
        ]
    )


def emrr(rows: Rows, k: int) -> float | None:
    """What positives earn over what the labelled earn, on the condensed list."""
    shares = []
    for query in map(condensed, by_query(rows)):
        shares.append(all_earn(query, k, reciprocal) / all_earn(query, k, reciprocal, (0, 1)))
    return mean(shares)


def ndcg_of(query: Rows, k: int) -> Fraction | None:
    """DCG over that of the best order of the query's positives."""
    return possible(all_earn(query, k, discount), first_places(min(k, positives(query)), discount))


def ndcg(rows: Rows, k: int) -> float | None:
    """Mean over queries with a positive."""
    return mean([ndcg_of(query, k) for query in by_query(rows)])


def endcg(rows: Rows, k: int) -> float | None:
    """The same on the condensed list."""
    return mean([ndcg_of(condensed(query), k) for query in by_query(rows)])


def first_at(place: int, among: int, chosen: int) -> Fraction:
    """Chance that the first of some chosen ones is at this place of a random order of all."""
    return Fraction(comb(among - 1 - place, chosen - 1), comb(among, chosen))


def rr(rows: Rows, k: int | None = None) -> float | None:
    """Reciprocal rank of the first positive, over all orders of the equals it stands among; 0 without one."""
    values = []
    for query in by_query(rows):
        best = [row for row in query if row.label == 1]
        best = [row for row in best if rank(row) == min(rank(other) for other in best)]
        value = Fraction(0)
        if best:
            above, among = best[0].above, best[0].tied + 1
            for place in range(among - len(best) + 1):
                if k is None or above + place < k:
                    value += first_at(place, among, len(best)) * reciprocal(above + place)
        values.append(value)
    return mean(values)
