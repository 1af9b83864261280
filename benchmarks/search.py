"""Search against the bare library and one read of the vectors, in one run on clustered vectors.

`python benchmarks/search.py [images]` prints the ratios: batches of 64 at recall 0.99, a single query, an exact single
query, and the time until 10,000 added images are found. 1,000,000 x 512 takes about 8 GB and 10 to 20 minutes.
"""

import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.cores import cores
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.engine.vectors import unit_rows
from lookalike.search.approximate import EXPANSIONS, TRIAL, Approximate, estimated_bytes, growth
from lookalike.search.distinct import Distinct
from lookalike.search.exact import Exact, in_parts
from lookalike.search.index import Indexed
from lookalike.store.vectors.indexes import image_keys

DIMENSION, K, BATCH, ADDED, QUERIES, RECALL, REPEATS = 512, 10, 64, 10_000, 192, 0.99, 7
EXACT = 500_000


def features(rows: int, seed: int, dimension: int = DIMENSION) -> np.ndarray:
    """Clustered vectors of a low intrinsic dimension with noise, as networks make them."""
    shape, random = np.random.default_rng(0), np.random.default_rng(seed)
    basis = shape.standard_normal((48, dimension)).astype(np.float32)
    centers = shape.standard_normal((2_000, 48)).astype(np.float32)
    made = np.empty((rows, dimension), np.float32)
    for first in range(0, rows, 50_000):
        count = min(50_000, rows - first)
        inner = centers[random.integers(0, len(centers), count)]
        inner = inner + 0.5 * random.standard_normal((count, 48), np.float32)
        made[first : first + count] = inner @ basis + 0.7 * random.standard_normal(
            (count, dimension), np.float32
        )
    return made


def catalog_of(rows: int) -> Catalog:
    """Two images per item."""
    text, zero = strings([""] * rows), np.zeros(rows, np.int64)
    return Catalog(
        image=strings(f"i{n}" for n in range(rows)),
        path=text,
        item=strings(f"p{n // 2}" for n in range(rows)),
        category=text,
        role=strings(["both"] * rows),
        split=text,
        position=zero,
        digest=text,
        width=zero,
        height=zero,
    )


def seconds(work: Callable[[], object]) -> float:
    """How long a call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def pairs(
    first: Callable[[], object], second: Callable[[], object], repeats: int = REPEATS
) -> tuple[float, ...]:
    """Medians of two works and of their ratio, first over second, measured in turn."""
    times = [(seconds(first), seconds(second)) for _ in range(repeats)]
    one, two = (statistics.median(side) for side in zip(*times, strict=True))
    return one, two, statistics.median(a / b for a, b in times)


def exact_single(vectors: np.ndarray) -> None:
    """An exact single query against one read of the vectors."""
    rows = min(EXACT, len(vectors))
    catalog = catalog_of(rows)
    exact = Exact.of(catalog, Embeddings("e", catalog.image, vectors[:rows]))
    distinct, query, own = Distinct(exact), vectors[:1], np.array([0])

    def read() -> None:
        in_parts(rows, lambda part: vectors[part].view(np.uint64).sum())

    def ask() -> None:
        distinct.lists(exact, query, own, K)

    ask()
    search, once, ratio = pairs(ask, read, 21)
    what = f"{1e3 * search:.1f} ms, one read {1e3 * once:.1f} ms, ratio {ratio:.2f}"
    print(f"exact single query, {rows:,}: {what} (<= 1.30)")


def main(rows: int) -> None:
    """Measure everything and print it."""
    print(f"{rows:,} x {DIMENSION}, {cores()} cores")
    vectors = features(rows, 1)
    exact_single(vectors)
    catalog = catalog_of(rows)
    embeddings = Embeddings("e", catalog.image, vectors)
    keys, old = image_keys(catalog), rows - ADDED
    index = Approximate.empty(DIMENSION)
    trial = Approximate.empty(DIMENSION)
    spent = seconds(lambda: trial.add(np.arange(TRIAL), unit_rows(vectors[:TRIAL], DIMENSION)))
    print(
        f"estimate: {spent * growth(rows, TRIAL):.0f} s, {estimated_bytes(rows, DIMENSION) / 1e6:.0f} MB",
        flush=True,
    )
    built = seconds(lambda: index.add(keys[:old], unit_rows(vectors[:old], DIMENSION)))
    print(f"built: {built:.0f} s, {index.bytes / 1e6:.0f} MB", flush=True)

    def search_added() -> None:
        exact = Exact.of(catalog, embeddings)
        engine = Indexed.of(index, keys[:old], image_keys(catalog), exact)
        found = Distinct(exact).lists(engine, vectors[-1:], np.array([-1]), K)
        assert found.row[0, 0] == rows - 1

    catalog.__dict__.pop("row", None)
    print(f"{ADDED:,} added and searchable: {seconds(search_added):.2f} s (< 5)")
    print(
        f"{ADDED:,} merged: {seconds(lambda: index.add(keys[old:], unit_rows(vectors[old:], DIMENSION))):.2f} s"
    )
    exact = Exact.of(catalog, embeddings)
    distinct, engine = Distinct(exact), Indexed.of(index, keys, keys, exact)
    asked = np.sort(np.random.default_rng(2).choice(rows, QUERIES, replace=False))
    queries = vectors[asked]
    truth = distinct.lists(exact, queries, asked, K).row
    for expansion in EXPANSIONS:
        index.expand(expansion)
        found = distinct.lists(engine, queries, asked, K).row
        recall = np.mean([len(set(a) & set(b)) / K for a, b in zip(truth, found, strict=True)])
        if recall >= RECALL:
            break
    fetched = distinct._least_count(K, distinct.item[asked])
    print(f"recall {recall:.4f} with expansion {expansion}, {fetched} fetched")
    graph, unit = index._graph, unit_rows(queries, DIMENSION)

    def ours(size: int) -> None:
        for first in range(0, QUERIES, size):
            part = slice(first, first + size)
            distinct.lists(engine, queries[part], asked[part], K)

    def bare(size: int) -> None:
        for first in range(0, QUERIES, size):
            graph.search(unit[first : first + size], fetched, threads=cores())

    for size, name in ((BATCH, "batches of 64"), (1, "single queries")):
        ours(size)
        theirs, mine, ratio = pairs(lambda size=size: bare(size), lambda size=size: ours(size))
        print(
            f"{name}: {QUERIES / mine:.0f} of {QUERIES / theirs:.0f} queries/s, ratio {ratio:.3f}"
            f"{' (>= 0.90)' if size == BATCH else ''}, overhead {1e6 * (mine - theirs) / QUERIES:.0f} us a query"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
