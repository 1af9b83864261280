"""An epoch of training a head on 50,000 cached features against its matrix products alone, in the same run.

Features are 1,280 wide, the projection is 2,048; labels have VSD-Furniture's degree: 39,194 positives and 37,700
negatives for 10,458 images, so 187,000 and 180,000 here. The products are those of the head and of the loss's
similarities, forward and backward, on the very batches of the epoch: for n images

    forward   n x 1,280 x 1,280,  n x 1,280 x 2,048,  n x 2,048 x n
    backward  the same again, and n x 2,048 x 1,280 for the middle of the head

The epoch is that of `finetune` itself, on its first steps, each followed by its products; the whole is told from these.
With one thread seconds are processor seconds, which say more on a machine that is shared; with several, where waiting
for each other counts, they are the clock's. With `--device cuda` head and products are on the card, and the last column
is the share of the time in which the card computes. `python benchmarks/finetune.py`
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch

IMAGES, FEATURES, PROJECTION = 50_000, 1_280, 2_048
POSITIVES, NEGATIVES = 187_000, 180_000
LIMIT = 1.3


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser()
    options.add_argument("--batch", type=int, nargs="*", default=[256, 512, 1024])
    options.add_argument("--steps", type=int, default=60, help="of the epoch; as many as there are: 10000")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--device", default="cpu")
    options.add_argument("--one", action="store_true")
    given = options.parse_args()
    if given.one:
        print(json.dumps(measured(given.batch[0], given.steps, given.threads, given.device)))
        return
    print(
        f"{IMAGES:,} images, {FEATURES:,} features, projection {PROJECTION:,}, {POSITIVES:,} positives, "
        f"threads: {given.threads}, {given.device}"
    )
    print(
        f"{'batch':>6} {'batches':>8} {'seen':>5} {'epoch s':>8} {'products s':>11} {'ratio':>6} {'limit':>6} "
        f"{'busy':>6}"
    )
    for batch in given.batch:
        own = ["--one", "--batch", str(batch), "--steps", str(given.steps), "--threads", str(given.threads)]
        own += ["--device", given.device]
        said = subprocess.run([sys.executable, __file__, *own], check=True, capture_output=True, text=True)
        one = json.loads(said.stdout)
        print(
            f"{batch:6,} {one['batches']:8,} {one['seen']:5,} {one['epoch']:8.1f} {one['products']:11.1f} "
            f"{one['ratio']:6.2f} {LIMIT:6.1f} "
            + (f"{one['busy']:6.0%}" if given.device != "cpu" else f"{'-':>6}"),
            flush=True,
        )


def measured(batch: int, steps: int, threads: int, on: str) -> dict[str, float]:
    """The steps of an epoch, each with its products right after it, so that both meet the same machine."""
    import torch
    from card import busy, clock

    from lookalike.encode.heads.two_layers import ProjectionHead
    from lookalike.learn.batches import BatchPlan, anchors, epoch_batches
    from lookalike.learn.examples import Cached, Examples
    from lookalike.learn.finetune import finetune
    from lookalike.learn.settings import TrainingSettings

    torch.set_num_threads(threads)
    device = torch.device(on)
    now = clock(device, by_processor=threads == 1)
    features = np.random.default_rng(0).standard_normal((IMAGES, FEATURES), np.float32)
    around = anchors(labels(), np.arange(IMAGES))
    settings, plan = TrainingSettings(epochs=1, batch=batch), BatchPlan(size=batch)
    examples = Examples(around, plan, settings.soft, Cached([features], device), 0, device)

    def steps_of(progress: Callable[[int, int], None]) -> None:
        head = ProjectionHead.seeded(FEATURES, PROJECTION, seed=0).to(device)
        with contextlib.suppress(Enough):
            finetune(head, examples, settings, float, Nowhere(), progress=progress)

    next(examples.epoch(0)[1])  # compiled before the clock starts
    started = now()
    sizes = [len(rows) for rows in epoch_batches(around, plan, settings.soft, 0, 0)]
    planned = now() - started
    bare = Products(max(sizes), device)
    at, pairs = [0.0], []

    def after(done: int, total: int) -> None:
        spent = now() - at[0]
        between = now()
        bare.of(sizes[done - 1])
        pairs.append((spent, now() - between))
        if done == min(steps, total):
            raise Enough
        at[0] = now()

    def enough(done: int, total: int) -> None:
        if done == min(steps, total):
            raise Enough

    steps_of(after)
    seen = pairs[1:]  # the first holds the planning of the epoch and first touches of memory
    share = len(sizes) / len(seen)
    epoch, alone = planned + share * sum(one for one, _ in seen), share * sum(other for _, other in seen)
    return {
        "batches": len(sizes),
        "seen": len(seen),
        "epoch": epoch,
        "products": alone,
        "ratio": planned / alone + statistics.median(one / other for one, other in seen),
        "busy": busy(lambda: steps_of(enough), 1) if device.type == "cuda" else float("nan"),
    }


class Enough(Exception):  # noqa: N818 - no error
    """So many steps were asked for."""


class Nowhere:
    """Keeps nothing."""

    def last(self) -> None:
        """There is no earlier state."""

    def due(self) -> bool:
        """Never."""
        return False

    def keep(self, state: bytes) -> None:
        """Nothing is kept."""


def labels():
    """A graph of clusters of 60 images, positives within them and negatives anywhere."""
    from lookalike.positive.graph import Graph, neighbours

    random = np.random.default_rng(1)
    one = random.integers(IMAGES, size=2 * POSITIVES)
    other = np.minimum(one // 60 * 60 + random.integers(60, size=len(one)), IMAGES - 1)
    far, away = random.integers(IMAGES, size=(2, 2 * NEGATIVES))
    positive, negative = distinct(one, other, POSITIVES), distinct(far, away, NEGATIVES)
    return Graph(np.arange(IMAGES), neighbours(*positive, IMAGES), neighbours(*negative, IMAGES), ())


def distinct(one: np.ndarray, other: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The first pairs of different images, each once."""
    low, high = np.minimum(one, other), np.maximum(one, other)
    keys, first = np.unique((low * IMAGES + high)[low < high], return_index=True)
    keys = keys[np.argsort(first)][:count]
    return keys // IMAGES, keys % IMAGES


class Products:
    """The products of a step and nothing else, into memory that is there."""

    def __init__(self, most: int, device: "torch.device") -> None:
        import torch

        def drawn(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, device=device)

        self.inputs, self.hidden, self.found = (
            drawn(most, width) for width in (FEATURES, FEATURES, PROJECTION)
        )
        self.first, self.last = drawn(FEATURES, FEATURES), drawn(PROJECTION, FEATURES)
        self.alike = drawn(most * most)

    def of(self, n: int) -> None:
        """A batch of n rows, forward and backward."""
        import torch

        inputs, hidden, found = self.inputs[:n], self.hidden[:n], self.found[:n]
        alike = self.alike[: n * n].view(n, n)
        with torch.inference_mode():
            torch.mm(inputs, self.first.T)
            torch.mm(hidden, self.last.T)
            torch.mm(found, found.T)
            torch.mm(alike, found)
            torch.mm(found.T, hidden)
            torch.mm(found, self.last)
            torch.mm(hidden.T, inputs)


if __name__ == "__main__":
    main()
