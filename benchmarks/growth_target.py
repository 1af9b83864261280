"""The parts of `docs/scale.md` on the target: arithmetic, which stage breaks first, and what has no shards."""

import math
from collections.abc import Mapping
from pathlib import Path

from growth_fit import TARGET, Journal, law, line_of_memory, number, points
from growth_stages import IMAGES, SIDE, VECTORS

from lookalike.search.approximate import estimated_bytes

ROOT = Path(__file__).parents[1]
MEMORY, HOURS, CORES, PRICE = 64e9, 24, 16, 0.05
MEASURED_ON = 2  # cores of the rates in performance.md
DIMENSIONS = (128, 512, 2_048)
NOTHING = "nothing"
SHARDS = "[shards](how-to/several-machines.md) of `lookalike plan {}`"
CARRIES_ON = {
    "init": SHARDS.format("init") + " and `plan duplicates`; splits and groups stay on one machine",
    "embed": SHARDS.format("embed"),
    "discover": SHARDS.format("discover"),
    "labels import": "[PostgreSQL](how-to/deploying.md) for the database; labels are matched on one machine",
    "evaluate": SHARDS.format("evaluate"),
    "report": NOTHING,
    "status": NOTHING,
    "index": "[Milvus](how-to/searching.md#several-machines-milvus) for the graph; "
    "the command still holds a copy of all vectors",
    "ranks": SHARDS.format("evaluate"),
    "top lists": SHARDS.format("discover"),
    "search index": "[Milvus](how-to/searching.md#several-machines-milvus)",
    "searches": "[Milvus](how-to/searching.md#several-machines-milvus)",
    "near duplicates": SHARDS.format("duplicates")
    + "; [plan and groups](#what-has-no-shards) stay on one machine",
    "splits": NOTHING,
    "label graph": NOTHING,
    "catalog written": "[PostgreSQL](how-to/deploying.md) for the rows; the process that writes them holds all",
    "catalog read": NOTHING,
}


def named(journal: Journal) -> list[str]:
    """The stages that the journal has, in the order of the page."""
    return [name for name in (*IMAGES, *VECTORS) if any(name == found for found, _ in journal.results)]


def rates() -> dict[str, tuple[float, float]]:
    """Photos of 640 pixels per second, by encoder, from docs/internals/performance.md: decoded, and embedded."""
    text = (ROOT / "docs/internals/performance.md").read_text(encoding="utf-8")
    table = text.partition("\n## Embedding\n")[2].partition("\n## ")[0].split("\n\n")
    rows = [line.split("|") for part in table for line in part.splitlines() if line.startswith("| `")]
    return {row[1].strip(): (float(row[2].strip() or "nan"), float(row[5])) for row in rows}


def arithmetic(journal: Journal, decoding: Mapping[str, tuple[float, float]], price: float) -> str:
    """What the target needs."""
    photos = []
    for name, (decoded, embedded) in decoding.items():
        for what, rate in ((f"decode for {name}", decoded), (f"embed with {name}", embedded)):
            if not math.isnan(rate):
                photos.append(
                    needed(what, TARGET / (rate / MEASURED_ON) / 3600, price, f"{rate / MEASURED_ON:.1f}")
                )
    stages = []
    for name in named(journal):
        fit = law(journal, name, "processor")
        if fit and name != "embed":
            stages.append(needed(f"`{name}`", fit.at(TARGET) / 3600, price, f"{fit.exponent:.2f}"))
    bytes_of = [
        f"| {dimension:,} | {in_memory(4 * TARGET * dimension)} | {in_memory(estimated_bytes(TARGET, dimension))} |"
        for dimension in DIMENSIONS
    ]
    return f"""## Arithmetic for {TARGET:,} images

A machine is assumed to have {CORES} cores and {MEMORY / 1e9:.0f} GB. The deadline is {HOURS} hours.

- core hours = images / (photos per second and core) / 3,600
- machines = core hours / ({CORES} cores x {HOURS} hours), rounded up
- cost = core hours x price of a core hour

The price is {price:g} for an hour of one core, in any currency. It is an assumption, not an offer.
To set yours, run the command again; it measures nothing that the journal has:

    python benchmarks/growth.py --price 0.08

### Photos

Rates are those of JPEGs of 640 pixels in [speed and memory](internals/performance.md#embedding).
They were measured on {MEASURED_ON} cores without a GPU, and are divided by {MEASURED_ON} here.
Decoding is part of embedding. `init` decodes the photos too, and it hashes and measures them.

| work | photos per second and core | core hours | machines for {HOURS} hours | cost |
|---|---|---|---|---|
{chr(10).join(photos)}

### Other stages

Core hours are those of the [fits](#fits), so they are extrapolations. Photos here have {SIDE} pixels.
More machines help only a stage that [has shards](#what-breaks-first), or that Milvus does.

| stage | exponent of processor seconds | core hours | machines for {HOURS} hours | cost |
|---|---|---|---|---|
{chr(10).join(stages)}

### Vectors and index

Vectors are float32. Memory of the index is `estimated_bytes` in `src/lookalike/search/approximate.py`:
1.75 x images x (2 x dimension + 208) bytes, an upper estimate. "Machines" is how many hold these bytes in their memory.
Vectors can stay on disk for ranks and lists; the index cannot.

| dimension | vectors, GB | machines | index, GB | machines |
|---|---|---|---|---|
{chr(10).join(bytes_of)}"""


def in_memory(size: int) -> str:
    """Cells of GB, and of the machines that hold them."""
    return f"{size / 1e9:,.0f} | {math.ceil(size / MEMORY)}"


def needed(what: str, hours: float, price: float, rate: str) -> str:
    """A row of core hours, machines and cost."""
    return f"| {what} | {rate} | {number(hours)} | {math.ceil(hours / (CORES * HOURS))} | {number(hours * price)} |"


def limits(journal: Journal, stage: str) -> tuple[float, float]:
    """The sizes at which a stage reaches the memory of a machine, and the deadline on the measured machine."""
    base, slope = line_of_memory(journal, stage)
    fit = law(journal, stage)
    memory = (MEMORY - base) / slope if slope > 0 else math.inf
    return memory, fit.reaches(3600 * HOURS) if fit else math.inf


def breaks(journal: Journal) -> str:
    """Stages by the size at which they break."""
    names = sorted(named(journal), key=lambda name: min(limits(journal, name)))
    rows = [
        "| `{}` | {} | {} | {} |".format(name, *map(size_or_none, limits(journal, name)), CARRIES_ON[name])
        for name in names
    ]
    alone = next((name for name in names if CARRIES_ON[name] == NOTHING), names[0])
    return f"""## What breaks first

The limits are {MEMORY / 1e9:.0f} GB of memory, and {HOURS} hours on the measured machine.
Sizes are extrapolations of the [fits](#fits). "–" means that there is no fit or no growth.

- **First of all:** {breaking(journal, names[0])}. To carry it on: {CARRIES_ON[names[0]]}.
- **First without anything to carry it on:** {breaking(journal, alone)}.

| stage | {MEMORY / 1e9:.0f} GB at | {HOURS} hours at | what carries it on |
|---|---|---|---|
{chr(10).join(rows)}"""


def breaking(journal: Journal, stage: str) -> str:
    """At which size a stage breaks, and by what."""
    memory, hours = limits(journal, stage)
    return f"`{stage}`, by {'memory' if memory < hours else 'time'}, at about {size_or_none(min(memory, hours))} images"


def size_or_none(size: float) -> str:
    """A size with three digits; those far above the target are not shown."""
    return number(size) if size <= 100 * TARGET or math.isinf(size) else f"above {100 * TARGET:,}"


def without_shards(journal: Journal) -> str:
    """What one machine must do whole, with its measured cost."""
    what = {
        "splits": "are drawn over all items, by `init` and its `join`",
        "label graph": "is built whole for soft positives and training",
        "catalog read": "is part of every command: the whole catalog is in its memory",
    }
    rows = []
    for name, why in what.items():
        found = points(journal, name, "seconds", -1.0)
        if found:
            size, seconds = found[-1]
            held = journal.results[name, size]["megabytes"]
            base, slope = line_of_memory(journal, name)
            rows.append(
                f"- **`{name}`** {why}. Measured: {number(seconds)} s and {held:,.0f} MB for {size:,}.\n"
                f"  Memory grows by {number(slope)} bytes per image: "
                f"{number((base + slope * TARGET) / 1e9)} GB for {TARGET:,} images."
            )
    return f"""## What has no shards

{chr(10).join(rows)}
- **The plan and the groups of `near duplicates`** need all photos, and so do searches after a change of the catalog.
  `plan duplicates` and `join` took 147 processor seconds and 2,695 MiB for 1,000,000 photos
  ([steps](internals/performance.md#near-duplicates-in-shards)).

More machines do not make these stages faster. A catalog above their limits must be divided into several workspaces,
for example by category, and each is searched on its own."""
