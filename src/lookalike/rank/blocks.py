"""Finished rows of scores, block by block, on every core: the one loop all ranking runs in.

Each worker thread multiplies a block of queries of one fixed height by the whole gallery with one BLAS thread
and then hands the finished rows to compiled counting, which reads the labelled scores from those same rows: a
product computed apart, or of another shape, differs in its last bits. On some processors the product's last bits also
depend on a query's place in its block; the tie tolerance, ten times wider, is there for that.
"""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait

import numpy as np
from threadpoolctl import threadpool_limits

from lookalike.core.progress import Progress
from lookalike.rank.cores import cores

BLOCK_FLOATS = 2**24
HEIGHTS = (32, 256)

Task = Callable[[int, int, np.ndarray], None]


def height(columns: int) -> int:
    """Queries per block: a power of two that keeps a block near 64 MB, from 32 to 256."""
    fits = max(BLOCK_FLOATS // max(columns, 1), 1)
    return min(max(2 ** (fits.bit_length() - 1), HEIGHTS[0]), HEIGHTS[1])


def each_block(
    queries: np.ndarray,
    gallery: np.ndarray,
    task: Task,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Call task(first, last, scores) for each block of queries, scores being (last - first, columns) float32.

    Tasks run in several threads and own their block until they return. Memory: one block per thread.
    """
    tall = height(len(gallery))
    local = threading.local()

    def run(first: int) -> int:
        if not hasattr(local, "scores"):
            local.scores = np.empty((tall, len(gallery)), np.float32)
            local.queries = np.zeros((tall, queries.shape[1]), np.float32)
        last = min(first + tall, len(queries))
        local.queries[: last - first] = queries[first:last]
        np.matmul(local.queries, gallery.T, out=local.scores)
        task(first, last, local.scores[: last - first])
        return last - first

    workers = min(threads or cores(), max(1, -(-len(queries) // tall)))
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(workers) as pool:
        try:
            _finish(
                [pool.submit(run, first) for first in range(0, len(queries), tall)], len(queries), progress
            )
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _finish(blocks: list[Future[int]], total: int, progress: Progress | None) -> None:
    done, pending = 0, set(blocks)
    while pending:
        finished, pending = wait(pending, timeout=1.0, return_when=FIRST_EXCEPTION)
        done += sum(block.result() for block in finished)
        if progress:
            progress(done, total)
