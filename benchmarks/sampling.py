"""Planning and reading a sample of 8 encoders on 10,000 queries, against the top lists that it rests on, in one run.

Planning finds the places of all lists, forecasts the precision of pairs and of whole queries, and draws 200 pairs.
Reading loads the frozen sample and estimates all 28 differences. `python benchmarks/sampling.py [repeats]`
"""

import statistics
import sys

import numpy as np
from ranks import most_memory, timed

from lookalike.api.places import places
from lookalike.api.sample_forecast import SamplePlan
from lookalike.api.samples import Sample, SampleQuestion, as_bytes, sample_from
from lookalike.api.top_places import SPARE
from lookalike.core.checks import strings
from lookalike.core.cores import cores
from lookalike.core.types import Catalog, Embeddings, Labels
from lookalike.rank.distinct import top_lists

QUERIES, ENCODERS, DIMENSION, K, LABELS = 10_000, 8, 128, 5, 200
LIMITS = {"ratio": 2.0, "planning": 5.0, "reading": 1.0, "megabytes": 500.0}


def main(repeats: int) -> None:
    """Time the bare lists, planning and reading in turn, and print the medians with their limits."""
    catalog, encoders = world()
    rows = np.arange(QUERIES)
    question = SampleQuestion(tuple(one.encoder for one in encoders), f"HR@{K}")
    known = Labels.of([], [], [])
    made: list[Sample] = []

    def lists() -> None:
        for one in encoders:
            top_lists(catalog, one, rows, K + SPARE)

    def planning() -> None:
        found = places(catalog, encoders, known, rows, K)
        plan = SamplePlan(question, found, looks=2)
        assert plan.steps
        made[:] = [plan.draw(LABELS, "pair")]

    def reading() -> None:
        sample = sample_from(held, question, made[0].seed, made[0].looks)
        for value in question.values:
            sample.estimate(value, label, len(sample), 2 * len(question.values))

    lists()
    planning()
    held = as_bytes(made[0])
    label = (np.arange(len(made[0])) % 2).astype(np.float64)
    reading()  # compiled and warm from here on
    megabytes = most_memory(planning)
    times = [(timed(lists), timed(planning), timed(reading)) for _ in range(repeats)]
    bare, plan, read = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(work / alone for alone, work, _ in times)
    print(
        f"{cores()} cores, {ENCODERS} encoders of dimension {DIMENSION}, {QUERIES:,} queries and images, top {K}"
    )
    print(f"{'':32} {'measured':>9} {'limit':>6}")
    print(f"{'top lists, seconds':32} {bare:9.2f}")
    print(f"{'planning 200 pairs, seconds':32} {plan:9.2f} {LIMITS['planning']:6.1f}")
    print(f"{'planning / top lists':32} {ratio:9.2f} {LIMITS['ratio']:6.1f}")
    print(f"{'planning, MB above the start':32} {megabytes:9.0f} {LIMITS['megabytes']:6.0f}")
    print(f"{'28 estimates, seconds':32} {read:9.2f} {LIMITS['reading']:6.1f}")
    print(f"{'28 estimates / top lists':32} {read / bare:9.2f}")
    print(f"{'frozen sample, MB':32} {len(held) / 1e6:9.1f}")


def world() -> tuple[Catalog, list[Embeddings]]:
    """A catalog of one photo per item, and encoders whose lists overlap."""
    random = np.random.default_rng(0)
    nothing, number = np.full(QUERIES, "", object), np.zeros(QUERIES, np.int64)
    image = strings(f"i{n:05d}" for n in range(QUERIES))
    catalog = Catalog(
        image=image, path=image, item=image, category=nothing, role=np.full(QUERIES, "both", object),
        split=np.full(QUERIES, "test", object), position=np.arange(QUERIES), digest=nothing, width=number,
        height=number,
    )  # fmt: skip
    shared = random.standard_normal((QUERIES, DIMENSION))
    return catalog, [
        Embeddings(f"e{n}", image, (shared + random.standard_normal(shared.shape)).astype(np.float32))
        for n in range(ENCODERS)
    ]


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
