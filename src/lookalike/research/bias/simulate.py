"""Scores of all measures and estimates on many simulated pools, with the truth."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int
from threadpoolctl import threadpool_limits

from lookalike.audit.depth import ADVISED
from lookalike.core.progress import Progress
from lookalike.core.types import Score
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.bootstrap import Resampling, replicates
from lookalike.evaluate.significance.intervals import Interval
from lookalike.research.bias.estimates import Rates, Seen, estimates, generator_rates
from lookalike.research.bias.pools import Drawn, GroundTruth, draw

K = 5
MEASURES = (
    "DCS(alpha=10)",
    "DCS(alpha=10,average=macro)",
    ADVISED,
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
SEPARATED = 1.959963984540054
"""|z| from which two encoders differ at p < .05."""


@dataclass(frozen=True, eq=False)
class SimulatedPools:
    """Pools of one ground truth: the score of each measure for each encoder, and the truth.

    `value` is NaN where a measure was undefined. `z[p, m, i, j]` is the difference of encoders i and j by measure m
    over its bootstrap standard deviation (paired, over the pool's queries); `true_z` is the same for HR@5 with complete
    labels of the same queries, in closed form. `ends` are those of two intervals of the corrected HR@5: of the draw of
    queries alone (normal, with the bootstrap's standard deviation), and with the curve's error; `held[p, i, j]` says
    whether the latter of a difference holds the true one of all queries (1 or 0, NaN where there is none). `true_same`
    is the true HR@5 on the pool's queries, `true_all` the one on all of the ground truth, `true_10` HR@10 on all.
    """

    encoders: tuple[str, ...]
    measures: tuple[str, ...]
    value: Float64[np.ndarray, "pools measures encoders"]
    z: Float64[np.ndarray, "pools measures encoders encoders"]
    ends: Float64[np.ndarray, "pools 2 2 encoders"]
    held: Float64[np.ndarray, "pools encoders encoders"]
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
    seen = [_seen(ground_truth, drawn, at, rates, seed) for at in range(len(ground_truth.ranks))]
    scores = [_scores(one, measures) for one in seen]
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
        "ends": _ends(seen, boots[:, names.index(f"HR@{K} corrected")]),
        "held": _held(seen, boots[:, names.index(f"HR@{K} corrected")], hits.mean(axis=1)),
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


def _scores(seen: Seen, measures: Sequence[str]) -> list[Score]:
    """All measures and estimates of one encoder on one pool."""
    return [parse(name)(seen.judged) for name in measures] + list(estimates(seen).values())


def _ends(seen: Sequence[Seen], boots: np.ndarray) -> np.ndarray:
    """The ends of both intervals of every encoder's corrected HR@K."""
    ends = []
    for one, drawn in zip(seen, boots.T, strict=True):
        queries = _normal(one.correction.score.value, drawn)
        whole = one.correction.interval(queries)
        ends.append([(queries.low, queries.high), (whole.low, whole.high)])
    return np.array(ends).transpose(1, 2, 0)


def _held(seen: Sequence[Seen], boots: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Whether the interval of every difference of corrected HR@K holds the true one."""
    held = np.full((len(seen), len(seen)), np.nan)
    for i, j in combinations(range(len(seen)), 2):
        one, other = seen[i].correction, seen[j].correction
        queries = _normal(one.score.value - other.score.value, boots[:, i] - boots[:, j])
        found = one.interval_of_difference(other, queries)
        if not np.isnan(found.low):
            held[i, j] = held[j, i] = found.low <= truth[i] - truth[j] <= found.high
    return held


def _normal(value: float, drawn: np.ndarray) -> Interval:
    half = SEPARATED * np.std(drawn)
    return Interval(value - half, value + half, 0.95, "normal", len(drawn), 0)


def _seen(ground_truth: GroundTruth, drawn: Drawn, at: int, rates: Rates, seed: int) -> Seen:
    """What the estimates may look at."""
    rows = drawn.labelled
    judged = ground_truth.answered[drawn.answers][at].only(rows)
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
