"""Growth of every stage with the catalog: seconds, processor seconds, memory and disk, and what 10^8 images need.

Each stage is measured at each size in a fresh process, after the same work on few images. Results go to a journal, one
JSON object a line; a stopped run goes on from there. The page is written from the journal alone. Where the journal has
all sizes, nothing is measured. A size of images that was not finished is measured again from its first stage.
`python benchmarks/growth.py [--most-images N] [--most-vectors N] [--output FILE] [--journal FILE]`
"""

import argparse
import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import growth_stages as stages
import growth_target as target
from growth_fit import Journal, fitted, read
from growth_page import page

from lookalike.core.cores import cores

ROOT = Path(__file__).parents[1]
FIRST_IMAGES, FIRST_VECTORS, STEP = 1_000, 10_000, 10**0.5
NEEDS = {"searches": "search index", "catalog read": "catalog written"}  # left out where the other is
Measure = Callable[[str, Path, int], dict[str, Any]]


def main(given: argparse.Namespace, measure: "Measure | None" = None) -> None:
    """Measure what the journal lacks, then write the page."""
    images, vectors = sizes(FIRST_IMAGES, given.most_images), sizes(FIRST_VECTORS, given.most_vectors)
    left = missing(read(given.journal), images, vectors)
    if left:
        add(given.journal, {"machine": machine()})
        given.folder.mkdir(parents=True, exist_ok=True)
        measure = measure or in_its_own_process
        prepare(given.folder, images if "image" in left else [], vectors if "vector" in left else [], measure)
        measure_images(given, images, measure)
        measure_vectors(given, vectors, measure)
        shutil.rmtree(given.folder)
    given.output.write_text(page(read(given.journal), target.rates(), given.price), encoding="utf-8")


def sizes(first: int, most: int) -> list[int]:
    """Sizes in steps of about 3.2.

    >>> sizes(1_000, 100_000)
    [1000, 3160, 10000, 31600, 100000]
    """
    every = (int(float(f"{first * STEP**step:.3g}")) for step in range(20))
    return [size for size in every if size <= most]


def missing(journal: Journal, images: list[int], vectors: list[int]) -> set[str]:
    """Which kinds of stages the journal does not have at all sizes; a size above the limit is not missing."""
    found = {*journal.results, *journal.skipped}
    wanted = {"image": (stages.IMAGES, images), "vector": (stages.VECTORS, vectors)}
    return {
        kind
        for kind, (names, of) in wanted.items()
        if any((name, size) not in found for name in names for size in of)
    }


def prepare(folder: Path, images: list[int], vectors: list[int], measure: Measure) -> None:
    """Photos of the largest catalog, a small catalog that went through all stages, and all vectors."""
    if images:
        stages.draw(folder, max(images))
        stages.write_table(folder, stages.SMALL)
        for name in stages.IMAGES:
            measure(name, folder, 0)
    if vectors:
        stages.write_vectors(folder, max(vectors))


def measure_images(given: argparse.Namespace, images: Iterable[int], measure: Measure) -> None:
    """All commands at all sizes, each size from `init` on."""
    for size in images:
        done = read(given.journal).results
        if all((name, size) in done for name in stages.IMAGES):
            continue
        shutil.rmtree(given.folder / f"images-{size}", ignore_errors=True)
        stages.write_table(given.folder, size)
        for name in stages.IMAGES:
            add(given.journal, measure(name, given.folder, size))


def measure_vectors(given: argparse.Namespace, vectors: Iterable[int], measure: Measure) -> None:
    """All stages on vectors at all sizes; a size that would take longer than the limit is left out and noted."""
    for name in stages.VECTORS:
        for size in vectors:
            journal = read(given.journal)
            if (name, size) in journal.results or (name, size) in journal.skipped:
                continue
            seconds = max(expected(journal, name, size), journal.skipped.get((NEEDS.get(name, ""), size), 0))
            if seconds > given.most_seconds:
                add(given.journal, {"stage": name, "size": size, "skipped": round(seconds)})
            else:
                add(given.journal, measure(name, given.folder, size))


def expected(journal: Journal, stage: str, size: int) -> float:
    """Seconds at a size from the two sizes before, at least in proportion to the size; 0 where there are none."""
    before = sorted(
        (one, found["seconds"])
        for (name, one), found in journal.results.items()
        if name == stage and one < size
    )
    if len(before) < 2:
        return 0.0
    fit = fitted([one for one, _ in before[-2:]], [seconds for _, seconds in before[-2:]])
    return before[-1][1] * (size / before[-1][0]) ** max(fit.exponent, 1.0)


def add(journal: Path, line: dict[str, Any]) -> None:
    """Append a line to the journal and print it."""
    text = json.dumps(line)
    unfinished = journal.exists() and not journal.read_bytes().endswith(b"\n")
    with journal.open("a", encoding="utf-8") as file:
        file.write("\n" * unfinished + text + "\n")
    print(text, flush=True)


def machine() -> dict[str, Any]:
    """When and where is measured."""
    info = Path("/proc/cpuinfo").read_text().splitlines()
    name = next(
        (line.partition(":")[2].strip() for line in info if line.startswith("model name")), platform.machine()
    )
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "date": date.today().isoformat(),
        "processor": name,
        "cores": cores(),
        "gigabytes": round(memory / 1e9),
        "python": platform.python_version(),
    }


def in_its_own_process(stage: str, folder: Path, size: int) -> dict[str, Any]:
    """What a fresh process measures."""
    answer = folder / "measured.json"
    command = [sys.executable, __file__, "--one", stage, str(folder), str(size), str(answer)]
    done = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{stage} of {size:,} failed:\n{done.stderr[-2000:]}")
    return json.loads(answer.read_text())


def one(stage: str, folder: Path, size: int) -> dict[str, Any]:
    """One stage at one size, in this process. Size 0 runs the small catalog without measuring.

    Memory is the most that this process and its workers held, above what they held after the work on few images.
    """
    if not size:
        stages.made(stage, folder, stages.SMALL).work()
        return {}
    warm(stage, folder)
    base = sum(held(process, "VmRSS") for process in family())
    work = stages.made(stage, folder, size)
    load = os.getloadavg()[0]
    before = on_disk(work.written) if stage in stages.IMAGES and stage != "init" else 0
    forget_peaks()
    begun, spent = time.perf_counter(), processor_seconds()
    work.work()
    seconds, spent = time.perf_counter() - begun, processor_seconds() - spent
    peak = sum(held(process, "VmHWM") for process in family())
    return {
        "stage": stage,
        "size": size,
        "seconds": round(seconds, 4),
        "processor": round(spent, 2),
        "megabytes": round(max(peak - base, 0.0), 1),
        "disk": max(on_disk(work.written) - before, 0),
        "load": round(load, 1),
    }


def warm(stage: str, folder: Path) -> None:
    """The work on few images, on a copy: code is loaded and compiled, workers are there."""
    small, copy = folder / f"images-{stages.SMALL}", folder / f"images-{stages.SMALL}-copy"
    shutil.rmtree(copy, ignore_errors=True)
    if stage in stages.IMAGES:
        shutil.copytree(small, copy)
    stages.made(stage, folder, stages.SMALL, "-copy").work()


def family() -> list[Path]:
    """This process and those it started, and theirs, as folders of /proc."""
    parent = {}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent[int(process.name)] = int((process / "stat").read_text().rpartition(")")[2].split()[1])
    found = {os.getpid()}
    while more := {child for child, of in parent.items() if of in found} - found:
        found |= more
    return [Path("/proc") / str(process) for process in sorted(found)]


def held(process: Path, what: str) -> float:
    """Memory of a process in MB: VmRSS now, VmHWM at most."""
    with contextlib.suppress(OSError):
        for line in (process / "status").read_text().splitlines():
            if line.startswith(what):
                return float(line.split()[1]) * 1024 / 1e6
    return 0.0


def forget_peaks() -> None:
    """Begin the measurement of the most memory anew."""
    for process in family():
        with contextlib.suppress(OSError):
            (process / "clear_refs").write_text("5")


def processor_seconds() -> float:
    """Processor seconds of this process, its workers, and all that ended."""
    ticks = 0
    for process in family():
        with contextlib.suppress(OSError):
            ticks += sum(map(int, (process / "stat").read_text().rpartition(")")[2].split()[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def on_disk(place: Path) -> int:
    """Bytes of a file, or of all files in a folder."""
    files = [place] if place.is_file() else place.rglob("*") if place.exists() else []
    return sum(file.stat().st_size for file in files if file.is_file())


def arguments(words: list[str]) -> argparse.Namespace:
    """The options of the command."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--most-images", type=int, default=100_000)
    parser.add_argument("--most-vectors", type=int, default=1_000_000)
    parser.add_argument("--most-seconds", type=float, default=600, help="limit of one stage on vectors")
    parser.add_argument("--price", type=float, default=target.PRICE, help="price of an hour of one core")
    parser.add_argument("--output", type=Path, default=ROOT / "docs/scale.md")
    parser.add_argument("--journal", type=Path, default=ROOT / "benchmarks/growth.jsonl")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "lookalike-growth",
                        help="photos and vectors, deleted at the end")  # fmt: skip
    return parser.parse_args(words)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        Path(sys.argv[5]).write_text(json.dumps(one(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))))
    else:
        main(arguments(sys.argv[1:]))
