"""Everything with a share in an encoder's top K lists, ties included."""

from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np
from jaxtyping import Bool, Float64, Int64

from lookalike.core.types import Basis, Catalog, Embeddings, Rule
from lookalike.evaluate.measures.hit_rate import membership
from lookalike.evaluate.measures.mrr_ndcg import discounted
from lookalike.rank.distinct import TopLists, top_lists
from lookalike.rank.engine.vectors import TIE
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs, units_of

SPARE = 8
"""Further candidates to look at for ties with the last place, before a longer list is made."""
AT_ONCE = 4_096
SampledMeasure = Literal["HR", "DCG"]
"""Measures whose value is a sum over places: a sample of places estimates them."""


class TopPlaces(NamedTuple):
    """Candidates by (query row, photo row), with what each adds to the measure's sum, and its score."""

    pairs: Int64[np.ndarray, "found 2"]
    gain: Float64[np.ndarray, " found"]
    score: Float64[np.ndarray, " found"]


def top_places(
    catalog: Catalog,
    encoder: Embeddings,
    rows: Int64[np.ndarray, " queries"],
    k: int,
    rule: Rule,
    measure: SampledMeasure,
) -> TopPlaces:
    """Everything with a share in a top K: lists are made longer until no tie goes on.

    Ranks count duplicates of a photo, so `catalog` should have none. A list whose scores leave no doubt is taken as it
    is. The others are ranked, as measures do it.
    """
    _, code = units_of(catalog, rule)
    units = int(code.max(initial=-1)) + 1
    found, left, depth = list[TopPlaces](), rows, min(k + SPARE, max(units, 1))
    while len(left):
        lists = top_lists(catalog, encoder, left, depth, rule)
        if measure == "HR" and rule.similarity == "cosine":
            clear, share = _shares(lists, k)
            found.append(_taken(left, lists, share * clear[:, None]))
            left, lists = left[~clear], TopLists(lists.row[~clear], lists.score[~clear])
        ranked, short = _ranked(catalog, encoder, left, lists, k, rule, measure)
        if depth >= units:
            short[:] = False
        kept = ~short[np.searchsorted(left, ranked.pairs[:, 0])]
        found.append(TopPlaces(*(column[kept] for column in ranked)))
        left, depth = left[short], min(4 * depth, units)
    if not found:
        return TopPlaces(np.empty((0, 2), np.int64), np.empty(0), np.empty(0))
    return TopPlaces(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


def _shares(
    lists: TopLists, k: int
) -> tuple[Bool[np.ndarray, " queries"], Float64[np.ndarray, "queries places"]]:
    """Which lists leave no doubt about their top K, and the share of each candidate (`membership`).

    In doubt are lists that end within a tie, or with two scores that differ by about the tolerance: there another
    product of the same vectors could decide otherwise.
    """
    clear, share = np.zeros(len(lists), bool), np.zeros(lists.score.shape)
    for first in range(0, len(lists), AT_ONCE):
        score = lists.score[first : first + AT_ONCE].astype(np.float64)
        gap = score[:, :, None] - score[:, None, :]
        above, equal = (gap > TIE).sum(axis=1), (np.abs(gap) <= TIE).sum(axis=1)
        mine = np.where(np.isnan(score), 0.0, np.clip((k - above) / np.maximum(equal, 1), 0.0, 1.0))
        doubt = (np.abs(np.abs(gap) - TIE) < TIE / 4).any(axis=(1, 2))
        least = np.where(mine > 0, score, np.inf).min(axis=1, initial=np.inf)
        ends = np.isnan(score[:, -1]) | (least - score[:, -1] > 2 * TIE)
        share[first : first + AT_ONCE], clear[first : first + AT_ONCE] = mine, ends & ~doubt
    return clear, share


def _taken(
    rows: Int64[np.ndarray, " queries"], lists: TopLists, share: Float64[np.ndarray, "queries places"]
) -> TopPlaces:
    q, place = np.nonzero(share > 0)
    pairs = np.stack([rows[q], lists.row[q, place]], axis=1)
    return TopPlaces(pairs, share[q, place], lists.score[q, place].astype(np.float64))


def _ranked(
    catalog: Catalog,
    encoder: Embeddings,
    rows: Int64[np.ndarray, " queries"],
    lists: TopLists,
    k: int,
    rule: Rule,
    measure: SampledMeasure,
) -> tuple[TopPlaces, Bool[np.ndarray, " queries"]]:
    """The candidates of lists by judged ranks, and which lists are too short for all that have a share."""
    names, code = units_of(catalog, rule)
    q, place = np.nonzero(lists.row >= 0)
    pairs = np.stack([rows[q], lists.row[q, place]], axis=1)
    _, first = np.unique(pairs[:, 0] * len(names) + code[pairs[:, 1]], return_index=True)
    pairs = pairs[first]
    query, unit = pairs[:, 0], code[pairs[:, 1]]
    basis = Basis(catalog.fingerprint, "no labels", rule)
    nothing = np.zeros(len(pairs), np.int8)
    asked = JudgedPairs(query, unit, nothing, catalog.image[query], names[unit], basis, ())
    judged = judged_ranks(catalog, encoder, asked)
    share = membership(judged, k)
    at = np.searchsorted(rows, query)
    wanted = np.zeros(len(rows))
    wanted[at] = np.minimum(judged.candidates, k)
    short = wanted - np.bincount(at, weights=share, minlength=len(rows)) > 1e-9
    gain = share if measure == "HR" else discounted(judged, k)
    there = share > 0
    return TopPlaces(pairs[there], gain[there], judged.score[there].astype(np.float64)), short


def without_duplicates(catalog: Catalog) -> Catalog:
    """The catalog with every photo as one of its own."""
    return catalog if (catalog.duplicate < 0).all() else replace(catalog, duplicate=np.full(len(catalog), -1))
