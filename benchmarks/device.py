"""Ranks and top lists on a CUDA device at the size of EDS, against the card's own bare product, in one run.

The bare product multiplies the same blocks by the same resident gallery, in float32 without TF32, and counts nothing.
`sent` is the time to send the vectors to the card, which ranking must do first. The last line asks with every image.
`python benchmarks/device.py [repeats]`
"""

import statistics
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from ranks import DIMENSION, SIZES, world

from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.rank.distinct import top_lists
from lookalike.rank.engine.blocks import streamed_height
from lookalike.rank.engine.device import exact_products
from lookalike.rank.engine.machine import Machine
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs

if TYPE_CHECKING:
    import torch

SIZE, ALL = "EDS closed catalog", "top 6 lists of all"


def main(repeats: int) -> None:
    """Print the table, or say that there is no GPU."""
    device = Machine().torch_device()
    if device is None:
        print("no GPU here: nothing measured (there is no CUDA device, or torch is not installed)")
        return
    import torch

    card = torch.cuda.get_device_name(device)
    print(f"{card}, float32 without TF32, dimension {DIMENSION}, medians of {repeats} pairs of runs")
    print(f"{SIZE}: {SIZES[SIZE]}")
    print(f"{'work':24} {'seconds':>9} {'product':>9} {'sent':>9} {'share':>6} {'on processors':>14}")
    catalog, embeddings, labels = world(**SIZES[SIZE])
    sent = sending(device, embeddings.vectors)
    for work in ("image", "item", "top 6 lists", ALL):
        queries = len(catalog) if work == ALL else SIZES[SIZE]["queries"]
        product = bare_product(device, embeddings.vectors, queries)
        ranked = {name: ranking(work, catalog, embeddings, labels, name) for name in ("auto", "numpy")}
        calls = (product, sent, *ranked.values())
        for call in calls:
            call()  # compiled and warm from here on
        times = [[timed(call) for call in calls] for _ in range(repeats)]
        bare, copied, full, processors = (statistics.median(column) for column in zip(*times, strict=True))
        share = statistics.median(alone / whole for alone, _, whole, _ in times)
        name = work if work.startswith("top") else f"ranks, {work} level"
        print(f"{name:24} {full:9.4f} {bare:9.4f} {copied:9.4f} {share:6.2f} {processors:14.3f}", flush=True)


def ranking(
    work: str, catalog: Catalog, embeddings: Embeddings, labels: Labels, device: str
) -> Callable[[], None]:
    """One kind of work on one device, from vectors in the computer's own memory to ranks there."""
    machine, rule = Machine(device=device), Rule(level="image" if work == "image" else "item")
    pairs = judged_pairs(catalog, labels, rule)
    rows = np.arange(len(catalog)) if work == ALL else np.unique(pairs.query_row)

    def run() -> None:
        if work.startswith("top"):
            top_lists(catalog, embeddings, rows, 6, rule, machine=machine)
        else:
            judged_ranks(catalog, embeddings, pairs, machine=machine)

    return run


def sending(device: "torch.device", vectors: np.ndarray) -> Callable[[], None]:
    """The vectors on their way to the card."""
    import torch

    def run() -> None:
        torch.from_numpy(vectors).to(device)
        torch.cuda.synchronize()

    return run


def bare_product(device: "torch.device", vectors: np.ndarray, queries: int) -> Callable[[], None]:
    """The product of the queries' and the gallery's vectors, both on the card."""
    import torch

    gallery = torch.from_numpy(vectors).to(device)
    asked = gallery[:queries].clone()
    tall = streamed_height(len(vectors), Machine())

    def run() -> None:
        with exact_products():
            for first in range(0, queries, tall):
                asked[first : first + tall] @ gallery.T
            torch.cuda.synchronize()

    return run


def timed(work: Callable[[], None]) -> float:
    """Seconds that one call takes."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
