"""A step of training a whole network against the forward and backward of the bare network and head, in the same run.

The batch is in memory, as uint8 pixels. A step is that of `finetune --part network`: projection head, SupCon, gradient,
AdamW. With accumulation (`--micro`), a batch may cost one more forward. On a processor one thread is measured in
processor seconds, on a GPU the clock and the share of the time in which kernels run. The last line has views that are
decoded and augmented. `python benchmarks/networks.py [--images 64] [--size 96] [--network mobilenetv2_100]`
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from card import busy, clock

from lookalike.catalog.read import catalog_from
from lookalike.core.cores import cores
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.encode.network import Network
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse
from lookalike.learn.examples import Batch
from lookalike.learn.networks.photo_views import Group, KhoslaView, PhotoViews
from lookalike.learn.networks.step import GradientStep
from lookalike.learn.networks.trainee import Trainee
from lookalike.learn.objectives.objective import PairObjective
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import PROJECTION
from lookalike.studio import studio
from lookalike.workflows.start.studio import write_studio

ROUNDS, PIECES = 7, 4
LEAST, MOST = 0.95, 1.0


def main() -> None:
    """Print the ratios."""
    options = argparse.ArgumentParser()
    options.add_argument("--images", type=int, default=64, help="in a batch, two views of each")
    options.add_argument("--size", type=int, default=96)
    options.add_argument("--network", default="mobilenetv2_100")
    options.add_argument("--rounds", type=int, default=ROUNDS)
    given = options.parse_args()
    on_card = torch.cuda.is_available()
    device = torch.device("cuda" if on_card else "cpu")
    if not on_card:
        torch.set_num_threads(1)
    network = opened(given.network, given.size).on(device)
    model, step, bare, forward = works(network, given.images, given.size)
    whole, pieces = (lambda: step(None)), (lambda: step(2 * given.images // PIECES))
    taken = interleaved((whole, bare, pieces, forward), given.rounds, clock(device))
    ours, alone, accumulated, once = (statistics.median(one) for one in taken)
    name = torch.cuda.get_device_name() if on_card else "one thread of a processor"
    print(
        f"{given.network}, {given.size} px, {given.images} images in two views, "
        f"{model.network.origin.precision}, {name}"
    )
    share = statistics.median(b / a for a, b in zip(taken[0], taken[1], strict=True))
    print(f"step {ours:.3f} s, bare forward and backward {alone:.3f} s, share {share:.3f} (>= {LEAST})")
    more = statistics.median((c - a) / d for a, c, d in zip(taken[0], taken[2], taken[3], strict=True))
    print(
        f"in {PIECES} pieces {accumulated:.3f} s, {more:.2f} forwards more (one takes {once:.3f} s; <= {MOST:.0f})"
    )
    if on_card:
        print(f"kernels run {busy(whole):.1%} of the time (>= 90%)")
    print(end_to_end(network, given.images, given.size, whole))


def opened(name: str, size: int) -> Network:
    """A network with random weights."""
    import timm
    from safetensors.torch import save_file

    with tempfile.TemporaryDirectory() as folder:
        torch.manual_seed(0)
        save_file(timm.create_model(name, num_classes=0).state_dict(), f"{folder}/net.safetensors")
        found = open_encoder(parse(f"timm:{name}?weights={folder}/net.safetensors&size={size}"), Path(folder))
    assert isinstance(found, Network)
    return found


def works(
    network: Network, images: int, size: int
) -> tuple[Trainee, Callable[[int | None], object], Callable[[], object], Callable[[], object]]:
    """The model, a step in pieces of a size, the forward and backward of network and head, and a bare forward."""
    draw = np.random.default_rng(0)
    pixels = torch.from_numpy(draw.integers(0, 256, (2 * images, size, size, 3), np.uint8))
    alike = torch.from_numpy(draw.integers(0, images // 4, images)).tile(2)
    weight = (alike[:, None] == alike[None]).float().to(network.device)
    batch = Batch(np.arange(images), pixels, weight, weight > 0)
    request = TrainingRequest(part="network", batch=images)
    head = ProjectionHead.seeded(network.dimension, PROJECTION, seed=0)
    model, objective = Trainee(network, head, request, kept=True).train(), PairObjective(request)
    optimizer = torch.optim.AdamW(model.parameters(), lr=request.rate, fused=True)

    def step(micro: int | None) -> object:
        loss = GradientStep(micro)(model, objective, batch, 0)
        optimizer.step()
        return loss.value.item()

    def bare() -> object:
        model.zero_grad()
        model(pixels).sum().backward()
        return None

    def forward() -> object:
        with torch.no_grad():
            return model(pixels).sum().item()

    return model, step, bare, forward


def interleaved(
    works: tuple[Callable[[], object], ...], rounds: int, now: Callable[[], float]
) -> list[list[float]]:
    """Seconds of each work, one after another in each round; the first round is not counted."""
    taken: list[list[float]] = [[] for _ in works]
    for number in range(rounds + 1):
        for work, seconds in zip(works, taken, strict=True):
            started = now()
            work()
            if number:
                seconds.append(now() - started)
            else:
                now()
    return taken


def end_to_end(network: Network, images: int, size: int, step: Callable[[], object]) -> str:
    """Views of photos that are decoded and augmented, and steps that take them."""
    with tempfile.TemporaryDirectory() as folder:
        write_studio(Path(folder), studio(256, photos_per_item=2, seed=0), size=size)
        catalog = catalog_from(folder).catalog
        views = PhotoViews(
            catalog,
            Path(folder),
            [Group(2, KhoslaView(network.prepare, size), (size, size))],
            network.size_hint,
            processors=cores(),
        )
        planned = [np.arange(images) + at * images % len(catalog) for at in range(8)]
        planned = [rows % len(catalog) for rows in planned]
        next(views.stream(planned[:1] * 4, 0, 0))  # workers have started
        started = time.perf_counter()
        drawn = sum(len(one.rows) for one in views.stream(planned, 0, 1))
        alone = (time.perf_counter() - started) / drawn / 2
        started = time.perf_counter()
        for _ in views.stream(planned, 0, 2):
            step()
        both = (time.perf_counter() - started) / len(planned)
    return (
        f"with decoding and augmentation: a view takes {1e3 * alone * cores():.1f} ms of a core, "
        f"a step {both:.3f} s of the clock on {cores()} cores"
    )


if __name__ == "__main__":
    main()
