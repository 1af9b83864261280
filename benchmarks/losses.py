"""SupCon, Con and TRPL forward and backward against pytorch-metric-learning on the same pairs, one thread.

Each line is measured in a fresh process, ours and theirs in turn; the ratio is the median of the pairs' ratios. Theirs
is given the faster of its two ways to learn the pairs: labels, or indices listed beforehand (uncounted). Its
ContrastiveLoss is the nearest peer of Con, another formula: d in place of d^2. `python benchmarks/losses.py [repeats]`
"""

import gc
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch
from pytorch_metric_learning.distances import LpDistance
from pytorch_metric_learning.losses import ContrastiveLoss, SupConLoss, TripletMarginLoss
from pytorch_metric_learning.miners import TripletMarginMiner
from pytorch_metric_learning.reducers import MeanReducer
from ranks import most_memory, timed

from lookalike.learn.losses.weighted import contrastive, supcon, triplet

SIZES, DIMENSION, MARGIN = (256, 512, 1024), 2_048, 0.2
WORK = ("supcon", "con", "trpl all", "trpl hard", "trpl semihard")
LIMIT = 1.0
MOST_TRIPLETS = 30_000_000  # theirs holds some 40 to 70 bytes for each, and reads 24 listed beforehand


def main(repeats: int) -> None:
    """Measure every line in its own process and print the table."""
    print(
        f"one thread, float32, dimension {DIMENSION}, medians of {repeats} pairs of runs; group: images alike"
    )
    print(
        f"{'loss':14} {'n':>5} {'group':>5} {'triplets':>12} {'ours s':>8} {'theirs s':>8} {'ratio':>6} {'limit':>5}"
        f" {'ours MB':>8} {'theirs MB':>9}"
    )
    for work in WORK:
        for n in SIZES:
            for group in (2,) if "hard" in work else (2, n // 16):  # mined (hard, semihard): n^3 anyway
                command = [sys.executable, __file__, "--one", work, str(n), str(group), str(repeats)]
                found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
                print(line(work, n, group, found), flush=True)


def line(work: str, n: int, group: int, found: dict[str, float]) -> str:
    """One row of the table."""
    triplets = f"{n * (group - 1) * (n - group):12,}" if work.startswith("trpl") else f"{'':12}"
    start = f"{work:14} {n:5} {group:5} {triplets} {found['ours']:8.4f}"
    if "theirs" not in found:
        return f"{start} {'not run: too many triplets to list':>22} {found['ours_mb']:8.0f}"
    return (
        f"{start} {found['theirs']:8.4f} {found['ratio']:6.2f} {LIMIT:5.1f}"
        f" {found['ours_mb']:8.0f} {found['theirs_mb']:9.0f}"
    )


def one(work: str, n: int, group: int, repeats: int) -> dict[str, float]:
    """One line, in this process."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    label = torch.arange(n) // group
    centre = torch.randn(n // group, DIMENSION)
    vectors = (0.3 * centre[label] + torch.randn(n, DIMENSION)).requires_grad_()
    weight = (label.unsqueeze(1) == label).float()
    judged = torch.ones(n, n, dtype=torch.bool)
    mine = ours(work, weight, judged)

    def run(loss: Callable[[torch.Tensor], torch.Tensor]) -> None:
        vectors.grad = None
        loss(vectors).backward()

    run(mine)
    found = {"ours_mb": most_memory(lambda: run(mine))}
    if work.startswith("trpl") and n * (group - 1) * (n - group) > MOST_TRIPLETS:
        return found | {"ours": statistics.median(timed(lambda: run(mine)) for _ in range(repeats))}
    ways = theirs(work, weight.bool(), label)
    for way in ways:
        run(way)
    first = [min(timed(lambda way=way: run(way)) for _ in range(3)) for way in ways]
    best = ways[first.index(min(first))]
    gc.collect()
    found["theirs_mb"] = most_memory(lambda: run(best))
    times = [(timed(lambda: run(mine)), timed(lambda: run(best))) for _ in range(repeats)]
    found["ours"], found["theirs"] = (statistics.median(column) for column in zip(*times, strict=True))
    return found | {"ratio": statistics.median(a / b for a, b in times)}


def ours(work: str, weight: torch.Tensor, judged: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    """Our loss of the vectors."""
    name, _, rule = work.partition(" ")
    if name == "supcon":
        return lambda vectors: supcon(vectors, weight, judged).value
    if name == "con":
        return lambda vectors: contrastive(vectors, weight, judged).value
    return lambda vectors: triplet(vectors, weight, judged, margin=MARGIN, triplets=rule).value


def theirs(
    work: str, same: torch.Tensor, label: torch.Tensor
) -> list[Callable[[torch.Tensor], torch.Tensor]]:
    """Their loss of the vectors, told of the pairs by labels and by indices."""
    name, _, rule = work.partition(" ")
    positive, negative = same & ~torch.eye(len(same), dtype=torch.bool), ~same
    distance = LpDistance(normalize_embeddings=True, p=2)
    if name != "trpl":
        loss: Any = (
            SupConLoss() if name == "supcon" else ContrastiveLoss(distance=distance, reducer=MeanReducer())
        )
        indices = (*torch.where(positive), *torch.where(negative))
        return [lambda v: loss(v, label), lambda v: loss(v, label, indices)]
    loss = TripletMarginLoss(MARGIN, distance=distance, reducer=MeanReducer())
    if rule != "all":
        miner = TripletMarginMiner(MARGIN, rule, distance=distance)
        return [lambda v: loss(v, label, miner(v, label))]
    anchor, near = torch.where(positive)
    pair, far = torch.where(negative[anchor])
    listed = (anchor[pair], near[pair], far)
    return [lambda v: loss(v, label, listed)]  # from labels it would list them each time, out of n^3


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(sys.argv[2], *map(int, sys.argv[3:]))))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 7)
