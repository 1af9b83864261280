"""From rows to queries to one value: the folds all measures share."""

import numpy as np
from jaxtyping import Bool, Float64, Int, Shaped

from lookalike.core.types import JudgedRanks, Pooled, Score
from lookalike.evaluate.pooled import folded

NO_LABELS = "no labelled pair can be ranked"


def per_query(judged: JudgedRanks, values: Shaped[np.ndarray, " pairs"]) -> Float64[np.ndarray, " queries"]:
    """Sum of row values for each query, in order of `judged.query_codes`."""
    names, code = judged.query_codes
    return np.bincount(code, weights=values, minlength=len(names)).astype(np.float64)


def mean_over_queries(
    judged: JudgedRanks,
    values: Float64[np.ndarray, " queries"],
    counts: Bool[np.ndarray, " queries"],
    reason: str,
) -> Score:
    """The mean of per-query values over the queries that count; NaN with a reason where none does."""
    return ratio(judged, np.where(counts, values, 0.0), np.asarray(counts, np.float64), reason)


def ratio(
    judged: JudgedRanks,
    numerator: Float64[np.ndarray, " queries"],
    denominator: Float64[np.ndarray, " queries"],
    reason: str,
) -> Score:
    """sum(numerator) / sum(denominator), with the parts kept for intervals. The name is set by the measure."""
    total = float(denominator.sum())
    value = float(numerator.sum()) / total if total > 0 else float("nan")
    why = "" if total > 0 else (reason if len(judged) else NO_LABELS)
    queries = int(np.count_nonzero(denominator))
    return Score("", value, queries, judged.query_codes[0], numerator, denominator, why)


def pooled(judged: JudgedRanks, fold: str, reason: str) -> Score:
    """A measure over the scores of all pairs at once, with what it takes to fold it again.

    Scores within the tie tolerance are equal. Undefined without a positive; AUC without a negative too.
    """
    names, code = judged.query_codes
    order = np.argsort(judged.score, kind="stable")
    score, positive = judged.score[order].astype(np.float64), judged.label[order] == 1
    high, low = score[positive], score[~positive]
    parts = Pooled(
        fold=fold,
        positive=code[order][positive],
        negative=code[order][~positive],
        under=np.searchsorted(low, high - judged.tolerance, side="left"),
        not_over=np.searchsorted(low, high + judged.tolerance, side="right"),
        lower=np.searchsorted(high, high - judged.tolerance, side="left"),
    )
    value = float(folded(parts, np.ones((1, len(names))))[0])
    undefined = np.isnan(value)
    why = (reason if len(judged) else NO_LABELS) if undefined else ""
    none = np.empty(0, np.float64)
    return Score("", value, 0 if undefined else len(names), names, none, none, why, parts)


def better_and_tied(
    judged: JudgedRanks, which: Bool[np.ndarray, " pairs"]
) -> tuple[Int[np.ndarray, " pairs"], Int[np.ndarray, " pairs"]]:
    """For each row: how many rows of `which` in its query rank strictly better, and how many share its rank.

    A row of `which` counts itself among the tied.
    """
    order = judged.list_order
    if len(order) == 0:
        return order, order
    code, rank = judged.query_codes[1][order], judged.rank[order]
    new_query = np.append(True, code[1:] != code[:-1])
    starts = np.flatnonzero(new_query | np.append(True, rank[1:] != rank[:-1]))
    length = np.diff(np.append(starts, len(order)))
    before = np.append(0, np.cumsum(which[order]))
    query_start = np.maximum.accumulate(np.where(new_query, np.arange(len(order)), 0))[starts]
    better, tied = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    better[order] = np.repeat(before[starts] - before[query_start], length)
    tied[order] = np.repeat(before[starts + length] - before[starts], length)
    return better, tied
