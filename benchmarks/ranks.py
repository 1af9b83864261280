"""Judged ranks, all measures and distinct top lists against the bare blocked product, in one run.

Each size is measured in a fresh process: the product alone, then the same product with ranking, in turn,
several times; the ratio is the median of the pairs' ratios. `python benchmarks/ranks.py [repeats]`
"""

import ctypes
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.cores import cores
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.evaluate.measures.table import DEFAULT, evaluate
from lookalike.rank.distinct import top_lists
from lookalike.rank.engine.blocks import each_block
from lookalike.rank.engine.machine import HELD
from lookalike.rank.engine.source import Source
from lookalike.rank.engine.vectors import as_gallery, as_queries
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs

SIZES = {
    "EDS closed catalog": {"queries": 2_000, "images": 52_712, "items": 7_982, "labels": 54_000},
    "VSD-Furniture": {"queries": 3_494, "images": 10_458, "items": 10_458, "labels": 63_000},
}
DIMENSION = 512
LIMITS = {"image": 1.25, "item": 1.35, "top 6 lists": 1.5}


def main(repeats: int) -> None:
    """Measure every size in its own process and print the table."""
    print(f"{cores()} cores, float32, dimension {DIMENSION}, medians of {repeats} pairs of runs")
    print(f"{'size':20} {'work':28} {'seconds':>8} {'product':>8} {'ratio':>6} {'limit':>6} {'MB above':>9}")
    for size in SIZES:
        for work in ("image", "item", "top 6 lists"):
            command = [sys.executable, __file__, "--one", size, work, str(repeats)]
            found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            name = work if work.startswith("top") else f"ranks and measures, {work}"
            print(
                f"{size:20} {name:28} {found['work']:8.3f} {found['product']:8.3f} "
                f"{found['ratio']:6.2f} {LIMITS[work]:6.2f} {found['megabytes']:9.0f}"
            )


def one(size: str, work: str, repeats: int) -> dict[str, float]:
    """One size and one kind of work, in this process."""
    catalog, embeddings, labels = world(**SIZES[size])
    rule = Rule(level="image" if work == "image" else "item")
    pairs = judged_pairs(catalog, labels, rule)
    rows = np.unique(pairs.query_row)
    source, zero = Source(embeddings.vectors), np.zeros(DIMENSION, np.float32)
    queries = as_queries(source, rows, "cosine", zero, HELD)
    gallery = as_gallery(source, np.arange(len(catalog)), "cosine", zero, HELD)

    def product() -> None:
        each_block(queries, gallery, lambda first, last, scores: None)

    def ranked() -> None:
        if work.startswith("top"):
            top_lists(catalog, embeddings, rows, 6, rule)
        else:
            evaluate(judged_ranks(catalog, embeddings, pairs), DEFAULT)

    product()
    ranked()  # compiled and warm from here on
    megabytes = most_memory(ranked)
    times = [(timed(product), timed(ranked)) for _ in range(repeats)]
    bare, full = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(work / alone for alone, work in times)
    return {"product": bare, "work": full, "ratio": ratio, "megabytes": megabytes}


def world(queries: int, images: int, items: int, labels: int) -> tuple[Catalog, Embeddings, Labels]:
    """Clustered unit vectors, photos spread over items, and labels at ranks from the top down to the middle."""
    random = np.random.default_rng(0)
    item = np.sort(random.integers(0, items, images)) if items < images else np.arange(images)
    centre = random.standard_normal((200, DIMENSION), dtype=np.float32)
    vectors = centre[item % 200] + random.standard_normal((images, DIMENSION), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = strings(range(images))
    blank = strings([""] * images)
    catalog = Catalog(
        names, names, strings(item), blank, strings(["both"] * images), strings(["train"] * images),
        np.arange(images), blank, np.zeros(images, np.int64), np.zeros(images, np.int64),
    )  # fmt: skip
    asked = np.sort(random.choice(images, queries, replace=False))
    each = labels // queries + 1
    rank = np.exp(random.uniform(0, np.log(images / 2), (queries, each))).astype(np.int64)
    found = np.empty_like(rank)
    for at, row in enumerate(asked):
        found[at] = np.argsort(-(vectors @ vectors[row]))[rank[at]]
    query, candidate = np.repeat(asked, each)[:labels], found.ravel()[:labels]
    label = random.random(labels) < 0.6
    return catalog, Embeddings("bench", names, vectors), Labels.of(query, candidate, label)


def timed(work: Callable[[], object]) -> float:
    """Seconds that one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def most_memory(work: Callable[[], object]) -> float:
    """MB that one call holds at most above what was held before (Linux; elsewhere NaN)."""
    try:
        ctypes.CDLL(None).malloc_trim(0)  # hand back what earlier calls freed
        before = memory("VmRSS")
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
        work()
        return memory("VmHWM") - before
    except (OSError, AttributeError):
        return float("nan")


def memory(field: str) -> float:
    """A figure of this process's memory in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], sys.argv[3], int(sys.argv[4]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
