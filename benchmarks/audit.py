"""All audits against the ranking they rest on, at VSD-Furniture's size, in one run.

8 encoders, 4 of them generators, 3,494 queries, about 63,000 labels of the generators' top 5. The limits: without
intervals half of the ranking time, with 2,000 replicates 60 seconds.
`python benchmarks/audit.py [replicates] [repeats]`
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
from ranks import most_memory, timed, world

from lookalike.audit.coverage_sweep import coverage_sweep
from lookalike.audit.full_coverage import covered_queries, full_coverage
from lookalike.audit.leave_one_out import leave_one_out, subsets
from lookalike.audit.surfaced import recorded
from lookalike.core.cores import cores
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Pool, Rule
from lookalike.discover.pool import pool
from lookalike.evaluate.measures.table import parse_list
from lookalike.evaluate.significance.bootstrap import Resampling
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs

MEASURES = "DCS,EHR@5,AUC_mic,AUC_mac,BPREF"
QUERIES, IMAGES, LABELS, GENERATORS, ENCODERS = 3_494, 10_458, 63_000, 4, 8


def main(replicates: int, repeats: int) -> None:
    """Time ranking and audits in turn, then the audits with intervals, and print both with their limits."""
    catalog, encoders, found, labels = pooled_world()
    pairs = judged_pairs(catalog, labels, Rule())
    judged = [judged_ranks(catalog, one, pairs) for one in encoders]
    audits(judged, found, None)  # compiled and warm from here on

    def ranked() -> None:
        for one in encoders:
            judged_ranks(catalog, one, pairs)

    plain = [(spent(ranked), spent(lambda: audits(judged, found, None))) for _ in range(repeats)]
    print(f"{cores()} cores, {len(encoders)} encoders, {len(found.queries):,} queries, {len(pairs):,} labels")
    print(f"{'':28} {'seconds':>8} {'by cpu':>8}")
    for name, column in (("ranking", 0), ("audits without intervals", 1)):
        wall, cpu = (statistics.median(run[column][clock] for run in plain) for clock in (0, 1))
        print(f"{name:28} {wall:8.2f} {cpu:8.2f}")
    wall, cpu = (statistics.median(audit[clock] / rank[clock] for rank, audit in plain) for clock in (0, 1))
    print(f"{'ratio (limit 0.50)':28} {wall:8.2f} {cpu:8.2f}")
    for count in (replicates // 4, replicates):
        draws, seconds = Resampling(judged[0].query_codes[0], count), []
        megabytes = most_memory(lambda d=draws, s=seconds: s.append(spent(lambda: audits(judged, found, d))))
        wall, cpu = seconds[0]
        print(f"{f'{count:,} replicates':28} {wall:8.2f} {cpu:8.2f}  {megabytes:.0f} MB above the start")
    print("The limit of 2,000 replicates is 60 seconds.")


def spent(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds on the clock and of the processors."""
    started = time.process_time()
    wall = timed(work)
    return wall, time.process_time() - started


def audits(judged: list[JudgedRanks], found: Pool, resampling: Resampling | None) -> None:
    """All three audits from judged ranks as they come."""
    measures = parse_list(MEASURES)
    scored = subsets(judged, measures, recorded(found, judged[0]))
    covered = covered_queries(judged, judged[:GENERATORS], 5)
    leave_one_out(scored, resampling)
    full_coverage(scored, judged, covered, resampling)
    coverage_sweep(judged, measures, covered, resampling)


def pooled_world() -> tuple[Catalog, list[Embeddings], Pool, Labels]:
    """Encoders that agree in part, the generators' pool, and a label for its first 63,000 pairs."""
    catalog, base, _ = world(QUERIES, IMAGES, IMAGES, QUERIES)
    random = np.random.default_rng(1)
    encoders = [
        Embeddings(
            f"encoder{e}",
            catalog.image,
            base.vectors + random.normal(0, spread, base.vectors.shape).astype("f"),
        )
        for e, spread in enumerate(np.linspace(0.05, 0.07, ENCODERS))
    ]
    rows = np.sort(random.choice(IMAGES, QUERIES, replace=False))
    lists = {}
    for one in encoders[:GENERATORS]:
        top = top_lists(catalog, one, rows, 5, Rule())
        lists[one.encoder] = (top.row, top.score)
    found = pool(catalog, rows, lists, 5)
    ends = np.sort(
        np.array([[catalog.row[image] for image in side] for side in (found.query, found.candidate)]), axis=0
    )
    label = (ends[0] * 7919 + ends[1] * 104_729) % 1_009 < 606  # the same for (a, b) and (b, a)
    use = slice(0, LABELS)
    return catalog, encoders, found, Labels.of(found.query[use], found.candidate[use], label[use])


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    main(*(given + [2_000, 5][len(given) :]))
