"""From rows to queries to one value: the folds all measures share."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int, Shaped

from lookalike.core.types import JudgedRanks, Pooled, Score
from lookalike.evaluate.measures.pooled import ahead_of_each, folded, merged

NO_LABELS = "no labelled pair can be ranked"
NO_POSITIVE = "no query has a positive label"


class RowsAbove(NamedTuple):
    """For each row the rows of its query that rank strictly better, and those that share its rank, itself included.

    All of them, and the positives among them.
    """

    better: Int[np.ndarray, " pairs"]
    tied: Int[np.ndarray, " pairs"]
    better_positive: Int[np.ndarray, " pairs"]
    tied_positive: Int[np.ndarray, " pairs"]


def rows_above(judged: JudgedRanks) -> RowsAbove:
    """How many rows rank above each row or tie with it, counted once for all measures."""
    if "rows_above" not in judged.kept:
        code, rank = judged.query_codes[1], judged.rank
        counts = ahead_of_each(judged.list_order, code, rank, np.asarray(judged.label == 1))
        judged.kept["rows_above"] = RowsAbove(*counts)
    kept: RowsAbove = judged.kept["rows_above"]
    return kept


def queries_that_count(judged: JudgedRanks) -> Bool[np.ndarray, " queries"]:
    """Queries of a mean: all that have a label; in EDS's own evaluation those with a positive."""
    if judged.basis.rule.level == "paper":
        return per_query(judged, judged.label == 1) > 0
    return np.ones(len(judged.query_codes[0]), bool)


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
    blank = Score("", float("nan"), 0, judged.query_codes[0], numerator, denominator)
    return refolded(blank, numerator, denominator, reason if len(judged) else NO_LABELS)


def refolded(
    score: Score,
    numerator: Float64[np.ndarray, " queries"],
    denominator: Float64[np.ndarray, " queries"],
    reason: str,
) -> Score:
    """The same measure from other parts of its queries; the reason is for a value that is then undefined."""
    total = float(denominator.sum())
    return replace(
        score,
        value=float(numerator.sum()) / total if total > 0 else float("nan"),
        queries=int(np.count_nonzero(denominator)),
        numerator=numerator,
        denominator=denominator,
        reason="" if total > 0 else reason,
    )


def pooled(judged: JudgedRanks, fold: str, reason: str) -> Score:
    """A measure over the scores of all pairs at once, with what it takes to fold it again.

    Scores within the tie tolerance are equal. Undefined without a positive; AUC without a negative too.
    """
    names = judged.query_codes[0]
    if "pooled" not in judged.kept:
        judged.kept["pooled"] = _pooled(judged)
    parts = replace(judged.kept["pooled"], fold=fold)
    value = float(folded(parts, np.ones((1, len(names))))[0])
    undefined = np.isnan(value)
    why = (reason if len(judged) else NO_LABELS) if undefined else ""
    none = np.empty(0, np.float64)
    return Score("", value, 0 if undefined else len(names), names, none, none, why, parts)


def _pooled(judged: JudgedRanks) -> Pooled:
    """Pairs of each label from the lowest score up, and where each positive stands among them."""
    order = judged.score_order
    score, positive = judged.score[order].astype(np.float64), judged.label[order] == 1
    code, high, low = judged.query_codes[1][order], score[positive], score[~positive]
    return Pooled(
        fold="auc",
        positive=code[positive],
        negative=code[~positive],
        under=merged(low, high - judged.tolerance, False),
        not_over=merged(low, high + judged.tolerance, True),
        lower=merged(high, high - judged.tolerance, False),
    )
