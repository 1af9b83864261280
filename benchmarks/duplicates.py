"""Time, memory and finds of the search for duplicates as a catalog grows, in one run.

Signatures of 2,000 studio photos, drawn at 48 pixels, are mixed two by two into as many as wanted: a world more
crowded than real photos. Among them are planted copies of 2 % of the photos (brighter by 4 %, with noise), and
2 % of nearly blank photos, all alike. A mixture of two photos has little contrast, so some copies are not duplicates
by the limit. Found are counted among those that are. Each size is measured in a process of its own.
`python benchmarks/duplicates.py [sizes]`
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np
from PIL import Image

from lookalike.catalog.duplicates.groups import distances, find_duplicates
from lookalike.catalog.duplicates.signature import LIGHT, as_rows, signature
from lookalike.core.checks import strings
from lookalike.studio import studio

SIZES = (12_500, 25_000, 50_000, 100_000)
LIMIT = 4.0  # times the work for twice the photos would be all pairs; what is promised lies well below
DRAWN, SIDE = 2_000, 48


def main(sizes: list[int]) -> None:
    """Measure every size and print the table."""
    print(
        f"{'photos':>9} {'seconds':>8} {'growth':>7} {'limit':>6} {'MB':>6} {'duplicates':>11} {'found':>8} "
        f"{'other pairs':>12}"
    )
    before = None
    for size in sizes:
        command = [sys.executable, __file__, "--one", str(size)]
        found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        growth = f"{found['seconds'] / before:7.2f}" if before else " " * 7
        before = found["seconds"]
        print(
            f"{size:9,} {found['seconds']:8.1f} {growth} {LIMIT:6.1f} {found['megabytes']:6.0f} "
            f"{100 * found['within']:9.1f} % {100 * found['recall']:6.1f} % {found['others']:12,}",
            flush=True,
        )


def one(size: int) -> dict[str, float]:
    """One size, in this process. `others` are photos in groups that hold no planted copy of them and are not blank."""
    signatures, copy_of = world(size)
    digest = strings(range(size))
    before = resource.getrusage(resource.RUSAGE_SELF)
    started = time.perf_counter()
    found = find_duplicates(digest, signatures)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    planted = np.flatnonzero(copy_of >= 0)
    within = distances(signatures, planted, copy_of[planted]) <= 1
    hit = (found.group[planted] >= 0) & (found.group[planted] == found.group[copy_of[planted]])
    told = np.isin(
        np.arange(size), np.concatenate([planted, copy_of[planted], np.flatnonzero(copy_of == -2)])
    )
    return {
        "seconds": seconds,
        "processor": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "megabytes": after.ru_maxrss / 1024,
        "within": float(within.mean()),
        "recall": float(hit[within].mean()),
        "others": int(((found.group >= 0) & ~told).sum()),
        "blank_groups": len(set(found.group[copy_of == -2].tolist())),
    }


def world(size: int) -> tuple[np.ndarray, np.ndarray]:
    """Signatures, and what each is a copy of: a row, -1 for none, -2 for a nearly blank photo."""
    random = np.random.default_rng(0)
    drawn = studio(DRAWN, seed=0)
    bases = as_rows(
        signature(Image.fromarray(drawn.draw(row, SIDE)), SIDE, SIDE) for row in range(DRAWN)
    ).astype(np.float32)
    made = np.empty((size, bases.shape[1]), np.uint8)
    for start in range(0, size, 20_000):
        count = min(20_000, size - start)
        one, other = random.integers(0, DRAWN, (2, count))
        share = random.uniform(0.5, 0.8, (count, 1)).astype(np.float32)
        made[start : start + count] = share * bases[one] + (1 - share) * bases[other]
    copy_of = np.full(size, -1, np.int64)
    chosen = random.permutation(size)
    planted, source, blank = np.split(chosen[: size // 50 * 3], 3)
    copies = made[source].astype(np.float32)
    copies[:, :LIGHT] *= 1.04
    copies += random.normal(0, 1, copies.shape)
    made[planted] = copies.round().clip(0, 255)
    copy_of[planted] = source
    white = np.where(np.arange(made.shape[1]) < LIGHT, 248, 128)
    made[blank] = white + (random.random((len(blank), made.shape[1])) < 0.05)
    copy_of[blank] = -2
    return made, copy_of


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(one(int(sys.argv[2]))))
    else:
        main([int(size) for size in sys.argv[1:]] or list(SIZES))
