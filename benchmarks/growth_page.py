"""The page `docs/scale.md` from a journal of `growth.py`: tables, power laws with intervals, and arithmetic."""

from collections.abc import Iterable, Mapping

import numpy as np
from growth_fit import (
    CONFIDENCE,
    LEAST_SECONDS,
    LEAST_SIZES,
    TARGET,
    Fit,
    Journal,
    law,
    line_of_memory,
    number,
    points,
)
from growth_stages import (
    DIMENSION,
    EXPANSION,
    IMAGES,
    LABELS_PER_IMAGE,
    QUERIES,
    SEARCHES,
    SIDE,
    TOP,
    VECTORS,
)
from growth_target import arithmetic, breaks, named, without_shards


def page(journal: Journal, decoding: Mapping[str, tuple[float, float]], price: float) -> str:
    """The whole page."""
    parts = (introduction(journal), measured(journal), fits(journal), arithmetic(journal, decoding, price),
             breaks(journal), without_shards(journal))  # fmt: skip
    return "\n\n".join(parts) + "\n"


def introduction(journal: Journal) -> str:
    """What the page is for, and when and where it was measured."""
    days = sorted({one["date"] for one in journal.machines})
    kinds = {
        f"{one['cores']} cores of {one['processor']}, {one['gigabytes']} GB, Python {one['python']}"
        for one in journal.machines
    }
    loads = [one["load"] for one in journal.results.values()]
    most = {kind: max((size for name, size in journal.results if name in names), default=0)
            for kind, names in (("images", IMAGES), ("vectors", VECTORS))}  # fmt: skip
    return f"""# Growth

This page reports what every stage costs as a catalog grows. After reading it you know what {TARGET:,} images need,
which stage breaks first, and what carries it on.

    python benchmarks/growth.py

The command measures each stage in a fresh process, and writes this page from its journal `benchmarks/growth.jsonl`.
To measure again, delete the journal. Do not edit this page.

- **When and where:** {" and ".join(days)}, on {"; ".join(sorted(kinds))}.
- **Load:** the machine also did other work. When a stage started, the load was {min(loads):.1f} to {max(loads):.1f},
  median {float(np.median(loads)):.1f}. Compare processor seconds, which vary less.
- **Sizes:** up to {most["images"]:,} images, and {most["vectors"]:,} vectors of dimension {DIMENSION}.
  Larger sizes{" (10,000,000 vectors)" if most["vectors"] < 10**7 else ""} are not measured. Each figure is one run.
- **Predictions** for {TARGET:,} images are extrapolations far beyond the measured sizes.
  They hold only if the growth stays the same. Intervals do not cover a change of the growth."""


def measured(journal: Journal) -> str:
    """The tables of what was measured."""
    left = [
        f"{name} of {size:,} (about {seconds:,.0f} s expected)"
        for (name, size), seconds in sorted(journal.skipped.items()) if (name, size) not in journal.results
    ]  # fmt: skip
    note = f"\n\nNot measured, because a stage has a time limit: {', '.join(left)}." if left else ""
    return f"""## Commands on images

Studio photos of {SIDE} pixels, two for each item. Items have one random order, and a smaller catalog is the first part
of a larger one. The encoder is `descriptor:color` (486 numbers). The pool has {QUERIES:,} queries with {TOP} items
each, and the studio's ground truth gives {QUERIES * TOP:,} labels. Queries and labels stay as many; the gallery grows.
Photos of 640 pixels take longer: see [Photos](#photos).

"MB above" is the most memory of the process and its workers, above what they held after the same work on few images.
Start-up is not included. "Disk" is what the stage adds to the workspace.

{table(journal, IMAGES)}

## Functions on vectors

Vectors are clustered, of dimension {DIMENSION}, and in a file. "MB above" includes the inputs. It also includes pages
of this file, at most {4 * DIMENSION} bytes per vector, which the system takes back when memory is short. The stages:

- `ranks`: judged ranks of {QUERIES:,} queries with 25 labels each. `top lists`: {QUERIES:,} queries, {TOP} items each.
  Both read the vectors from the file at all sizes.
- `search index`: a graph by USearch, built and written. `searches`: {SEARCHES:,} lists of 10 items by this graph,
  expansion {EXPANSION}, batches of 64.
- `near duplicates`: the search among signatures of photos ([earlier figures](internals/performance.md#duplicates)).
  `splits`: the draw of train, validation and test.
- `label graph`: the graph of {LABELS_PER_IMAGE} labels for each image.
- `catalog written` and `catalog read`: a catalog without photos and vectors, as `init` writes it and commands read it.

{table(journal, VECTORS)}{note}"""


def table(journal: Journal, names: Iterable[str]) -> str:
    """Rows of what was measured."""
    rows = [
        "| stage | size | seconds | processor seconds | seconds per 1,000 | MB above | disk, bytes each |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        shown = f"`{name}`"
        for size, seconds in points(journal, name, "seconds", -1.0):
            one = journal.results[name, size]
            disk = f"{one['disk'] / size:,.0f}" if one["disk"] else ""
            times = " | ".join(map(number, (seconds, one["processor"], 1000 * seconds / size)))
            rows.append(f"| {shown} | {size:,} | {times} | {one['megabytes']:,.0f} | {disk} |")
            shown = ""
    return "\n".join(rows)


def fits(journal: Journal) -> str:
    """The power laws."""
    heads = "stage", "sizes", "b of seconds", "b of processor seconds"
    rows = [
        f"| {' | '.join(heads)} | seconds at {TARGET:,} | core hours at {TARGET:,} | GB at {TARGET:,} |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in named(journal):
        clock, spent = law(journal, name), law(journal, name, "processor")
        count = len(points(journal, name, "seconds", LEAST_SECONDS))
        base, slope = line_of_memory(journal, name)
        cells = (exponent(clock), exponent(spent), prediction(clock, 1), prediction(spent, 3600))
        rows.append(f"| `{name}` | {count} | {' | '.join(cells)} | {number((base + slope * TARGET) / 1e9)} |")
    return f"""## Fits

A power law, seconds = a n^b, is fitted by least squares on logarithms. It uses the sizes at which a stage takes more
than {LEAST_SECONDS} s; "sizes" is their number. In parentheses are {CONFIDENCE:.0%} intervals: t distribution,
with sizes - 2 degrees of freedom. The interval of a prediction is for one more measurement.
With fewer than {LEAST_SIZES} sizes, intervals are undefined. With fewer than two, there is no fit.
Where b is below 1, work that does not grow still counts at the measured sizes. Then the prediction is too low.
It is also too low where it is below that of `catalog read`, because all commands read the catalog.

Processor seconds are fitted in the same way, where they are above {LEAST_SECONDS}, and give core hours.
GB are on the line through the two largest sizes.
The lines of `ranks` and `top lists` stand for `evaluate`, `discover` and `report` too. These commands hold up to 1 GiB
of vectors in memory, and read larger files from disk.

{chr(10).join(rows)}"""


def exponent(fit: Fit | None) -> str:
    """The exponent with its interval."""
    if fit is None:
        return "–"
    return f"{fit.exponent:.2f} " + (
        "(undefined)" if fit.sizes < LEAST_SIZES else "({:.2f} to {:.2f})".format(*fit.interval())
    )


def prediction(fit: Fit | None, unit: int) -> str:
    """The prediction at the target with its interval, in units of this many seconds."""
    if fit is None:
        return "–"
    between = [number(bound / unit) for bound in fit.interval_at(TARGET)] if fit.sizes >= LEAST_SIZES else []
    return f"{number(fit.at(TARGET) / unit)} ({' to '.join(between) or 'undefined'})"
