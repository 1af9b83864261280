"""Scores of all measures and estimates on many simulated pools, with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int
from threadpoolctl import threadpool_limits

from lookalike.core.progress import Progress
from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.bootstrap import Resampling, replicates
from lookalike.research.bias.estimates import Rates, Seen, estimates, generator_rates
from lookalike.research.bias.pools import Drawn, GroundTruth, draw

K = 5
MEASURES = (
    "DCS(alpha=10)",
    "DCS(alpha=10,average=macro)",
    "HR@5",
    "EHR@5",
    "AUC_mic",
    "AUC_mac",
    "PR-AUC_mic",
    "PR-AUC_mac",
    "BPREF",
    "EMRR@5",
    "ENDCG@5",
)
REPLICATES = 100


@dataclass(frozen=True, eq=False)
class SimulatedPools:
    """Pools of one ground truth: the score of each measure for each encoder, and the truth.

    `value` is NaN where a measure was undefined. `z[p, m, i, j]` is the difference of encoders i and j by measure m
    over its bootstrap standard deviation (paired, over the pool's queries); `true_z` is the same for HR@5 with complete
    labels of the same queries, in closed form. `true_same` is the true HR@5 on the pool's queries, `true_all` the one
    on all queries of the ground truth, `true_10` HR@10 on all.
    """

    encoders: tuple[str, ...]
    measures: tuple[str, ...]
    value: Float64[np.ndarray, "pools measures encoders"]
    z: Float64[np.ndarray, "pools measures encoders encoders"]
    generator: Bool[np.ndarray, "pools encoders"]
    coverage: Float64[np.ndarray, "pools encoders"]
    true_same: Float64[np.ndarray, "pools encoders"]
    true_z: Float64[np.ndarray, "pools encoders encoders"]
    true_all: Float64[np.ndarray, " encoders"]
    true_10: Float64[np.ndarray, " encoders"]
    positive_rate: Float64[np.ndarray, " pools"]
    top: Int[np.ndarray, " pools"]
    queries: Int[np.ndarray, " pools"]
    labels: Int[np.ndarray, " pools"]
    random_pairs: Int[np.ndarray, " pools"]
    answers: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.value)


def simulate(
    ground_truth: GroundTruth,
    pools: int,
    seed: int,
    *,
    measures: Sequence[str] = MEASURES,
    first: int = 0,
    progress: Progress | None = None,
) -> SimulatedPools:
    """Pools `first` to `first + pools - 1` of a seed; each encoder is scored by folds over its labelled rows."""
    hits = ground_truth.hits(K)
    rows = []
    with threadpool_limits(1, user_api="blas"):  # products too small to share
        for number in range(first, first + pools):
            rows.append(_one(ground_truth, draw(ground_truth, seed, number), hits, measures, seed + number))
            if progress is not None:
                progress(number - first + 1, pools)
    columns = {name: [row[name] for row in rows] for name in rows[0]}
    names = columns.pop("measures")[0]
    answers = tuple(columns.pop("answers"))
    stacked = {name: np.array(column) for name, column in columns.items()}
    return SimulatedPools(
        encoders=ground_truth.encoders,
        measures=names,
        answers=answers,
        true_all=hits.mean(axis=1),
        true_10=ground_truth.hits(2 * K).mean(axis=1)
        if ground_truth.depth >= 2 * K
        else np.full(len(hits), np.nan),
        **stacked,
    )


def _one(
    ground_truth: GroundTruth, drawn: Drawn, hits: np.ndarray, measures: Sequence[str], seed: int
) -> dict[str, Any]:
    rates = _rates(ground_truth, drawn)
    scores = [
        _scores(ground_truth, drawn, at, measures, rates, seed) for at in range(len(ground_truth.ranks))
    ]
    names = tuple(one.measure for one in scores[0])
    flat = [one[m] for m in range(len(names)) for one in scores]
    queries = ground_truth.ranks[0].query_codes[0][drawn.queries]
    boots = replicates(flat, Resampling(queries, REPLICATES, seed)).reshape(REPLICATES, len(names), -1)
    value = np.array([[one[m].value for one in scores] for m in range(len(names))])
    same = hits[:, drawn.queries]
    label = ground_truth.answers[drawn.answers][drawn.labelled]
    return {
        "measures": names,
        "answers": drawn.answers,
        "value": value,
        "z": np.stack([_z(v, b) for v, b in zip(value, boots.transpose(1, 0, 2), strict=True)]),
        "generator": np.isin(np.arange(len(scores)), drawn.generators),
        "coverage": _coverage(ground_truth, drawn),
        "true_same": same.mean(axis=1),
        "true_z": _closed_z(same),
        "positive_rate": float(label.mean()) if len(label) else np.nan,
        "top": drawn.top,
        "queries": len(queries),
        "labels": len(label),
        "random_pairs": drawn.random_pairs,
    }


def _scores(
    ground_truth: GroundTruth, drawn: Drawn, at: int, measures: Sequence[str], rates: Rates, seed: int
) -> list[Score]:
    """All measures and estimates of one encoder on one pool."""
    judged = ground_truth.answered[drawn.answers][at].only(drawn.labelled)
    found = [parse(name)(judged) for name in measures]
    return found + list(estimates(_seen(ground_truth, drawn, at, judged, rates, seed)).values())


def _seen(
    ground_truth: GroundTruth, drawn: Drawn, at: int, judged: JudgedRanks, rates: Rates, seed: int
) -> Seen:
    """What the estimates may look at."""
    rows = drawn.labelled
    others = [g for g, generator in enumerate(drawn.generators) if generator != at]
    present = np.unique(ground_truth.query[rows])
    near = (ground_truth.place[at] < K) & ~rows & np.isin(ground_truth.query, present)
    return Seen(
        judged=judged,
        k=K,
        found=drawn.surfaced[others][:, rows].sum(axis=0),
        others=len(others),
        rates=rates,
        open_score=ground_truth.ranks[at].score[near].astype(np.float64),
        open_query=np.searchsorted(present, ground_truth.query[near]),
        open_label=ground_truth.answers[drawn.answers][near].astype(np.int64),
        seed=seed * 64 + at,
    )


def _rates(ground_truth: GroundTruth, drawn: Drawn) -> Rates:
    """The rates of the generators of a pool, the same for every estimated encoder."""
    rows = drawn.labelled
    ranks, surfaced = ground_truth.place[np.array(drawn.generators)][:, rows], drawn.surfaced[:, rows]
    label = ground_truth.answers[drawn.answers][rows].astype(np.int64)
    _, query = np.unique(ground_truth.query[rows], return_inverse=True)
    return generator_rates(ranks, surfaced, label, query, K)


def _coverage(ground_truth: GroundTruth, drawn: Drawn) -> np.ndarray:
    """coverage@5 of every encoder over the pool's queries."""
    inside = (ground_truth.place < K) & drawn.labelled
    return np.asarray(inside.sum(axis=1) / (K * len(drawn.queries)))


def _z(value: np.ndarray, boots: np.ndarray) -> np.ndarray:
    """Differences over their bootstrap standard deviations; NaN where a score is undefined in some samples."""
    good = np.isfinite(value) & (np.isfinite(boots).mean(axis=0) > 0.9)
    rows = np.isfinite(boots[:, good]).all(axis=1)
    spread = np.full((len(value), len(value)), np.nan)
    if good.any() and rows.sum() > 20:
        spread[np.ix_(good, good)] = _variance_of_differences(boots[rows][:, good])
    return _over(value[:, None] - value, np.sqrt(spread))


def _closed_z(same: np.ndarray) -> np.ndarray:
    """The paired z of means over queries: (encoders, queries) -> (encoders, encoders)."""
    mean = same.mean(axis=1)
    return _over(mean[:, None] - mean, np.sqrt(_variance_of_differences(same.T) / same.shape[1]))


def _variance_of_differences(scores: np.ndarray) -> np.ndarray:
    """(samples, encoders) -> the variance of every difference of two encoders."""
    covariance = np.atleast_2d(np.cov(scores, rowvar=False))
    own = np.diag(covariance)
    return np.asarray(np.maximum(own[:, None] + own - 2.0 * covariance, 0.0))


def _over(difference: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """0 where nothing differs, infinite where a difference never varies."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(
            np.where(difference == 0.0, 0.0 * spread, difference / np.where(spread > 1e-12, spread, 0.0))
        )
