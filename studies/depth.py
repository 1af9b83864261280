"""How deep DCS should look: its correlation with the true HR@5, by rank of half credit, items and share of positives.

    python studies/depth.py --journal depth.jsonl [--data DATA] [--out FOLDER]

Catalogs of 1,000 to 30,000 items seen by simulated encoders, a rendered catalog seen by descriptors, and with the data
pack (DATA, as in `examples/human_judgments.py`) 92 objects whose every pair people judged. Even seeds choose the rank
of half credit, odd seeds report it. A stopped study goes on; two seeds of every catalog come first, so that a smaller
study is complete early.
"""

import sys
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from itertools import product
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from complete_judgments import DESCRIPTORS
from human_judgments import NETWORKS, complete_labels
from study import write

import lookalike
from lookalike.audit.trust import KINDS
from lookalike.research.bias.depth import (
    BY_DEPTH,
    HALVES,
    MEASURES,
    PAPER,
    SHARES,
    SOURCES,
    TOPS,
    depth_cells,
    graded,
    simulated_catalog,
)
from lookalike.research.bias.pools import TRUTH, GroundTruth
from lookalike.research.bias.run import studio_of
from lookalike.store.journal import Entry, Journal
from lookalike.studio import studio

ITEMS = (1_000, 3_000, 10_000, 30_000)
SIMULATED, RENDERED, PEOPLE = "simulated encoders", "descriptors", "objects92"
Graded = tuple[GroundTruth, np.ndarray]


def main(arguments: list[str]) -> None:
    """Run what is left and print the tables."""
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("--journal", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="the data pack")
    parser.add_argument("--out", type=Path, help="a folder for the figures of every cell (CSV)")
    parser.add_argument("--items", type=int, nargs="+", default=ITEMS)
    parser.add_argument(
        "--rendered", type=int, default=1_000, help="items of the catalogs seen by descriptors"
    )
    parser.add_argument("--seeds", type=int, default=20, help="catalogs of each size")
    parser.add_argument("--rendered-seeds", type=int, default=6, help="rendered catalogs")
    parser.add_argument("--pools", type=int, default=4, help="pools in each cell of a catalog")
    parser.add_argument("--tell", action="store_true", help="print what the journal has, and run nothing")
    asked = parser.parse_args(arguments)
    journal = Journal(asked.journal)
    if not asked.tell:
        for key, kind, items, seed, made in planned(asked):
            if journal.get(key) is None:
                started = time.monotonic()
                truth, similar = made()
                cells = [asdict(one) for one in depth_cells(truth, asked.pools, seed, similar)]
                seconds = round(time.monotonic() - started, 1)
                of = {"kind": kind, "items": items, "seed": seed, "pools": asked.pools, "seconds": seconds}
                journal.add({"key": key, **of, "encoders": len(truth.encoders), "cells": cells})
                print(f"{key}: {seconds} s", flush=True)
    tell(list(journal), asked)


def planned(asked: Namespace) -> Iterator[tuple[str, str, int, int, Callable[[], Graded]]]:
    """Catalogs in the order in which they run, two seeds of each at a time; each with how to make it."""
    for seed in range(0, asked.seeds, 2):
        for items, one in product(asked.items, (seed, seed + 1)):
            key = f"{SIMULATED}, {items} items, seed {one}, {asked.pools} pools"
            yield key, SIMULATED, items, one, lambda items=items, one=one: simulated_catalog(items, one)
        for one in (seed, seed + 1):
            if asked.data is not None:
                key = f"{PEOPLE}, seed {one}, {asked.pools} pools"
                yield key, PEOPLE, 92, one, lambda: people(asked.data)
            if one < asked.rendered_seeds:
                key = f"{RENDERED}, {asked.rendered} items, seed {one}, {asked.pools} pools"
                yield key, RENDERED, asked.rendered, one, lambda one=one: rendered(asked.rendered, one)


def rendered(items: int, seed: int) -> Graded:
    """A studio of two photos for each item, seen by descriptors."""
    whole = studio_of(2 * items, seed, lambda _: nullcontext(None), depth=max(TOPS))
    seen = tuple(one for one in whole.ranks if "as-if" not in one.encoder)
    drawn = studio(2 * items, photos_per_item=2, seed=seed)
    return replace(whole, ranks=seen), graded(drawn, drawn.catalog(), seen[0])


def people(data: Path) -> Graded:
    """92 objects seen by four networks and nine descriptors; alike is what people judged little dissimilar."""
    folder = data / "objects92"
    catalog = lookalike.read_catalog(folder / "catalog.csv", images=folder / "images")
    vectors = data / "embeddings" / "objects92"
    encoders = [
        *(lookalike.embed(catalog, f"precomputed:{vectors / name}.npy", name=name) for name in NETWORKS),
        *(lookalike.embed(catalog, f"descriptor:{name}", photos=folder / "images") for name in DESCRIPTORS),
    ]
    labels = complete_labels(folder / "judgments.csv")
    ranks = tuple(lookalike.judged_ranks(catalog, one, labels) for one in encoders)
    lines = [line.split(",") for line in (folder / "judgments.csv").read_text().splitlines()[1:]]
    apart = {pair: float(value) for a, b, value in lines for pair in ((a, b), (b, a))}
    item = dict(zip(catalog.item, catalog.image, strict=True))
    rows = zip(ranks[0].query, ranks[0].candidate, strict=True)
    similar = -np.array([apart[query, item[candidate]] for query, candidate in rows])
    everywhere = np.ones(len(similar), bool)
    return GroundTruth(ranks, {TRUTH: ranks[0].label}, everywhere, max(TOPS)), similar


def tell(entries: Sequence[Entry], asked: Namespace) -> None:
    """Print the tables of each kind of catalog, and write every cell."""
    for kind in dict.fromkeys(entry["kind"] for entry in entries):
        of_kind = [entry for entry in entries if entry["kind"] == kind]
        choosing, rest = ([e for e in of_kind if e["seed"] % 2 == odd] for odd in (0, 1))
        if not choosing or not rest:
            continue
        seeds = {items: sum(e["items"] == items for e in rest) for items in sizes(rest)}
        print(f"\n# {kind}; reported: {', '.join(f'{n} catalogs of {i:,}' for i, n in seeds.items())}")
        for source in SOURCES:
            print(
                f"\n## {source}: Spearman with the true HR@5, mean over tops of {TOPS}; * best on even seeds\n"
            )
            print_orders(choosing, rest, source)
            print(
                f"\n## {source}: claims (p < .05) that are right, in %: one encoder outside / both outside\n"
            )
            print_claims(rest, source)
    write(asked, "depth.csv", "\n".join([HEAD, *map(",".join, rows_of(entries)), ""]))


def print_orders(choosing: Sequence[Entry], rest: Sequence[Entry], source: str) -> None:
    """A row for each catalog size and share, and means."""

    def row(items: int | None, shares: Sequence[float]) -> list[str]:
        chosen = best(choosing, source, items, shares)
        means = {one: mean(rest, source, one, items, shares) for one in MEASURES}
        return [f"{value:.2f}{'*' if one == chosen else ''}" for one, value in means.items()]

    named = {"all": SHARES, "30% and more": SHARES[1:], "50% and more": SHARES[2:]}
    rows = [
        (f"{items:,}", f"{share:.0%}", *row(items, (share,))) for items, share in product(sizes(rest), SHARES)
    ]
    print_table(MEASURES, [*rows, *(("all", name, *row(None, shares)) for name, shares in named.items())])
    overall = best(choosing, source)
    apart = [mean([e], source, overall) - mean([e], source, PAPER) for e in rest]
    half = 1.96 * np.std(apart, ddof=1) / len(apart) ** 0.5 if len(apart) > 1 else np.nan
    print(f"\n{overall} minus {PAPER}: {np.mean(apart):+.3f} ± {half:.3f} over {len(apart)} catalogs")
    for top in TOPS:
        shown = (f"{short(one)} {mean(rest, source, one, top=top):.2f}" for one in BY_DEPTH)
        print(f"top {top}: " + ", ".join(shown))


def print_claims(rest: Sequence[Entry], source: str) -> None:
    """By size and share: of the claims with one encoder outside, and with both, how many are right."""

    def right(measure: str, cells: Sequence[Entry], kind: int) -> str:
        claims, good = (sum(c[name][measure][kind] for c in cells) for name in ("claims", "right"))
        return f"{100 * good / claims:.0f}" if claims else "-"

    rows = []
    for items, share in [*product(sizes(rest), SHARES), *((None, share) for share in SHARES)]:
        cells = [c for c in cells_of(rest, source, items) if c["share"] == share]
        shown = (f"{right(one, cells, 1)} / {right(one, cells, 2)}" for one in BY_DEPTH)
        rows.append(("all" if items is None else f"{items:,}", f"{share:.0%}", *shown))
    print_table(BY_DEPTH, rows)


def print_table(measures: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table with a column for each measure."""
    print("| items | similar | " + " | ".join(map(short, measures)) + " |")
    print("|---" * (len(measures) + 2) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def best(
    entries: Sequence[Entry], source: str, items: int | None = None, shares: Sequence[float] = SHARES
) -> str:
    """The rank of half credit with the highest mean correlation."""
    return max(BY_DEPTH[: len(HALVES)], key=lambda one: mean(entries, source, one, items, shares))


def mean(
    entries: Sequence[Entry],
    source: str,
    measure: str,
    items: int | None = None,
    shares: Sequence[float] = SHARES,
    top: int | None = None,
) -> float:
    """The mean correlation of a measure over the cells of some catalogs."""
    cells = [c for c in cells_of(entries, source, items) if c["share"] in shares and top in (None, c["top"])]
    return float(np.mean([c["spearman"][measure] for c in cells if c["defined"]]))


def cells_of(entries: Iterable[Entry], source: str, items: int | None = None) -> list[Entry]:
    """The cells of some catalogs."""
    return [c for e in entries if items in (None, e["items"]) for c in e["cells"] if c["source"] == source]


def sizes(entries: Iterable[Entry]) -> list[int]:
    """The sizes of the catalogs."""
    return sorted({e["items"] for e in entries})


def short(measure: str) -> str:
    """A measure as a column's head: the rank alone."""
    return measure.removeprefix("DCS(").rstrip(")")


HEAD = "catalog,items,seed,pools,source,top,share,labels,measure,spearman," + ",".join(
    f"{name} {kind}" for kind in KINDS for name in ("claims", "right")
)


def rows_of(entries: Iterable[Entry]) -> Iterator[list[str]]:
    """Every figure of every cell."""
    for e in entries:
        for c, one in product(e["cells"], MEASURES):
            counts = (c[name][one][kind] for kind in range(3) for name in ("claims", "right"))
            yield [
                *(str(e[name]) for name in ("kind", "items", "seed", "pools")),
                *(c["source"], str(c["top"]), f"{c['share']:g}", f"{c['labels']:.0f}", one),
                *(f"{c['spearman'][one]:.6g}", *map(str, counts)),
            ]


if __name__ == "__main__":
    main(sys.argv[1:])
