"""How long `lookalike status` takes with 10,000 and 100,000 images and two encoders, against `lookalike --help`.

Vectors have 128 numbers and are up to date. Commands take turns; medians. A first round is not counted: it writes the
bytecode that every installation has.
`python benchmarks/status.py [images ...]`
"""

import hashlib
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Origin
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace

IMAGES = {10_000: 0.5, 100_000: 1.0}  # and the most seconds
PHOTOS, COPIES, DIMENSION = 7, 50, 128


def main(sizes: list[int], repeats: int = 9) -> None:
    """Make the workspaces, measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {"lookalike --help": ["--help"]}
        for images in sizes:
            make(Path(folder) / str(images), images)
            commands[f"status, {images:,} images"] = ["status", "--workspace", f"{folder}/{images}"]
        seconds: dict[str, list[float]] = {name: [] for name in commands}
        computed: dict[str, list[float]] = {name: [] for name in commands}
        installed = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        for _ in range(repeats + 1):
            for name, arguments in commands.items():
                started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                program = [sys.executable, "-m", "lookalike", *arguments]
                subprocess.run(program, check=True, capture_output=True, env=installed)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                seconds[name].append(time.perf_counter() - started)
                computed[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    least = statistics.median(computed["lookalike --help"][1:])
    print(
        f"medians of {repeats}; limits: "
        + ", ".join(f"{most} s at {n:,} images" for n, most in IMAGES.items())
    )
    for name, times in seconds.items():
        processor = statistics.median(computed[name][1:])
        print(
            f"{name:24} {statistics.median(times[1:]):6.3f} s, {processor:6.3f} s of processor time, "
            f"{processor / least:5.2f} x lookalike --help"
        )


def make(folder: Path, images: int) -> None:
    """A workspace without photos: 7 of each item, every 50th pair of photos a duplicate, two encoders."""
    random = np.random.default_rng(0)
    item = strings(f"item{row // PHOTOS:06d}" for row in range(images))
    name = strings(f"c{row % 20}/item{row // PHOTOS:06d}/{row:07d}.jpg" for row in range(images))
    group = np.arange(images) // 2
    catalog = Catalog(
        name, name, item, strings(f"c{row % 20}" for row in range(images)),
        np.full(images, "both", object), np.full(images, "train", object), np.arange(images),
        strings(hashlib.sha256(one.encode()).hexdigest() for one in name),
        np.full(images, 640), np.full(images, 480), duplicate=np.where(group % COPIES == 0, group // COPIES, -1),
    )  # fmt: skip
    workspace = Workspace.create(folder, catalog, WorkspaceSettings(source="photos", photos=""))
    for encoder in ("color", "hog"):
        shards = workspace.shards(encoder, Origin(f"descriptor:{encoder}", "", "", ""))
        shards.put(0, random.standard_normal((images, DIMENSION), dtype=np.float32))
        shards.finish()


if __name__ == "__main__":
    main([int(size) for size in sys.argv[1:]] or list(IMAGES))
