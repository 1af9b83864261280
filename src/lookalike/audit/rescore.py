"""Scores on fewer labels or fewer queries, from one ranking: nothing is ranked or sorted again."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AnySet
from dataclasses import replace

import numpy as np
from jaxtyping import Bool, Int

from lookalike.core.types import JUDGED_COLUMNS, JudgedRanks, Pooled, Score
from lookalike.evaluate.groups import only_queries
from lookalike.evaluate.measures.pooled import folded
from lookalike.evaluate.measures.table import Measure

NO_QUERY = "no query is left"


class Rescorer:
    """One encoder's judged ranks, ready to be scored on any part of its labels.

    Rows are kept in list order, so that a part of them is in list order too; the pairs of a measure over all scores
    are sorted once.
    """

    def __init__(self, judged: JudgedRanks, measures: Sequence[Measure]) -> None:
        self.encoder, self.measures = judged.encoder, tuple(measures)
        self.order = judged.list_order
        names, code = judged.query_codes
        rows = {column: getattr(judged, column)[self.order] for column in JUDGED_COLUMNS}
        self.judged = _known(replace(judged, **rows), names, code[self.order])
        self.full: Mapping[str, Score] = {one.name: one(self.judged) for one in self.measures}
        self._sorted = np.empty(0, np.int64)
        if any(score.pooled is not None for score in self.full.values()):
            self._sorted = np.argsort(self.judged.score, kind="stable")

    def scores(self, keep: Bool[np.ndarray, " pairs"]) -> Mapping[str, Score]:
        """Every measure on the labels that are kept; the mask is in the order of the judged ranks given."""
        if keep.all():
            return self.full
        kept = keep[self.order]
        part, again = self._part(np.flatnonzero(kept))
        return {one.name: self._score(one, part, kept, again) for one in self.measures}

    def _part(self, rows: Int[np.ndarray, " kept"]) -> tuple[JudgedRanks, Int[np.ndarray, " queries"]]:
        """The rows in list order, and each full query's place among those that are left (-1: none)."""
        names, code = self.judged.query_codes
        there = np.bincount(code[rows], minlength=len(names)) > 0
        again = np.where(there, np.cumsum(there) - 1, -1)
        columns = {column: getattr(self.judged, column)[rows] for column in JUDGED_COLUMNS}
        return _known(replace(self.judged, **columns), names[there], again[code[rows]]), again

    def _score(self, measure: Measure, part: JudgedRanks, kept: np.ndarray, again: np.ndarray) -> Score:
        full = self.full[measure.name]
        if full.pooled is None:
            return measure(part)
        in_order = kept[self._sorted]
        positive = self.judged.label[self._sorted] == 1
        pooled = thinned(full.pooled, in_order[positive], in_order[~positive], again)
        names = part.query_codes[0]
        value = float(folded(pooled, np.ones((1, len(names))))[0])
        if np.isnan(value):
            return measure(part)  # it knows the reason
        return replace(full, value=value, queries=len(names), query=names, pooled=pooled)


def thinned(
    parts: Pooled,
    positive: Bool[np.ndarray, " positives"],
    negative: Bool[np.ndarray, " negatives"],
    again: Int[np.ndarray, " queries"],
) -> Pooled:
    """The pairs that are kept, counts and all, without sorting again; `again` gives the queries' new places."""
    negatives, positives = (np.append(0, np.cumsum(kept)) for kept in (negative, positive))
    return Pooled(
        fold=parts.fold,
        positive=again[parts.positive[positive]],
        negative=again[parts.negative[negative]],
        under=negatives[parts.under[positive]],
        not_over=negatives[parts.not_over[positive]],
        lower=positives[parts.lower[positive]],
    )


def on_queries(score: Score, chosen: AnySet[str]) -> Score:
    """The same score over some of its queries only."""
    here = np.fromiter((query in chosen for query in score.query), bool, len(score.query))
    if here.all():
        return score
    part = only_queries(score, here)
    if np.isnan(part.value):
        return replace(
            part, reason=score.reason or ("not defined on these queries" if here.any() else NO_QUERY)
        )
    return part


def _known(judged: JudgedRanks, names: np.ndarray, code: np.ndarray) -> JudgedRanks:
    """With the codes and the order of rows in list order, so that they are not computed again."""
    judged.__dict__["query_codes"] = names, code
    judged.__dict__["list_order"] = np.arange(len(judged))
    return judged
