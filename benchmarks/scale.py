"""Ranks of vectors that stay on disk: growth with images and queries, against the bare streamed product, in one run.

The bare product reads, shapes and multiplies the same slabs of the same file and counts nothing. "cpu ns" is
processor time per query and image; "by cpu" is the ratio of processor times, which other work on the machine moves
less. Each size is measured in a fresh process, which gives its peak memory above the interpreter with the package
loaded; catalog, labels and mapped pages are in it. `python benchmarks/scale.py [images ...]`
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.cores import cores
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.rank.distinct import top_lists
from lookalike.rank.engine.blocks import each_block
from lookalike.rank.engine.machine import Machine
from lookalike.rank.engine.source import aligned
from lookalike.rank.engine.vectors import as_queries
from lookalike.rank.gallery import prepare
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs

IMAGES = 125_000, 250_000, 500_000, 1_000_000
QUERIES = 250, 500, 1_000
DIMENSION, PHOTOS, LABELS = 512, 7, 25
CHUNK = 2**14
MACHINE = Machine(held=2**27, device="numpy")  # so small that every size here is streamed
MOST_MEGABYTES = 2_000
REPEATS = 3


def main(sizes: list[int]) -> None:
    """Write the vectors once, measure every size in its own process and print the table."""
    print(f"{cores()} cores, float32, dimension {DIMENSION}, on disk; medians of {REPEATS} pairs of runs")
    print(f"limit: {MOST_MEGABYTES:,} MB above the interpreter at {IMAGES[-1]:,} images")
    heads = "queries", "seconds", "product", "ratio", "by cpu", "cpu ns", "MB above"
    print(f"{'images':>10}" + "".join(f"{head:>9}" for head in heads))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "vectors.npy"
        write(file, max(sizes))
        for images in sizes:
            for queries in QUERIES if images == max(sizes) else QUERIES[-1:]:
                command = [sys.executable, __file__, "--one", str(file), str(images), str(queries)]
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                each = found["cpu"] / images / queries * 1e9
                print(
                    f"{images:10,}{queries:9,}{found['work']:9.2f}{found['product']:9.2f}{found['ratio']:9.2f}"
                    f"{found['cpu ratio']:9.2f}{each:9.2f}{found['megabytes']:9.0f}",
                    flush=True,
                )


def one(file: Path, images: int, queries: int) -> dict[str, float]:
    """One size, in this process: item level, seven photos an item."""
    warm(file)
    before = peak()
    catalog, embeddings, labels = world(file, images, queries)
    rule = Rule()
    pairs = judged_pairs(catalog, labels, rule)

    def work() -> None:
        judged_ranks(catalog, embeddings, pairs, machine=MACHINE)

    work()
    megabytes = peak() - before
    source = aligned(catalog, embeddings)
    gallery = prepare(catalog, source, rule, MACHINE.held).vectors
    asked = as_queries(source, np.unique(pairs.query_row), "cosine", gallery.center, MACHINE.held // 4)
    assert gallery.rows is None

    def product() -> None:
        each_block(asked, gallery, lambda first, last, scores: None, machine=MACHINE)

    times = [(*timed(product), *timed(work)) for _ in range(REPEATS)]
    bare, bare_cpu, full, full_cpu = np.array(times).T
    figures = {
        "product": bare,
        "work": full,
        "ratio": full / bare,
        "cpu ratio": full_cpu / bare_cpu,
        "cpu": full_cpu,
    }
    return {name: float(np.median(column)) for name, column in figures.items()} | {"megabytes": megabytes}


def warm(file: Path) -> None:
    """Compile and load everything on a few images, so that it is not taken for the work's memory."""
    catalog, embeddings, labels = world(file, 1_000, 10)
    judged_ranks(catalog, embeddings, labels, machine=Machine(held=0, device="numpy"))
    top_lists(catalog, embeddings, np.arange(3), 6, machine=Machine(held=0, device="numpy"))


def write(file: Path, images: int) -> None:
    """Clustered vectors, written a chunk at a time."""
    random = np.random.default_rng(0)
    centre = random.standard_normal((200, DIMENSION), dtype=np.float32)
    with file.open("wb") as out:
        header = {"descr": "<f4", "fortran_order": False, "shape": (images, DIMENSION)}
        np.lib.format.write_array_header_1_0(out, header)
        for first in range(0, images, CHUNK):
            rows = np.arange(first, min(first + CHUNK, images))
            noise = random.standard_normal((len(rows), DIMENSION), dtype=np.float32)
            (centre[rows // PHOTOS % 200] + noise).tofile(out)


def world(file: Path, images: int, queries: int) -> tuple[Catalog, Embeddings, Labels]:
    """The first images of the file; half of a query's labels are of its own cluster, half are of any image."""
    random = np.random.default_rng(0)
    names, blank = strings(range(images)), np.full(images, "", object)
    item = np.repeat(strings(range(-(-images // PHOTOS))), PHOTOS)[:images]
    catalog = Catalog(
        names, names, item, blank, np.full(images, "both", object), np.full(images, "train", object),
        np.arange(images), blank, np.zeros(images, np.int64), np.zeros(images, np.int64),
    )  # fmt: skip
    asked = np.sort(random.choice(images, queries, replace=False))
    query = np.repeat(asked, LABELS)
    near = query + 200 * PHOTOS * random.integers(
        1, max(images // (200 * PHOTOS), 1), len(query), endpoint=True
    )
    found = np.where(random.random(len(query)) < 0.5, near % images, random.integers(0, images, len(query)))
    labels = Labels(names[query], names[found], (random.random(len(query)) < 0.6).astype(np.int8))
    vectors = np.load(file, mmap_mode="r")[:images]
    return catalog, Embeddings("bench", names, vectors), labels


def timed(work: Callable[[], None]) -> tuple[float, float]:
    """Seconds that one call takes, by the clock and of all processors together."""
    started = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started[0], time.process_time() - started[1]


def peak() -> float:
    """The most memory this process held so far, in MB.

    Read where Linux says it, because `ru_maxrss` counts what the parent held when it started the process.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return float(line.split()[1]) / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))))
    else:
        main([int(size) for size in sys.argv[1:]] or list(IMAGES))
