"""Coverage sweep: how does agreement with HR@K fade as the top of the lists loses its labels (VSD appendix D)?"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import nan

import numpy as np
from jaxtyping import Bool, Float64

from lookalike.audit.agreement import agreements
from lookalike.audit.correlation import KINDS, Correlation, Correlations, with_interval
from lookalike.audit.full_coverage import NEARLY, NONE_COVERED, Covered, values_by_query
from lookalike.audit.query_correlation import OverQueries
from lookalike.core.cores import cores
from lookalike.core.progress import Progress, part
from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.hit_rate import membership
from lookalike.evaluate.measures.table import Measure, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling

POOLS = "the measure pools all queries, so a single query has no value"
FLAT = "for no encoder do both values vary over its queries"


@dataclass(frozen=True)
class OneEncoder:
    """One encoder's correlation over queries, and over how many of them."""

    encoder: str
    queries: int
    spearman: float
    kendall: float
    pearson: float


@dataclass(frozen=True)
class SweepCell:
    """One measure at one coverage against HR@K at full coverage.

    `over_queries` are means over encoders of their correlations over queries (VSD Tables 5 and 6); its `n` is how
    many encoders have one, and there is no p for a mean. `over_encoders` correlates the encoders' scores.
    """

    coverage: float
    measure: str
    over_queries: Correlations
    by_encoder: tuple[OneEncoder, ...]
    over_encoders: Correlations


@dataclass(frozen=True)
class CoverageSweep:
    """All cells: every coverage, every measure. `encoders` are those with a fully covered query, `queries` how many."""

    k: int
    which: str
    measures: tuple[str, ...]
    levels: tuple[float, ...]
    encoders: tuple[str, ...]
    queries: tuple[int, ...]
    cells: tuple[SweepCell, ...]
    reason: str

    def cell(self, coverage: float, measure: str) -> SweepCell:
        """One measure at one coverage."""
        return next(c for c in self.cells if (c.coverage, c.measure) == (coverage, measure))


def levels_of(k: int) -> tuple[float, ...]:
    """0, .2, .4, .6, .8 and 1 where K can take them, else every coverage up to ten places.

    >>> levels_of(5), levels_of(2)
    ((0.0, 0.2, 0.4, 0.6, 0.8, 1.0), (0.0, 0.5, 1.0))
    """
    steps = 5 if k % 5 == 0 or k > 10 else k
    return tuple(step / steps for step in range(steps + 1))


def kept_at(judged: JudgedRanks, k: int, coverage: float) -> Bool[np.ndarray, " pairs"]:
    """Without the top-ranked labels of each query, best first, until coverage@K is at most this.

    A label goes while sum of w over those that stay is above coverage * K, so only labels in the top K go. Of tied
    labels the first in the order of the rows goes first.
    """
    order = judged.list_order
    w, code = membership(judged, k)[order], judged.query_codes[1][order]
    before = np.cumsum(w) - w
    start = np.searchsorted(code, np.arange(len(judged.query_codes[0])))
    total = np.bincount(code, weights=w)
    left = total[code] - (before - before[start][code])
    keep = np.empty(len(judged), bool)
    keep[order] = (w <= 0) | (left <= coverage * k + NEARLY)
    return keep


def coverage_sweep(
    ranks: Sequence[JudgedRanks],
    asked: Sequence[Measure],
    covered: Covered,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> CoverageSweep:
    """Take labels from the top of fully covered queries, and correlate with HR@K before that (VSD appendix D).

    For each encoder: over its covered queries, the measure's value of one query (numerator / denominator) on what
    labels are left, against that query's HR@K with all of them; then the mean over encoders. Micro AUC and PR-AUC
    have no value of one query. Bands: the same on resampled queries.
    """
    levels, measures = levels_of(covered.k), tuple(one.name for one in asked)
    used = [i for i, chosen in enumerate(covered.chosen) if chosen.any()]
    encoders = tuple(ranks[i].encoder for i in used)
    every = covered.benchmark(ranks)
    benchmark = [every[i] for i in used]
    truth = [values_by_query(score, covered.query) for score in benchmark]
    swept = {
        (i, level): _scores(ranks[i], asked, covered.chosen[i], covered.k, level)
        for i in used
        for level in levels
    }
    scores = {
        (level, measure): [swept[i, level][measure] for i in used] for level in levels for measure in measures
    }
    over = {
        key: [
            OverQueries(values_by_query(score, covered.query), known)
            for score, known in zip(row, truth, strict=True)
        ]
        for key, row in scores.items()
    }
    bands = _bands(over, resampling, part(progress, 0, 2))
    across = agreements(encoders, scores, dict.fromkeys(scores, benchmark), resampling, part(progress, 1, 2))
    cells = []
    for (level, measure), correlators in over.items():
        found = _by_encoder(encoders, correlators, len(covered.query))
        mean = _mean(found, _why_not(scores[level, measure]))
        if (level, measure) in bands:
            mean = with_interval(mean, bands[level, measure])
        cells.append(SweepCell(level, measure, mean, found, across[level, measure][0]))
    counts = tuple(int(covered.chosen[i].sum()) for i in used)
    reason = "" if used else NONE_COVERED
    return CoverageSweep(covered.k, covered.which, measures, levels, encoders, counts, tuple(cells), reason)


def _scores(
    judged: JudgedRanks, measures: Sequence[Measure], chosen: np.ndarray, k: int, level: float
) -> Mapping[str, Score]:
    """One encoder's scores on its covered queries, at one coverage."""
    return evaluate(judged.only(chosen[judged.query_codes[1]] & kept_at(judged, k, level)), measures).scores


def _by_encoder(encoders: Sequence[str], over: Sequence[OverQueries], queries: int) -> tuple[OneEncoder, ...]:
    return tuple(
        OneEncoder(name, one.n, *(float(value) for value in one.plain(queries)))
        for name, one in zip(encoders, over, strict=True)
    )


def _why_not(scores: Sequence[Score]) -> str:
    """Why no encoder has a correlation, if none has one."""
    if any(score.pooled is not None for score in scores):
        return POOLS
    return next((score.reason for score in scores if score.reason), FLAT if scores else NONE_COVERED)


def _mean(found: Sequence[OneEncoder], why_not: str) -> Correlations:
    parts = {}
    for kind in KINDS:
        values = np.array([getattr(one, kind) for one in found])
        defined = values[np.isfinite(values)]
        mean = float(defined.mean()) if len(defined) else nan
        parts[kind] = Correlation(mean, len(defined), reason="" if len(defined) else why_not)
    return Correlations(**parts)


def _bands(
    over: dict[tuple[float, str], list[OverQueries]], resampling: Resampling | None, progress: Progress | None
) -> dict[tuple[float, str], Float64[np.ndarray, "replicates 3"]]:
    """The mean correlation over encoders on every replicate, for each cell with a value of single queries."""
    if resampling is None:
        return {}
    todo = {key: row for key, row in over.items() if any(one.n for one in row)}
    found: dict[tuple[float, str], list[np.ndarray]] = {key: [] for key in todo}
    done = 0
    with ThreadPoolExecutor(cores()) as pool:
        for weights in resampling.weights():
            rows = pool.map(lambda row, w=weights: _mean_of([one.of(w) for one in row]), todo.values())
            for key, block in zip(todo, rows, strict=True):
                found[key].append(block)
            done += len(weights)
            if progress is not None:
                progress(done, resampling.replicates)
    return {key: np.concatenate(parts) for key, parts in found.items()}


def _mean_of(parts: Sequence[np.ndarray]) -> np.ndarray:
    """The mean over encoders of those that are defined."""
    stacked = np.stack(parts)
    defined = np.isfinite(stacked)
    count = defined.sum(axis=0)
    total = np.where(defined, stacked, 0.0).sum(axis=0)
    return np.divide(total, count, out=np.full(total.shape, nan), where=count > 0)
