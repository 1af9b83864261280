"""Scores of some queries: by category or any other column, from the parts of those queries, never by ranking again."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from lookalike.core.checks import fingerprint, strings
from lookalike.core.types import Pooled, Score, Scores
from lookalike.evaluate.measures.fold import refolded
from lookalike.evaluate.measures.pooled import folded

NONE_COUNTS = "no query of this group counts"


def by_group(scores: Scores, group: Mapping[str, str]) -> dict[str, Scores]:
    """The scores of each group's queries, groups in the order of their names; `group` maps a query to its group.

    Each group has its own basis: its results are not comparable with those of other queries.
    """
    names = {measure: strings(group[query] for query in one.query) for measure, one in scores.scores.items()}
    groups = sorted({name for column in names.values() for name in column})
    return {name: _of(scores, names, name) for name in groups}


def _of(scores: Scores, names: Mapping[str, np.ndarray], name: str) -> Scores:
    parts = {
        measure: only_queries(score, np.asarray(names[measure] == name, bool))
        for measure, score in scores.scores.items()
    }
    members = sorted({query for score in parts.values() for query in score.query})
    labels = fingerprint([scores.basis.labels], members)
    return replace(scores, scores=parts, basis=replace(scores.basis, labels=labels))


def only_queries(score: Score, which: Bool[np.ndarray, " queries"]) -> Score:
    """The score of some of its queries."""
    query, why = score.query[which], score.reason or NONE_COUNTS
    if score.pooled is not None:
        pooled = _pairs_of(score.pooled, which)
        value = float(folded(pooled, np.ones((1, len(query))))[0]) if len(query) else float("nan")
        counted, reason = (0, why) if np.isnan(value) else (len(query), "")
        return replace(score, query=query, pooled=pooled, value=value, queries=counted, reason=reason)
    return refolded(replace(score, query=query), score.numerator[which], score.denominator[which], why)


def _pairs_of(parts: Pooled, which: np.ndarray) -> Pooled:
    """The pairs of some queries, still in order of their scores, counted among themselves."""
    place = np.cumsum(which) - 1
    positive, negative = which[parts.positive], which[parts.negative]
    negatives_before = np.append(0, np.cumsum(negative))
    positives_before = np.append(0, np.cumsum(positive))
    return Pooled(
        fold=parts.fold,
        positive=place[parts.positive[positive]],
        negative=place[parts.negative[negative]],
        under=negatives_before[parts.under[positive]],
        not_over=negatives_before[parts.not_over[positive]],
        lower=positives_before[parts.lower[positive]],
    )
