"""Intervals and comparisons of all measures for 8 encoders, BCa included, against the bare weighted product.

The size is VSD-Furniture's: 63,000 labels of 3,494 queries. Each line is measured in a fresh process; the product is
replicates x queries weights times queries x parts, parts of every ratio there is. `python benchmarks/intervals.py`
"""

import json
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from ranks import most_memory

from lookalike.core.checks import strings
from lookalike.core.cores import cores
from lookalike.core.types import Basis, JudgedRanks, Rule, Scores
from lookalike.evaluate.measures.table import DEFAULT, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling, ScoreParts, replicates, without_each
from lookalike.evaluate.significance.summary import Settings, significance

ENCODERS, QUERIES, LABELS, CANDIDATES = 8, 3_494, 63_000, 10_458
LIMIT = 15.0


def main() -> None:
    """Print the table."""
    print(
        f"{cores()} cores, {ENCODERS} encoders, {len(DEFAULT)} measures, {LABELS:,} labels, {QUERIES:,} queries"
    )
    print(f"{'work':44} {'seconds':>8} {'cpu':>8} {'limit':>6} {'MB above':>9}")
    for work in WORK:
        command = [sys.executable, __file__, "--one", work]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        limit = f"{LIMIT:6.0f}" if work.startswith("all") and "2,000" in work else " " * 6
        print(
            f"{work:44} {found['seconds']:8.2f} {found['cpu']:8.2f} {limit} {found['megabytes']:9.0f}",
            flush=True,
        )


def world() -> list[Scores]:
    """Encoders that tell similar from dissimilar better and better, over the same labels."""
    random = np.random.default_rng(0)
    query = np.sort(np.append(np.arange(QUERIES), random.integers(0, QUERIES, LABELS - QUERIES)))
    label = (random.random(LABELS) < 0.4).astype(np.int8)
    names, candidate = strings(range(QUERIES)), strings(range(LABELS))
    scores = []
    for encoder in range(ENCODERS):
        score = random.normal((0.3 + 0.1 * encoder) * label, 1.0)
        rank = np.clip(CANDIDATES / (1.0 + np.exp(3.0 * score)) - 50.0, 0, CANDIDATES - 2).astype(np.int64)
        judged = JudgedRanks(
            f"encoder {encoder}", names[query], candidate, label, rank, np.zeros(LABELS, np.int64),
            score.astype(np.float32), np.full(LABELS, CANDIDATES), Basis("catalog", "labels", Rule()),
        )  # fmt: skip
        scores.append(evaluate(judged))
    return scores


def product(scores: list[Scores], count: int) -> None:
    """The bare product of drawn weights and the parts of every ratio."""
    columns = [one[name] for one in scores for name in one.scores if one[name].pooled is None]
    parts = ScoreParts(columns, columns[0].query)
    both = np.hstack([parts.numerator, parts.denominator])
    weights = next(Resampling(columns[0].query, 64).weights())
    for _ in range(0, count, 64):
        weights @ both


def drawn(scores: list[Scores], count: int) -> None:
    """Replicates alone."""
    columns = [one[name] for one in scores for name in one.scores]
    replicates(columns, Resampling(columns[0].query, count))


def jackknife(scores: list[Scores], count: int) -> None:
    """Values without each query alone."""
    columns = [one[name] for one in scores for name in one.scores]
    without_each(columns, columns[0].query)


def everything(scores: list[Scores], count: int) -> None:
    """Intervals, and all pairs of encoders with every test."""
    significance(scores, Settings(replicates=count))


def intervals(scores: list[Scores], count: int) -> None:
    """Intervals alone."""
    significance(scores, Settings(replicates=count), comparisons=False)


WORK: dict[str, tuple[Callable[[list[Scores], int], None], int]] = {
    "bare product, 2,000 replicates": (product, 2_000),
    "replicates, 2,000": (drawn, 2_000),
    "jackknife": (jackknife, 0),
    "all intervals, 2,000 replicates": (intervals, 2_000),
    "all intervals and comparisons, 2,000": (everything, 2_000),
    "all intervals and comparisons, 20,000": (everything, 20_000),
}


def one(work: str) -> dict[str, float]:
    """One kind of work, in this process, compiled beforehand."""
    function, count = WORK[work]
    scores = world()
    everything(scores[:2], 100)
    took: list[float] = []

    def timed() -> None:
        started, cpu = time.perf_counter(), time.process_time()
        function(scores, count)
        took[:] = time.perf_counter() - started, time.process_time() - cpu

    megabytes = most_memory(timed)
    return {"seconds": took[0], "cpu": took[1], "megabytes": megabytes}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2])))
    else:
        main()
