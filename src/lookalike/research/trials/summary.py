"""What trials say together: means over splits, their intervals, and one way of learning against another."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lookalike.core.errors import ArgumentError
from lookalike.evaluate.significance.repeated_splits import Difference, OverSplits, differences, over_splits
from lookalike.research.trials.run import LAST, PRETRAINED
from lookalike.store.formats.tables import csv_text
from lookalike.store.journal import Entry


@dataclass(frozen=True)
class View:
    """Which numbers of the entries to use.

    `chosen_by` is the measure that chose the epoch, or "last"; `on` is "truth" or "labels" (those of the test split).
    """

    measure: str
    chosen_by: str = LAST
    on: str = "truth"


def by_method(entries: Sequence[Entry], view: View) -> dict[str, np.ndarray]:
    """Values of every method by split, in order of the splits; NaN where a method was not tried on one.

    "pretrained" comes first: the encoder's own vectors. NaN too where a trial stopped before it had the number.
    ArgumentError: the entries do not hold such numbers, or two trials of one split go by one name (beta, L, temperature
    and more are not part of it).
    """
    _require_once(entries)
    place = {split: at for at, split in enumerate(sorted({entry["split"] for entry in entries}))}
    found: dict[str, np.ndarray] = {}
    for entry in entries:
        for name, chosen in ((PRETRAINED, PRETRAINED), (entry["method"], view.chosen_by)):
            each = found.setdefault(name, np.full(len(place), np.nan))
            try:
                each[place[entry["split"]]] = entry["values"][chosen][view.on][view.measure]
            except KeyError:
                if entry.get("stopped"):
                    continue
                raise ArgumentError(
                    f"The trials do not have {view.measure} on {view.on}, epoch chosen by {view.chosen_by}.",
                    fix=f"They have epochs chosen by {', '.join(entry['values'])}.",
                ) from None
    return found


def _require_once(entries: Sequence[Entry]) -> None:
    """Refuse what a table would show in one place."""
    times = Counter((entry["method"], entry["split"]) for entry in entries)
    for (method, split), count in times.items():
        if count > 1:
            raise ArgumentError(
                f"{count} trials on split {split} go by the name {method}.",
                fix="Summarise the trials of one ground and of one setting of each method at a time.",
            )


def sizes(entries: Sequence[Entry]) -> tuple[int, int]:
    """Images tested and trained on; the largest test and the smallest training set, which is the careful way."""
    return (
        max(entry["sizes"]["test"] for entry in entries),
        min(entry["sizes"]["train"] for entry in entries),
    )


def means(entries: Sequence[Entry], view: View) -> dict[str, OverSplits]:
    """Every method's mean over the splits."""
    tested, trained = sizes(entries)
    return {name: over_splits(values, tested, trained) for name, values in by_method(entries, view).items()}


def compared(entries: Sequence[Entry], view: View) -> list[Difference]:
    """Each loss against pretrained and the others, SPA and NSPA against plain and each other; one family for Holm."""
    found = by_method(entries, view)
    pairs = [pair for pair in _pairs(found) if pair[0] in found and pair[1] in found]
    return differences(found, pairs, *sizes(entries))


def choices(entries: Sequence[Entry], measure: str) -> str:
    """What each way of choosing the epoch is worth, over all methods and splits, as Markdown.

    The mean of `measure` on the truth; which epoch was chosen, half of the times at most; how often it was the first.
    """
    rows = ["| epoch chosen by | mean | median epoch | first epoch |", "|---|---|---|---|"]
    for chosen_by in entries[0]["values"]:
        if chosen_by == PRETRAINED:
            continue
        done = [entry for entry in entries if _has(entry, chosen_by)]
        if not done:
            continue
        value = np.nanmean([entry["values"][chosen_by]["truth"][measure] for entry in done])
        epochs = [entry["best"].get(chosen_by, entry["settings"]["epochs"]) for entry in done]
        first = 100 * np.mean(np.array(epochs) == 1)
        rows.append(f"| {chosen_by} | {value:.3f} | {np.median(epochs):.0f} | {first:.0f}% |")
    return "\n".join(rows)


def _has(entry: Entry, chosen_by: str) -> bool:
    """Whether a trial has such an epoch: one that stopped has no last one, and may have none."""
    return not entry.get("stopped") if chosen_by == LAST else chosen_by in entry["best"]


def _pairs(methods: Iterable[str]) -> list[tuple[str, str]]:
    plain = [name for name in methods if " " not in name and name != PRETRAINED]
    listed = [(name, PRETRAINED) for name in plain] + list(combinations(plain, 2))
    for name in plain:
        soft, hard = f"{name} SPA", f"{name} NSPA"
        listed += [(soft, name), (hard, name), (soft, hard)]
    return listed


def as_csv(entries: Sequence[Entry]) -> str:
    """A line for each method, chooser, kind of truth and measure: mean, ends of the interval, splits."""
    heads = ("ground", "method", "chosen_by", "on", "measure", "mean", "low", "high", "splits")
    lines = []
    for chosen_by, measured in entries[0]["values"].items():
        for on, measure in ((on, name) for on, names in measured.items() for name in names):
            for name, one in (
                means(entries, View(measure, chosen_by, on)).items() if chosen_by != PRETRAINED else ()
            ):
                if name == PRETRAINED and chosen_by != LAST:
                    continue  # it has no epochs
                chooser = "" if name == PRETRAINED else chosen_by
                ends = (f"{value:.6g}" for value in (one.value, one.low, one.high))
                lines.append((entries[0]["ground"], name, chooser, on, measure, *ends, one.splits))
    return csv_text(heads, lines)


def table(entries: Sequence[Entry], views: Sequence[tuple[str, View]]) -> str:
    """Methods in rows, views in columns under their headings, as Markdown: means and their reach."""
    columns = [means(entries, view) for _, view in views]
    rows = ["| | " + " | ".join(heading for heading, _ in views) + " |", "|---" * (len(views) + 1) + "|"]
    for name in columns[0]:
        cells = (reached(column[name]) for column in columns)
        rows.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def compared_table(entries: Sequence[Entry], view: View) -> str:
    """The comparisons as Markdown."""
    rows = ["| | difference | splits won | p | p, Holm |", "|---|---|---|---|---|"]
    for one in compared(entries, view):
        chances = " | ".join(_chance(p) for p in (one.p, one.p_holm))
        name = " - ".join(one.methods)
        rows.append(f"| {name} | {reached(one.by, signed=True)} | {100 * one.won:.0f}% | {chances} |")
    return "\n".join(rows)


def reached(one: OverSplits, *, signed: bool = False) -> str:
    """A mean and its reach.

    >>> reached(OverSplits(0.5, 0.4, 0.6, 50)), reached(OverSplits(0.5, float("nan"), float("nan"), 1))
    ('0.500 ± 0.100', '0.500')
    """
    value = f"{one.value:+.3f}" if signed else f"{one.value:.3f}"
    return value if np.isnan(one.high) else f"{value} ± {one.high - one.value:.3f}"


def _chance(p: float) -> str:
    if np.isnan(p):
        return "undefined"
    return "< .001" if p < 0.001 else f"{p:.3f}".replace("0.", ".", 1)
