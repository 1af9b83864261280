"""Complete rows of scores, block by block, on every core: the one loop that all ranking runs in.

Where the shaped gallery is held in memory, each worker thread multiplies a block of queries of one fixed height by
the whole gallery with one BLAS thread and then hands the finished rows to compiled counting. Where it is not, all
threads work on one tall block: they share the slabs of the gallery, each shapes a slab and multiplies the block's
queries by it, and when the rows are finished they share the counting; so a file is read once per tall block.
Either way counting reads the labelled scores from the finished rows: a
product computed apart, or of another shape, differs in its last bits. On some processors the product's last bits also
depend on a query's place in its block; the tie tolerance, ten times wider, is there for that.
"""

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import AbstractContextManager
from functools import cache
from types import ModuleType

import numpy as np
from threadpoolctl import ThreadpoolController

from lookalike.core.cores import cores
from lookalike.core.progress import Progress
from lookalike.rank.engine.machine import DEFAULT, Machine
from lookalike.rank.engine.vectors import Shaped

BLOCK_BYTES = 2**26
HEIGHTS = (32, 256)
STREAMED_HEIGHTS = (128, 1024)  # rows of one product, rows of one tall block at most
COUNTED = 8  # rows of a tall block that a thread counts at a time

Task = Callable[[int, int, object], None]


def each_block(
    queries: Shaped,
    gallery: Shaped,
    task: Task,
    *,
    machine: Machine = DEFAULT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Call task(first, last, scores) for each block of queries, scores being (last - first, columns) float32.

    Tasks run in several threads and own their rows until they return. `scores` is a numpy array, or on a GPU a torch
    tensor there. Memory: one block per thread, or one tall block.
    """
    if len(queries) == 0:
        return
    if (device := machine.torch_device()) is not None:
        from lookalike.rank.engine.device import each_block_on

        each_block_on(device, queries, gallery, task, machine, progress)
        return
    way = _streamed if gallery.rows is None else _side_by_side
    with one_thread(), ThreadPoolExecutor(threads or cores()) as pool:
        try:
            way(pool, queries, gallery, task, machine, progress)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def one_thread() -> AbstractContextManager[object]:
    """Products with one BLAS thread each: the threads are ours."""
    return _blas().limit(limits=1, user_api="blas")


@cache
def _blas() -> ThreadpoolController:
    """The libraries that products run in; numpy has loaded its own. Finding them takes longer than a small product."""
    return ThreadpoolController()


def kernels_of(scores: object) -> ModuleType:
    """What counts in rows of scores: compiled kernels in numpy arrays, the same by torch in its tensors."""
    if isinstance(scores, np.ndarray):
        from lookalike.rank.engine import kernels

        return kernels
    from lookalike.rank.engine import device_kernels

    return device_kernels


def height(columns: int) -> int:
    """Queries per block: a power of two that keeps a block near 64 MB, from 32 to 256."""
    return max(power_of_two(BLOCK_BYTES, columns, HEIGHTS[1]), HEIGHTS[0])


def streamed_height(columns: int, machine: Machine) -> int:
    """Queries per tall block: a power of two whose rows take at most `machine.rows` bytes, from 1 to 1,024."""
    return power_of_two(machine.rows, columns, STREAMED_HEIGHTS[1])


def power_of_two(bytes_held: int, columns: int, most: int) -> int:
    """The largest power of two, up to `most`, of float32 rows that fit; at least 1."""
    fits = max(bytes_held // (4 * max(columns, 1)), 1)
    return min(1 << (fits.bit_length() - 1), most)


def _side_by_side(
    pool: ThreadPoolExecutor,
    queries: Shaped,
    gallery: Shaped,
    task: Task,
    machine: Machine,
    progress: Progress | None,
) -> None:
    """Every thread has a block of its own."""
    columns = gallery.take(slice(None))
    tall, local = height(len(gallery)), threading.local()

    def run(first: int) -> int:
        if not hasattr(local, "scores"):
            local.scores = np.empty((tall, len(gallery)), np.float32)
            local.queries = np.zeros((tall, queries.width), np.float32)
        last = min(first + tall, len(queries))
        local.queries[: last - first] = queries.take(slice(first, last))
        np.matmul(local.queries, columns.T, out=local.scores)
        task(first, last, local.scores[: last - first])
        return last - first

    if len(queries) <= tall:  # as after every training epoch: one block needs no thread
        run(0)
        if progress:
            progress(len(queries), len(queries))
        return
    blocks = [pool.submit(run, first) for first in range(0, len(queries), tall)]
    _finish(blocks, lambda done: progress(done, len(queries)) if progress else None)


def _streamed(
    pool: ThreadPoolExecutor,
    queries: Shaped,
    gallery: Shaped,
    task: Task,
    machine: Machine,
    progress: Progress | None,
) -> None:
    """All threads share a tall block: first the slabs of its product, then the counting of its rows."""
    from lookalike.rank.engine.kernels import spread

    tall = streamed_height(len(gallery), machine)
    product = min(tall, STREAMED_HEIGHTS[0])
    wide = max(machine.slab // (4 * gallery.width), 1)
    most = min(tall, -(-len(queries) // product) * product)
    scores = np.empty((most, len(gallery)), np.float32)
    block = np.zeros((most, queries.width), np.float32)

    def multiply(rows: int, first: int) -> int:
        which = gallery.slab(first, first + wide)
        shaped = gallery.take(which)
        part = scores[:rows, which] if isinstance(which, slice) else np.empty((rows, len(which)), np.float32)
        for top in range(0, rows, product):
            np.matmul(block[top : top + product], shaped.T, out=part[top : top + product])
        if not isinstance(which, slice):
            spread(part, which, scores)
        return len(shaped)

    def count(first: int, last: int, row: int) -> int:
        stop = min(row + COUNTED, last - first)
        task(first + row, first + stop, scores[row:stop])
        return stop - row

    for first in range(0, len(queries), tall):
        last = min(first + tall, len(queries))
        block[: last - first] = queries.take(slice(first, last))
        rows = -(-(last - first) // product) * product

        def walked(columns: int, first: int = first, last: int = last) -> None:
            if progress:
                progress(first + (last - first) * columns // len(gallery), len(queries))

        _finish([pool.submit(multiply, rows, at) for at in range(0, len(gallery), wide)], walked)
        _finish([pool.submit(count, first, last, row) for row in range(0, last - first, COUNTED)])


def _finish(work: list[Future[int]], tell: Callable[[int], None] | None = None) -> None:
    """Wait for pieces of work, in short waits so that an interrupt is heard; tell how much of it is done."""
    done, pending = 0, set(work)
    while pending:
        finished, pending = wait(pending, timeout=1.0, return_when=FIRST_EXCEPTION)
        done += sum(piece.result() for piece in finished)
        if tell:
            tell(done)
