"""An epoch of an adaptation head on 3,149 training pairs against its bare forward and backward, in the same run.

The bare step is Eq. 1 of ADAPT in plain PyTorch: 6,298 x 256 components times W (1,024), cosines 3,149 x 3,149, two
cross-entropies (by logsumexp, which is faster here than cross_entropy), and their gradient. An epoch is that of
`finetune` itself: the step with aR@1 of the training pairs, which is counted in the step's own matrix, the optimizer,
the checks, and the copy of the parameters. With the test recall, 1,050 other pairs are measured after the step, which
is a forward pass of its own, as it is for the pairs left out of a resample. A loop that sorts both directions of the
matrix is beside them.

The four are interleaved, and medians are told, in processor seconds of one thread. `python benchmarks/adaptation.py`
"""

import argparse
import statistics
import time

import numpy as np
import torch
from torch.nn.functional import normalize

from lookalike.encode.heads.adaptation import Adapter
from lookalike.learn.bootstrap import HeldOutPairs
from lookalike.learn.examples import Cached
from lookalike.learn.finetune import finetune
from lookalike.learn.keeper import Unkept
from lookalike.learn.settings import TrainingSettings
from lookalike.learn.similar_pairs import PairExamples, SimilarPairs
from lookalike.positive.graph import Graph, neighbours

TRAIN, TEST, COMPONENTS, ADAPTED = 3_149, 1_050, 256, 1_024
LIMITS = {"with the training recall": 1.1, "with the test recall too": 1.2, "a loop that sorts": float("nan")}
HERE = torch.device("cpu")


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--rounds", type=int, default=9)
    given = options.parse_args()
    torch.set_num_threads(1)
    n = TRAIN + TEST
    features = np.random.default_rng(0).standard_normal((2 * n, COMPONENTS), np.float32)
    at, none = np.arange(n), np.empty(0, np.int64)
    pairs = SimilarPairs(
        at, at + n, Graph(np.arange(2 * n), neighbours(at, at + n, 2 * n), neighbours(none, none, 2 * n), ())
    )
    views = Cached([features], HERE)
    examples = PairExamples(pairs.take(at[:TRAIN]), views, 0, HERE)
    held_out = HeldOutPairs(pairs.take(at[TRAIN:]), views, HERE)
    inputs = next(examples.epoch(0)[1]).inputs
    settings = TrainingSettings(loss="symmetric", epochs=1, keep="last")

    def epoch(validate) -> None:
        finetune(Adapter(COMPONENTS, ADAPTED).seed(0), examples, settings, validate, Unkept())

    timed = {
        "bare forward and backward": lambda: bare(inputs),
        "with the training recall": lambda: epoch(lambda _: float("nan")),
        "with the test recall too": lambda: epoch(held_out),
        "a loop that sorts": lambda: sorting(inputs),
    }
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for number in range(given.rounds + 1):
        for name, run in timed.items():
            started = time.process_time()
            run()
            if number:  # the first round warms up
                seconds[name].append(time.process_time() - started)
    medians = {name: statistics.median(each) for name, each in seconds.items()}
    base = medians["bare forward and backward"]
    print(f"{TRAIN:,} training and {TEST:,} test pairs, {given.rounds} rounds, one thread")
    print(f"{'':27} {'seconds':>8} {'ratio':>6} {'limit':>6}")
    for name, median in medians.items():
        limit = LIMITS.get(name, float("nan"))
        shown = f"{limit:6.1f}" if limit == limit else ""  # noqa: PLR0124 - NaN is no limit
        print(f"{name:27} {median:8.3f} {median / base:6.2f} {shown}")


def bare(inputs: torch.Tensor) -> torch.Tensor:
    """The cosines of a step, whose gradient is computed and dropped."""
    adapter = Adapter(COMPONENTS, ADAPTED).seed(0)
    left, right = normalize(adapter(inputs)).chunk(2)
    cosine = left @ right.T
    score = 15 * cosine
    loss = (score.logsumexp(0) + score.logsumexp(1)).mean() / 2 - score.diagonal().mean()
    loss.backward()
    return cosine.detach()


def sorting(inputs: torch.Tensor) -> float:
    """A bare step, and the training recall from sorted rows and columns."""
    cosine = bare(inputs)
    own = torch.arange(len(cosine))
    first = [(-part).argsort(dim=1)[:, 0] == own for part in (cosine, cosine.T)]
    return (first[0] | first[1]).double().mean().item()


if __name__ == "__main__":
    main()
