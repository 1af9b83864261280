"""Four layers of a network against its last layer alone, in the same run: one thread, a batch of 16 photos.

Both are encoders as `embed` runs them. The ratio is the median of the ratios of neighbouring runs, in processor
seconds. Weights are random, which costs the same. `python benchmarks/layers.py [repeats]`
"""

import statistics
import sys
import time

import numpy as np
import timm
import torch

from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.layers import Layers
from lookalike.encode.network import Network
from lookalike.encode.spec import parse

LIMIT, BATCH = 1.05, 16
NETWORKS = {
    "resnet50": ("layer1", "layer2", "layer3", "layer4"),
    "mobilenetv2_100": ("blocks.1", "blocks.2", "blocks.4", "blocks.6"),
    "vit_small_patch16_224": ("blocks.2", "blocks.5", "blocks.8", "blocks.11"),
    "swin_tiny_patch4_window7_224": ("layers.0", "layers.1", "layers.2", "layers.3"),
}


def main(repeats: int) -> None:
    """Print a row for every network."""
    torch.set_num_threads(1)
    print(f"one thread, {BATCH} photos, medians of {repeats} neighbouring runs; milliseconds a photo")
    print(f"{'network':30} {'numbers':>8} {'last':>8} {'four':>8} {'ratio':>6} {'limit':>6}")
    for name, layers in NETWORKS.items():
        four, last = encoder(name, layers), encoder(name, layers[-1:])
        ready = np.random.default_rng(0).integers(0, 255, (BATCH, 224, 224, 3), dtype=np.uint8)
        timed(last, ready), timed(four, ready)
        runs = [turn(four, last, ready, at) for at in range(repeats)]
        found = [statistics.median(column) for column in zip(*runs, strict=True)]
        ratio = statistics.median(one / other for one, other in runs)
        print(
            f"{name:30} {four.dimension:8,} {found[1] * 1e3 / BATCH:8.2f} {found[0] * 1e3 / BATCH:8.2f} {ratio:6.3f} "
            f"{LIMIT:6.2f}",
            flush=True,
        )


def encoder(name: str, layers: tuple[str, ...]) -> Network:
    """A network with random weights and some of its layers."""
    torch.manual_seed(0)
    module = Layers(timm.create_model(name, num_classes=0), layers)
    return Network.of(parse(f"timm:{name}"), module, Preprocessing((224, 224)))


def turn(four: Network, last: Network, ready: np.ndarray, at: int) -> tuple[float, float]:
    """Both, one after the other, in changing order."""
    if at % 2:
        return timed(four, ready), timed(last, ready)
    other = timed(last, ready)
    return timed(four, ready), other


def timed(network: Network, ready: np.ndarray) -> float:
    """Processor seconds of one batch."""
    begun = time.process_time()
    network.vectors(ready)
    return time.process_time() - begun


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 11)
