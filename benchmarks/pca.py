"""Principal components of vectors in a file against the bare product of the covariance, in the same run.

Ours reads float16 rows from the disk, and ends with the eigenvectors. The product is that of one block in memory, in
float32, as often as there are blocks; after every fourth block of ours it is run once, so that both meet the same
machine. Seconds are processor seconds of one thread. Memory is the most that the process held in any moment.
`python benchmarks/pca.py [rows] [dimension] [components]`; the file (7.7 GB) is in the temporary folder.
"""

import json
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, DIMENSION, COMPONENTS = 1_000_000, 3_840, 256
LIMIT, LIMIT_MB, EVERY = 1.5, 2_000, 4
PIECE = 10_000  # rows written at a time


def main(rows: int, dimension: int, components: int) -> None:
    """Write the file, measure in a fresh process, print the figures."""
    size = 2 * rows * dimension
    with tempfile.TemporaryDirectory() as folder:
        free = shutil.disk_usage(folder).free
        if free < 2 * size:
            rows = rows * free // (2 * size)
            print(f"only {rows:,} rows: the disk has {free / 1e9:.1f} GB")
        file = Path(folder) / "vectors.npy"
        write(file, rows, dimension)
        own = [sys.executable, __file__, "--one", str(file), str(components)]
        said = subprocess.run(own, check=True, capture_output=True, text=True).stdout
    found = json.loads(said)
    print(f"{rows:,} x {dimension:,} float16 ({size / 1e9:.1f} GB) to {components}, one thread")
    print(
        f"product {found['product']:.1f} s, ours {found['ours']:.1f} s, of which eigenvectors {found['end']:.1f} s"
    )
    print(
        f"ratio {found['ours'] / found['product']:.3f} (limit {LIMIT}), {found['mb']:,.0f} MB (limit {LIMIT_MB:,})"
    )


def write(file: Path, rows: int, dimension: int) -> None:
    """Random rows with falling variance, a piece at a time, through no mapping: a child would inherit its memory."""
    random = np.random.default_rng(0)
    scale = (1 / np.sqrt(1 + np.arange(dimension))).astype(np.float32)
    with file.open("wb") as out:
        shape = {"descr": "<f2", "fortran_order": False, "shape": (rows, dimension)}
        np.lib.format.write_array_header_1_0(out, shape)
        for first in range(0, rows, PIECE):
            size = (min(PIECE, rows - first), dimension)
            (random.standard_normal(size, np.float32) * scale).astype("<f2").tofile(out)


def one(file: str, components: int) -> dict[str, float]:
    """Ours and the products, in turn."""
    from lookalike.learn.components import BLOCK, fit_components

    vectors = np.load(file, mmap_mode="r")
    block = np.random.default_rng(1).standard_normal(
        (BLOCK // vectors.shape[1], vectors.shape[1]), np.float32
    )
    spent, blocks, last = [], 0, 0.0

    def after(done: int, total: int) -> None:
        nonlocal blocks, last
        if blocks % EVERY == 0:
            begun = time.process_time()
            block.T @ block
            spent.append(time.process_time() - begun)
        blocks, last = blocks + 1, time.process_time()

    begun = time.process_time()
    fit_components(vectors, np.arange(len(vectors)), components, after)
    ended = time.process_time()
    product = float(np.median(spent)) * len(vectors) / len(block)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    return {"product": product, "ours": ended - begun - sum(spent), "end": ended - last, "mb": most}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], int(sys.argv[3]))))
    else:
        given = [int(word) for word in sys.argv[1:]]
        main(*(given + [ROWS, DIMENSION, COMPONENTS][len(given) :]))
