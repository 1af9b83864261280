"""From rows to queries to one value: the folds all measures share."""

import numpy as np

from lookalike.core.types import JudgedRanks, Score

NO_LABELS = "no labelled pair can be ranked"


def per_query(judged: JudgedRanks, values: np.ndarray) -> np.ndarray:
    """Sum of row values for each query, in order of `judged.query_codes`."""
    names, code = judged.query_codes
    return np.bincount(code, weights=np.asarray(values, np.float64), minlength=len(names))


def mean_over_queries(judged: JudgedRanks, values: np.ndarray, counts: np.ndarray, reason: str) -> Score:
    """The mean of per-query values over the queries that count; NaN with a reason where none does."""
    return ratio(judged, np.where(counts, values, 0.0), np.asarray(counts, np.float64), reason)


def ratio(judged: JudgedRanks, numerator: np.ndarray, denominator: np.ndarray, reason: str) -> Score:
    """sum(numerator) / sum(denominator), with the parts kept for intervals. The name is set by the measure."""
    total = float(denominator.sum())
    value = float(numerator.sum()) / total if total > 0 else float("nan")
    why = "" if total > 0 else (reason if len(judged) else NO_LABELS)
    queries = int(np.count_nonzero(denominator))
    return Score("", value, queries, judged.query_codes[0], numerator, denominator, why)


def pooled(judged: JudgedRanks, value: float, reason: str) -> Score:
    """A value of all pairs at once, which no per-query parts add up to."""
    none = np.empty(0, np.float64)
    why = "" if not np.isnan(value) else (reason if len(judged) else NO_LABELS)
    return Score("", value, len(judged.query_codes[0]), judged.query_codes[0][:0], none, none, why)


def better_and_tied(judged: JudgedRanks, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each row: how many rows of `which` in its query rank strictly better, and how many share its rank.

    A row of `which` counts itself among the tied.
    """
    _, code = judged.query_codes
    order = np.lexsort((judged.rank, code))
    c, r = code[order], judged.rank[order]
    before = np.concatenate([[0], np.cumsum(which[order])])
    new_query = np.concatenate([[True], c[1:] != c[:-1]]) if len(c) else np.empty(0, bool)
    new_group = new_query | np.concatenate([[True], r[1:] != r[:-1]]) if len(c) else new_query
    query_start = np.flatnonzero(new_query)[np.cumsum(new_query) - 1] if len(c) else order
    starts = np.append(np.flatnonzero(new_group), len(c))
    group = np.cumsum(new_group) - 1
    better, tied = np.empty(len(c), np.int64), np.empty(len(c), np.int64)
    better[order] = before[starts[group]] - before[query_start]
    tied[order] = before[starts[group + 1]] - before[starts[group]]
    return better, tied
