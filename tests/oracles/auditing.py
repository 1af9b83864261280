"""The audits straight from the papers (VSD 7.2.1, 7.2.2, D; EDS 6.3.1): loops over rows, scipy over lists.

Nothing here comes from src. An encoder is its list of rows; rows of one place are one labelled pair for all encoders.
"""

from collections.abc import Sequence
from itertools import permutations
from math import isnan, nan
from warnings import catch_warnings, simplefilter

from oracles.scoring import Row, Rows, auc_mac, auc_mic, bpref, by_query, dcs, ehr, hr, membership, rank
from scipy import stats

MEASURES = {
    "DCS(alpha=10)": dcs,
    "EHR@2": lambda rows: ehr(rows, 2),
    "AUC_mic": auc_mic,
    "AUC_mac": auc_mac,
    "BPREF": bpref,
}
Three = tuple[float, float, float]


def score(measure: str, rows: Rows) -> float:
    """One measure of some rows, NaN where undefined."""
    value = MEASURES[measure](rows) if rows else None
    return nan if value is None else value


def correlations(x: Sequence[float], y: Sequence[float]) -> Three:
    """Spearman, Kendall's tau-b and Pearson over the points that have both values."""
    points = [(round(a, 12), round(b, 12)) for a, b in zip(x, y, strict=True) if not (isnan(a) or isnan(b))]
    if len(points) < 3 or any(len({point[side] for point in points}) == 1 for side in (0, 1)):
        return nan, nan, nan
    a, b = zip(*points, strict=True)
    with catch_warnings():
        simplefilter("ignore")  # nearly constant values
        found = stats.spearmanr(a, b)[0], stats.kendalltau(a, b)[0], stats.pearsonr(a, b)[0]
    return float(found[0]), float(found[1]), float(found[2])


def spearman_p(x: Sequence[float], y: Sequence[float]) -> float:
    """The share of all orders of y with a Spearman as far from 0."""
    seen = stats.spearmanr(x, y)[0]
    every = [stats.spearmanr(x, order)[0] for order in permutations(y)]
    return sum(abs(value) >= abs(seen) - 1e-9 for value in every) / len(every)


def surfaced_by(rows: Rows, k: int) -> list[bool]:
    """EDS Eq. 1: the pairs with a rank below k."""
    return [rank(row) < k for row in rows]


def left(surfaced: Sequence[Sequence[bool]], g: int, rule: str) -> list[int]:
    """Places of the labels that stay when generator g is left out."""
    stay = []
    for place in range(len(surfaced[g])):
        others = any(one[place] for i, one in enumerate(surfaced) if i != g)
        if not surfaced[g][place] or (rule == "only" and others):
            stay.append(place)
    return stay


def bias(measure: str, encoders: Sequence[Rows], stay: Sequence[int]) -> Three:
    """VSD 7.2.1: the scores of all encoders on all labels against those on what stays."""
    full = [score(measure, rows) for rows in encoders]
    return correlations([score(measure, [rows[place] for place in stay]) for rows in encoders], full)


def covered(rows: Rows, k: int) -> set[str]:
    """Queries whose top k are all labelled."""
    return {query[0].query for query in by_query(rows) if sum(membership(row, k) for row in query) >= k}


def of(rows: Rows, queries: set[str]) -> list[Row]:
    """The rows of some queries."""
    return [row for row in rows if row.query in queries]


def full_coverage(
    measure: str, encoders: Sequence[Rows], queries: Sequence[set[str]], stay: Sequence[int], k: int
) -> Three:
    """VSD 7.2.2: a measure on reduced labels against HR@K on all, over each encoder's covered queries."""
    reduced = [
        score(measure, of([rows[place] for place in stay], chosen))
        for rows, chosen in zip(encoders, queries, strict=True)
    ]
    truth = [hr(of(rows, chosen), k) for rows, chosen in zip(encoders, queries, strict=True)]
    return correlations(reduced, [nan if value is None else value for value in truth])


def thinned(query: Rows, k: int, coverage: float) -> list[Row]:
    """One query without its best-ranked labels, one after another, until coverage@K is at most this."""
    rows = list(query)
    for row in sorted(query, key=rank):
        if sum(membership(one, k) for one in rows) <= coverage * k + 1e-9:
            break
        if membership(row, k) > 0:
            rows.remove(row)
    return rows


def swept(measure: str, rows: Rows, queries: set[str], k: int, coverage: float) -> Three:
    """VSD D for one encoder: over its covered queries, the measure on what is left against HR@K before."""
    x, y = [], []
    for query in by_query(rows):
        if query[0].query in queries:
            x.append(score(measure, thinned(query, k, coverage)))
            y.append(hr(query, k))
    return correlations(x, y)


def mean(values: Sequence[float]) -> float:
    """The mean of those that are defined."""
    defined = [value for value in values if not isnan(value)]
    return sum(defined) / len(defined) if defined else nan
