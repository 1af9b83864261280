"""Distances over positives against scipy's dijkstra, and their growth from 10,000 to 1,000,000 images, in one run.

At VSD-Furniture's size: all distances to 7 hops as a stream of pairs, and scipy's for the same nodes, in turn (in
parts, because its N x N table of float64 would take 834 MB). Growth: graphs of the same degree, once of clusters
of 50 images and once mixed at random; walks from 256 random images, all pairs where there are few enough,
and the distances of a batch of 256, on one core. `python benchmarks/positiveness.py [repeats]`
"""

import json
import statistics
import subprocess
import sys
import time

import numpy as np
from ranks import most_memory, timed
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from lookalike.core.cores import cores
from lookalike.positive.distances import WORD, Walker, all_hops, ordered
from lookalike.positive.extent import extent
from lookalike.positive.graph import Graph, neighbours
from lookalike.positive.positiveness import hops_among

IMAGES, POSITIVES, HOPS = 10_458, 39_194, 7
SIZES = (10_000, 100_000, 1_000_000)
CLUSTER = 50
SOURCES, BATCH = 256, 256
LEAST, LIMIT = 4.0, 1.0  # times faster than scipy; seconds of a batch
FEW = 100_000_000  # pairs that are listed


def main(repeats: int) -> None:
    """Measure every graph in its own process and print two tables."""
    print(f"{cores()} cores, medians of {repeats}; limit of {HOPS} hops")
    found = in_its_own_process("peer", repeats)
    square = 8 * IMAGES**2 / 2**20
    print(
        f"VSD-Furniture, {IMAGES:,} images, {POSITIVES:,} positives, {found['pairs']:,} pairs within {HOPS} hops"
    )
    print(
        f"  all distances {found['ours']:.2f} s, scipy dijkstra {found['scipy']:.2f} s: {found['ratio']:.1f} times"
    )
    print(f"  faster (at least {LEAST:g}); {found['megabytes']:.0f} MB above, an N x N table {square:.0f} MB")
    print(
        f"{'graph':9} {'images':>9} {SOURCES:>7,} walks {'a walk of 64':>13} {'all pairs':>17} {'seconds':>8} "
        f"{'MB above':>9} {'batch of 256':>13} {'limit':>6}"
    )
    for shape in ("clusters", "mixed"):
        for size in SIZES:
            found = in_its_own_process("growth", repeats, shape, str(size))
            seconds, about = (f"{found['all']:.2f}", "") if found["all"] is not None else ("", "~")
            each = 1000 * found["walks"] * WORD / SOURCES
            pairs = about + format(found["pairs"], ",")
            print(
                f"{shape:9} {size:9,} {found['walks']:11.3f} s {each:10.2f} ms {pairs:>17} {seconds:>8} "
                f"{found['megabytes']:9.0f} {found['batch']:11.4f} s {LIMIT:6.1f}",
                flush=True,
            )


def in_its_own_process(work: str, repeats: int, *more: str) -> dict[str, float]:
    """What one kind of work measured."""
    command = [sys.executable, __file__, "--one", work, str(repeats), *more]
    return json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def peer(repeats: int) -> dict[str, float]:
    """All distances at VSD-Furniture's size, ours and scipy's in turn."""
    graph = random_graph("mixed", IMAGES, POSITIVES)
    start, node = graph.positive
    matrix = csr_matrix((np.ones(len(node)), node, start), shape=(IMAGES, IMAGES))

    def ours() -> int:
        return sum(len(block.a) for block in all_hops(graph, HOPS))

    def scipys() -> int:
        parts = np.array_split(np.arange(IMAGES), 20)
        return sum(
            int(np.isfinite(dijkstra(matrix, limit=HOPS, unweighted=True, indices=part)).sum())
            for part in parts
        )

    pairs = ours()  # compiled from here on
    megabytes = most_memory(ours)
    times = []
    for _ in range(repeats):
        fast = timed(ours)
        begun = time.perf_counter()
        assert scipys() == 2 * pairs + IMAGES
        times.append((fast, time.perf_counter() - begun))
    mine, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    ratio = statistics.median(slow / fast for fast, slow in times)
    return {"ours": mine, "scipy": theirs, "ratio": ratio, "pairs": pairs, "megabytes": megabytes}


def growth(repeats: int, shape: str, images: int) -> dict[str, float | None]:
    """Walks, all pairs and a batch on a graph of VSD-Furniture's degree."""
    graph = random_graph(shape, images, images * POSITIVES // IMAGES)
    random = np.random.default_rng(1)
    batch = np.sort(random.choice(images, BATCH, replace=False))
    hops_among(graph, batch, HOPS)
    part = ordered(graph)
    sources = random.choice(part.nodes, SOURCES, replace=False).astype(np.int64)
    walker = Walker(part)

    def walks() -> None:
        for first in range(0, SOURCES, WORD):
            walker.walk(sources[first : first + WORD], HOPS)

    def every() -> None:
        for _ in all_hops(graph, HOPS):
            pass

    walks()
    pairs = extent(part, HOPS, np.ones(part.nodes, np.int64)).pairs
    few = pairs <= FEW
    return {
        "walks": statistics.median(timed(walks) for _ in range(repeats)),
        "pairs": pairs,
        "megabytes": most_memory(every if few else lambda: (walks(), ordered(graph))),
        "all": statistics.median(timed(every) for _ in range(repeats)) if few else None,
        "batch": statistics.median(timed(lambda: hops_among(graph, batch, HOPS)) for _ in range(repeats)),
    }


def random_graph(shape: str, images: int, pairs: int) -> Graph:
    """Distinct random pairs, of all images or within clusters of neighbours."""
    random = np.random.default_rng(0)
    one = random.integers(0, images, pairs * 5 // 4 + 1000)
    if shape == "clusters":
        other = np.minimum(one // CLUSTER * CLUSTER + random.integers(0, CLUSTER, len(one)), images - 1)
    else:
        other = random.integers(0, images, len(one))
    low, high = np.minimum(one, other), np.maximum(one, other)
    pair = np.unique((low * images + high)[low < high])
    pair = random.permutation(pair)[:pairs]
    name = random.permutation(images)  # neighbours do not stand together in the catalog
    nothing = neighbours(np.empty(0), np.empty(0), images)
    return Graph(
        np.arange(images), neighbours(name[pair // images], name[pair % images], images), nothing, ()
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        measured = peer(int(sys.argv[3])) if sys.argv[2] == "peer" else None
        print(json.dumps(measured or growth(int(sys.argv[3]), sys.argv[4], int(sys.argv[5]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
