"""DCS and its depth: how well it follows the true HR@5, by rank of half credit, items and share of positives.

A cell is a set of pools that agree in three things: how deep the generators' lists are, the share of positives among
the labels, and where this share comes from. Labels are *thinned* (positives or negatives are dropped at random, the
truth stays), or the *threshold* of similarity is moved, and the truth with it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int, Int8

from lookalike.core.types import Catalog, JudgedRanks, Score
from lookalike.evaluate.measures.table import parse
from lookalike.research.bias.ground_truths import as_if_encoders, studio_ground_truth
from lookalike.research.bias.pools import GENERATORS, GroundTruth, relabelled
from lookalike.research.bias.simulate import SEPARATED, K
from lookalike.research.bias.statistics import spearman
from lookalike.studio import studio
from lookalike.studio.items import Studio
from lookalike.studio.truth import similarity

HALVES = (1, 3, 7, 14, 35, 70, 350)
PAPER = "DCS(alpha=10)"
BY_DEPTH = (*(f"DCS(half={half})" for half in HALVES), PAPER)
MEASURES = (*BY_DEPTH, "AUC_mic", f"EHR@{K}")
SHARES, TOPS, SOURCES = (0.1, 0.3, 0.5, 0.8), (5, 10, 20), ("thinned", "threshold")


@dataclass(frozen=True)
class DepthCell:
    """What some pools showed: `top`, `share` and `source` say which pools.

    Of each measure, `spearman` is the mean correlation with the true HR@5 over all encoders of a pool (`defined` pools
    have one). Of its claims, the orders that its own test separates at p < .05, `right` of `claims` are those of the
    truth, for each of `audit.trust.KINDS`; there are none of AUC_mic. `labels` is the mean number of labels.
    """

    source: str
    top: int
    share: float
    labels: float
    defined: int
    spearman: Mapping[str, float]
    claims: Mapping[str, tuple[int, ...]]
    right: Mapping[str, tuple[int, ...]]


def simulated_catalog(items: int, seed: int) -> tuple[GroundTruth, Float64[np.ndarray, " pairs"]]:
    """A studio of one photo for each item, seen by as-if encoders, and the similarity of every judged pair.

    No photo is rendered, so there may be many items.
    """
    drawn = studio(items, photos_per_item=1, seed=seed)
    truth = studio_ground_truth(drawn, as_if_encoders(drawn), depth=max(TOPS))
    return truth, graded(drawn, drawn.catalog(), truth.ranks[0])


def graded(drawn: Studio, catalog: Catalog, ranks: JudgedRanks) -> Float64[np.ndarray, " pairs"]:
    """The similarity of the two items of every row."""
    items, of_image = catalog.item_codes
    place = {name: at for at, name in enumerate(items)}
    query = np.array([of_image[catalog.row[name]] for name in ranks.query_codes[0]])
    found = np.array([place[name] for name in ranks.candidate])
    return similarity(drawn, query[ranks.query_codes[1]], found)


def depth_cells(
    ground_truth: GroundTruth,
    pools: int,
    seed: int,
    similar: Float64[np.ndarray, " pairs"] | None = None,
    *,
    tops: Sequence[int] = TOPS,
) -> Iterator[DepthCell]:
    """All cells of one ground truth, `pools` pools each; the threshold moves only where `similar` grades the rows.

    Pools differ between shares only in their labels: generators and lists are the same.
    """
    for one in ground_truth.ranks:
        _ = one.score_order  # once for all pools
    for source, top, share in product(SOURCES if similar is not None else SOURCES[:1], tops, SHARES):
        found = []
        for number in range(pools):
            random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, top, number))))
            fed, rows = _pool(ground_truth, top, random)
            if source == "thinned" or similar is None:
                label = ground_truth.ranks[0].label
                rows = thinned(rows, label, share, random)
            else:
                label = (similar >= np.quantile(similar[rows], 1.0 - share)).astype(np.int8)
            found.append((int(rows.sum()), *_measured(ground_truth, fed, rows, label)))
        yield _cell(found, source, top, share)


def thinned(
    rows: Bool[np.ndarray, " pairs"],
    label: Int8[np.ndarray, " pairs"],
    share: float,
    random: np.random.Generator,
) -> Bool[np.ndarray, " pairs"]:
    """Rows of which `share` are positives, dropping as few as possible: all positives or all negatives stay.

    >>> rows, label = np.ones(6, bool), np.array([1, 1, 0, 0, 0, 0], np.int8)
    >>> thinned(rows, label, 0.5, np.random.default_rng(0))[:2].tolist()
    [True, True]
    """
    positive, negative = np.flatnonzero(rows & (label == 1)), np.flatnonzero(rows & (label != 1))
    most = min(len(positive) / share, len(negative) / (1.0 - share))
    kept = [
        random.choice(one, min(round(part * most), len(one)), replace=False)
        for one, part in ((positive, share), (negative, 1.0 - share))
    ]
    left = np.zeros(len(rows), bool)
    left[np.concatenate(kept)] = True
    return left


def influence(score: Score) -> Float64[np.ndarray, " queries"]:
    """What each query adds to the error of a ratio: (numerator - value denominator) / sum of denominators."""
    return np.asarray((score.numerator - score.value * score.denominator) / score.denominator.sum())


def _pool(
    ground_truth: GroundTruth, top: int, random: np.random.Generator
) -> tuple[Bool[np.ndarray, " encoders"], Bool[np.ndarray, " pairs"]]:
    """Two to five generators, and the rows that they propose."""
    size = len(ground_truth.ranks)
    count = int(random.integers(GENERATORS[0], min(GENERATORS[1], size - 1) + 1))
    fed = np.isin(np.arange(size), random.choice(size, count, replace=False))
    return fed, np.asarray((ground_truth.place[fed] < top).any(axis=0))


def _measured(
    ground_truth: GroundTruth, fed: np.ndarray, rows: np.ndarray, label: Int[np.ndarray, " pairs"]
) -> tuple[list[float], np.ndarray, np.ndarray]:
    """Spearman by measure, and by measure and kind of pair how many claims there are and how many are right."""
    truth = ground_truth.hits(K, label).mean(axis=1)
    judged = [relabelled(one, label).only(rows) for one in ground_truth.ranks]
    i, j = np.triu_indices(len(judged), 1)
    kind = 2 - fed[i].astype(int) - fed[j]
    orders, claims, right = [], np.zeros((len(MEASURES), 3), int), np.zeros((len(MEASURES), 3), int)
    for place, measure in enumerate(map(parse, MEASURES)):
        scores = [measure(one) for one in judged]
        value = np.array([one.value for one in scores])
        orders.append(spearman(value, truth))
        if scores[0].pooled is not None or not np.isfinite(value).all():
            continue
        parts = np.stack([influence(one) for one in scores])
        spread = np.sqrt(((parts[i] - parts[j]) ** 2).sum(axis=1))
        separated = (np.abs(value[i] - value[j]) > SEPARATED * spread) & (truth[i] != truth[j])
        good = separated & ((value[i] > value[j]) == (truth[i] > truth[j]))
        claims[place], right[place] = (np.bincount(kind[which], minlength=3) for which in (separated, good))
    return orders, claims, right


def _cell(
    found: Sequence[tuple[int, list[float], Any, Any]], source: str, top: int, share: float
) -> DepthCell:
    labels, orders, claims, right = zip(*found, strict=True)
    known = np.array(orders)
    defined = np.isfinite(known).all(axis=1)
    mean = known[defined].mean(axis=0) if defined.any() else np.full(len(MEASURES), np.nan)
    by_measure = [
        {name: tuple(row.tolist()) for name, row in zip(MEASURES, np.sum(counts, axis=0), strict=True)}
        for counts in (claims, right)
    ]
    of_cell = dict(zip(MEASURES, mean.tolist(), strict=True))
    return DepthCell(source, top, share, float(np.mean(labels)), int(defined.sum()), of_cell, *by_measure)
