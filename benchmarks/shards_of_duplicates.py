"""Near duplicates in shards against one machine: time, memory and bytes of plan, work and join of a planned `init`.

The photos are the signatures of `benchmarks/duplicates.py`, as workers of `init` would have found them; no photo is
read. Each step is a process of its own, and the catalogs of both ways are compared.
`python benchmarks/shards_of_duplicates.py [photos]`
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

import numpy as np
from duplicates import world

from lookalike.store.shards.packed import packing
from lookalike.store.shards.places import Folder, place_at
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards import init
from lookalike.workflows.shards.duplicates import plan_duplicates
from lookalike.workflows.shards.plans import Part, read_plan, shard_header
from lookalike.workflows.shards.run import join, join_with_duplicates, work

PHOTOS = 316_000
COMMAND = [sys.executable, str(Path(__file__).resolve())]
STEPS = {
    "join, duplicates searched here": lambda: join(Path("one"), "photos-plan"),
    "plan duplicates": lambda: plan_duplicates(place_at("photos-plan"), place_at("near")),
    "work, all units": lambda: work("near", Part(1, 1)),
    "join, duplicates of shards": lambda: join_with_duplicates(Path("two"), "photos-plan", "near"),
}


def main(photos: int) -> None:
    """Measure all steps and print the table."""
    with tempfile.TemporaryDirectory() as name:
        subprocess.run([*COMMAND, "--read", str(photos)], check=True, cwd=name)
        print(f"{photos:,} photos\n{'':32} {'seconds':>8} {'processor':>9} {'MB':>6}")
        for step in STEPS:
            done = subprocess.run(
                [*COMMAND, "--step", step], check=True, capture_output=True, text=True, cwd=name
            )
            found = json.loads(done.stdout)
            print(
                f"{step:32} {found['seconds']:8.1f} {found['processor']:9.1f} {found['megabytes']:6.0f}",
                flush=True,
            )
        one, two = (Workspace(Path(name) / folder).catalog for folder in ("one", "two"))
        same = np.array_equal(one.duplicate, two.duplicate) and np.array_equal(one.split, two.split)
        near = Folder(Path(name) / "near")
        sizes = {file: f"{(near.size(file) or 0) / 1e6:,.0f} MB" for file in sorted(near.names())}
        print(
            f"{len(read_plan(near).chunks)} units, {sizes}; the catalogs are {'equal' if same else 'NOT equal'}"
        )


def read(folder: Path, photos: int) -> None:
    """Write a table, the plan of `init`, and the shard of a worker that has read its photos."""
    signatures, _ = world(photos)
    (folder / "photos").mkdir()
    rows = [f"{row:08d}.jpg,{row // 2}" for row in range(photos)]
    (folder / "table.csv").write_text("\n".join(["image,item", *rows]) + "\n")
    place = Folder(folder / "photos-plan")
    plan = init.plan_init(folder / "table.csv", folder / "one", place, images=folder / "photos")
    with packing() as (packed, path):
        for first in range(0, photos, init.UNIT):
            found = [
                [f"{row:064x}", 48, 48, "", signatures[row].tobytes().hex()]
                for row in range(first, min(first + init.UNIT, photos))
            ]
            packed.add(zlib.compress(json.dumps(found).encode()))
        packed.close(shard_header(plan, Part(1, 1), ""))
        packed.file.flush()
        place.put(Part(1, 1).name, path)


def measured(step: str) -> dict[str, float]:
    """One step, in this process."""
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    STEPS[step]()
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": seconds, "processor": processor, "megabytes": after.ru_maxrss / 1024}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--step"]:
        print(json.dumps(measured(sys.argv[2])))
    elif sys.argv[1:2] == ["--read"]:
        read(Path(), int(sys.argv[2]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else PHOTOS)
