"""Embedding in shards against one process, and on Ray: photos a second, without start-up and join.

Two workers of one core each share the plan of an encoder; one process uses both cores. Each has opened the encoder and
computed a unit before it is timed, and works on units of 1,024 photos. The workers begin together, and the later one
counts. Ray is compared with the same shards in one process, start-up and join apart for both. Medians, taken in turn.
`python benchmarks/shards.py [photos] [repeats]`; photos are drawn, 320 pixels, JPEG.
"""

import argparse
import multiprocessing
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from loky import get_reusable_executor
from PIL import Image
from safetensors.torch import save_file

from lookalike.store.shards.packed import packing
from lookalike.store.shards.places import place_at
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards import embed, on_ray
from lookalike.workflows.shards.plans import Part, ShardWork, read_plan, unit_count
from lookalike.workflows.shards.run import work
from lookalike.workflows.start.init import init

NETWORK, SIDE = "mobilenetv3_small_050", 320
LEAST_WORKERS, MOST_RAY = 0.95, 0.15


def main(photos: int, repeats: int) -> None:
    """Make the catalog and the plan, measure and print."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = planned(folder, photos)
        print(f"{photos:,} photos, {NETWORK}, units of 1,024, {len(cores)} cores, medians of {repeats}")
        rounds = [
            (
                timed(plan, [(Part(1, 1), cores)]),
                timed(plan, [(Part(at + 1, 2), [core]) for at, core in enumerate(cores)]),
            )
            for _ in range(repeats)
        ]
        one, two = (statistics.median(side) for side in zip(*rounds, strict=True))
        ratio = statistics.median(a / b for a, b in rounds)
        print(
            f"one process, two cores: {photos / one:.1f}/s; two workers of one core: {photos / two:.1f}/s, "
            f"ratio {ratio:.3f} (>= {LEAST_WORKERS})"
        )
        rounds = [(here(plan, folder, at), ray(plan, folder, at)) for at in range(repeats)]
        alone, spread = (statistics.median(side) for side in zip(*rounds, strict=True))
        more = statistics.median(b / a for a, b in rounds) - 1
        print(
            f"two workers: {alone:.1f} s, Ray: {spread:.1f} s, overhead {100 * more:.1f} % (< {MOST_RAY:.0%})"
        )


def planned(folder: Path, photos: int) -> str:
    """Draw the photos, make the workspace and the plan."""
    random = np.random.default_rng(0)
    (folder / "photos").mkdir()
    for at in range(photos):
        coarse = random.integers(0, 255, (10, 10, 3), dtype=np.uint8)
        photo = Image.fromarray(coarse).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
        photo.save(folder / f"photos/{at:05d}.jpg", quality=90)
    torch.manual_seed(0)
    weights = folder / "weights.safetensors"
    save_file(timm.create_model(NETWORK, num_classes=0).state_dict(), weights)
    workspace, _ = init(folder / "photos", folder / "shop")
    spec = f"timm:{NETWORK}?weights={weights}&size=224"
    embed.plan_embed(Workspace(workspace.folder), place_at(str(folder / "plan")), spec)
    return str(folder / "plan")


def timed(plan: str, shards: list[tuple[Part, list[int]]]) -> float:
    """Seconds for some shards at once, each in a process with its cores, from the moment that all are ready."""
    context = multiprocessing.get_context("spawn")
    ready, results = context.Barrier(len(shards)), context.Queue()
    processes = [context.Process(target=worker, args=(plan, *shard, ready, results)) for shard in shards]
    for process in processes:
        process.start()
    spent = [results.get(timeout=3600) for _ in processes]
    for process in processes:
        process.join()
    return max(end for _, end in spent) - min(begin for begin, _ in spent)


def worker(plan_at: str, part: Part, cores: list[int], ready: Any, results: Any) -> None:
    """One worker: it opens the encoder and computes a unit, waits for the others, and computes its shard."""
    os.sched_setaffinity(0, cores)
    torch.set_num_threads(1)
    plan = read_plan(place_at(plan_at))
    units, encoder = part.units(unit_count(plan)), embed.opened(plan)
    with packing() as (packed, _):
        embed.encode_units(ShardWork(plan, units[:1], packed), encoder)
    ready.wait()
    begin = time.monotonic()
    with packing() as (packed, _):
        embed.encode_units(ShardWork(plan, units, packed), encoder)
    results.put((begin, time.monotonic()))
    leave(results)


def here(plan: str, folder: Path, at: int) -> float:
    """Seconds of two workers of one core as whole processes: start-up, encoder and all."""
    place = copied(plan, folder / f"here{at}")
    context = multiprocessing.get_context("spawn")
    cores = sorted(os.sched_getaffinity(0))[:2]
    begin = time.monotonic()
    processes = [
        context.Process(target=whole, args=(place, Part(number + 1, 2), core))
        for number, core in enumerate(cores)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return time.monotonic() - begin


def whole(place: str, part: Part, core: int) -> None:
    """A worker as a person starts it, on one core."""
    os.sched_setaffinity(0, [core])
    work(place, part, workers=1)
    leave()


def leave(results: Any = None) -> None:
    """End this process at once, and those that read photos, which wait minutes for more."""
    get_reusable_executor().shutdown(wait=True)
    if results is not None:
        results.close()
        results.join_thread()
    os._exit(0)


def ray(plan: str, folder: Path, at: int) -> float:
    """Seconds of the same two shards on Ray, from the moment that it has started."""
    place = copied(plan, folder / f"ray{at}")
    with on_ray.cluster("local") as library:
        begin = time.monotonic()
        on_ray.run_shards(library, place, 2)
        return time.monotonic() - begin


def copied(plan: str, to: Path) -> str:
    """The plan in an empty folder."""
    to.mkdir()
    (to / "plan").write_bytes((Path(plan) / "plan").read_bytes())
    return str(to)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("photos", type=int, nargs="?", default=8192)
    parser.add_argument("repeats", type=int, nargs="?", default=3)
    given = parser.parse_args()
    main(given.photos, given.repeats)
