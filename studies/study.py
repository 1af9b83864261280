"""What the studies have in common: their options, the ways of learning, and how results are told."""

import time
from argparse import ArgumentParser, Namespace, RawDescriptionHelpFormatter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import torch

from lookalike.learn.losses.weighted import LOSSES as FORMULAS
from lookalike.learn.settings import TrainingSettings
from lookalike.research.trials.figure import GroundMeans, Series, dots, series
from lookalike.research.trials.run import LAST, Ground, Trial, run_trials
from lookalike.research.trials.summary import View, as_csv, by_method, choices, compared_table, means, table
from lookalike.store.disk import write_file
from lookalike.store.journal import Entry, Journal

LOSSES = tuple(FORMULAS)
WAYS = tuple(
    TrainingSettings(loss=loss, positives=kind, measure="DCS(alpha=10)")
    for loss in LOSSES
    for kind in ("labels", "soft", "full")
)
CHOOSERS = ("DCS(alpha=10)", "AUC_mic")
SHOWN = ("AUC_mic", "AUC_mac", "HR@5", "DCS(alpha=10)")


def options(about: str) -> ArgumentParser:
    """The options that all studies take."""
    parser = ArgumentParser(description=about, formatter_class=RawDescriptionHelpFormatter)
    parser.add_argument(
        "--journal", type=Path, required=True, help="finished trials; a stopped study goes on"
    )
    parser.add_argument("--out", type=Path, help="a folder for the table (CSV) and the figure (SVG)")
    parser.add_argument("--splits", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0, help="the first split")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--projection", type=int, default=256, help="width of what comes out of the head")
    parser.add_argument("--losses", nargs="+", choices=LOSSES, default=LOSSES)
    parser.add_argument("--unjudged", default="negative", help="negative or ignore")
    return parser


def trials(ways: Iterable[TrainingSettings], asked: Namespace) -> list[Trial]:
    """All ways on every split, split by split: a study that is stopped has compared all of them on what is there."""
    told: dict[str, Any] = {"epochs": asked.epochs, "rate": asked.rate, "batch": 512, "measure": CHOOSERS[0]}
    listed = [way.changed(unjudged=asked.unjudged, **told) for way in ways if way.loss in asked.losses]
    splits = range(asked.seed, asked.seed + asked.splits)
    return [Trial(split, way, asked.projection, CHOOSERS) for split in splits for way in listed]


def journal_of(asked: Namespace) -> Journal:
    """The journal that was named."""
    return Journal(asked.journal)


def run(grounds: Mapping[str, Ground], asked_for: list[Trial], journal: Journal) -> list[Entry]:
    """The entries of every ground's trials, one ground after another."""
    torch.set_num_threads(1)  # products too small to share
    found: list[Entry] = []
    for name, ground in grounds.items():
        started = time.monotonic()

        def progress(done: int, total: int, name: str = name, started: float = started) -> None:
            print(
                f"\r{name}: {done} of {total} trials, {time.monotonic() - started:.0f} s", end="", flush=True
            )

        found += run_trials(ground, asked_for, journal, progress)
        print()
    return found


def tell(entries: list[Entry], asked: Namespace, name: str) -> None:
    """Print tables and tests of each ground; write all means as CSV and the figure."""
    grounds = dict.fromkeys(entry["ground"] for entry in entries)
    parts = {ground: [entry for entry in entries if entry["ground"] == ground] for ground in grounds}
    for ground, part in parts.items():
        print(f"\n## {ground}, {asked.splits} splits\n\nOn the truth, last epoch\n")
        print(table(part, [(measure, View(measure)) for measure in SHOWN]))
        print("\nOn the pool's labels of the test split, last epoch\n")
        print(
            table(part, [(m, View(m, on="labels")) for m in ("AUC_mic", "AUC_mac", "EHR@5", "DCS(alpha=10)")])
        )
        print("\nAUC_mic on the truth, by what chose the epoch\n")
        print(table(part, [(by, View("AUC_mic", by)) for by in (*CHOOSERS, LAST)]))
        print(f"\n{choices(part, 'AUC_mic')}")
        for chosen_by in (LAST, CHOOSERS[0]):
            print(f"\nAUC_mic on the truth, epoch chosen by {chosen_by}: corrected resampled t-tests\n")
            print(compared_table(part, View("AUC_mic", chosen_by)))
    panels = [GroundMeans(ground, means(part, View("AUC_mic"))) for ground, part in parts.items()]
    write(
        asked,
        f"{name}.csv",
        "".join(_without_head(as_csv(part), at) for at, part in enumerate(parts.values())),
    )
    write(asked, f"{name}.svg", dots(panels, "AUC_mic on the truth of the test images, with 95 % intervals"))


def tell_series(axis: str, found: Mapping[float, list[Entry]], asked: Namespace, name: str) -> None:
    """Print the means of each way along an axis; write them and the figure."""
    view = View("AUC_mic")
    along = {place: means(entries, view) for place, entries in found.items()}
    first = next(iter(found.values()))
    ways = list(by_method(first, view))
    print(f"\n| {axis} | " + " | ".join(ways) + " |\n" + "|---" * (len(ways) + 1) + "|")
    for place, at in along.items():
        cells = (f"{at[way].value:.3f} ± {at[way].high - at[way].value:.3f}" for way in ways)
        print(f"| {100 * place:.0f} % | " + " | ".join(cells) + " |")
    for place, entries in found.items():
        print(f"\n{100 * place:.0f} %\n\n{compared_table(entries, view)}")
    lines = [Series(way, tuple((place, at[way]) for place, at in along.items())) for way in ways]
    rows = [
        f"{first[0]['ground']},{place:g},{line.name},{one.value:.6g},{one.low:.6g},{one.high:.6g},{one.splits}"
        for line in lines
        for place, one in line.points
    ]
    write(asked, f"{name}.csv", "\n".join(["ground,flipped,method,AUC_mic,low,high,splits", *rows, ""]))
    write(
        asked,
        f"{name}.svg",
        series(lines, "AUC_mic on the truth of the test images, with 95 % intervals", axis),
    )


def write(asked: Namespace, name: str, content: str) -> None:
    """Write a result, where a folder was named."""
    if asked.out is not None:
        asked.out.mkdir(parents=True, exist_ok=True)
        write_file(asked.out / name, content.encode())


def _without_head(text: str, place: int) -> str:
    return text if place == 0 else text.partition("\n")[2]
