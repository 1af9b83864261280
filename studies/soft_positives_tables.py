"""The tables of `soft_positives.py`: from the entries of a journal to differences over catalogs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from lookalike.evaluate.significance.compare import holm, share_won, t_test
from lookalike.research.trials.run import LABELS, LAST, PRETRAINED, WILD
from lookalike.research.trials.summary import View
from lookalike.store.disk import write_file
from lookalike.store.journal import Entry

MARGIN = 0.003
CHOOSER = "DCS(alpha=10)"
OBJECTS = "92 objects"
SHOWN = (
    View("AUC_mic", CHOOSER),
    View("HR@5", CHOOSER),
    View("HR@5", LAST),
    View("EHR@5", CHOOSER, LABELS),
    View(CHOOSER, CHOOSER, LABELS),
    View("HR@5", CHOOSER, WILD),
    View("AUC_mic", CHOOSER, WILD),
)
AUC = SHOWN[0]


class Cell(NamedTuple):
    """What is trained, and from what."""

    encoder: str
    head: str
    arm: str
    loss: str
    kind: str


Entries = Mapping[tuple[Cell, int], Mapping[float, Entry]]
"""By cell and catalog (or split), the entry of each rate."""


@dataclass(frozen=True)
class Mean:
    """A mean difference over catalogs: `low` to `high` is its 95 % interval, `alike` whether the 90 % one is within
    the margin, `won` the share of catalogs above 0, ties half."""

    value: float
    low: float
    high: float
    alike: bool
    p: float
    won: float
    catalogs: int


def mean_of(values: np.ndarray, shared: float = 0.0, margin: float = MARGIN) -> Mean:
    """The mean of differences over independent catalogs by Student's t; NaN marks a catalog without one.

        SE^2 = (1 / J + shared) s^2

    `shared` is 0 for independent catalogs, and n_test / n_train for splits of one (Nadeau and Bengio 2003).
    """
    known = values[~np.isnan(values)]
    if len(known) < 2:
        nothing = float("nan")
        return Mean(
            float(known.mean()) if len(known) else nothing,
            nothing,
            nothing,
            False,
            nothing,
            nothing,
            len(known),
        )
    value, error = float(known.mean()), float(np.sqrt((1 / len(known) + shared) * known.var(ddof=1)))
    two, one = (float(stdtrit(len(known) - 1, level)) * error for level in (0.975, 0.95))
    alike = -margin < value - one and value + one < margin
    return Mean(value, value - two, value + two, alike, t_test(known, error), share_won(known), len(known))


class Found:
    """The chosen entries of a journal, and their values by cell."""

    def __init__(self, entries: Entries, rates: int) -> None:
        self.chosen = {place: best(of) for place, of in entries.items() if len(of) == rates}
        self.seeds: dict[str, list[int]] = {}
        for cell, seed in self.chosen:
            known = self.seeds.setdefault(cell.encoder, [])
            if seed not in known:
                known.append(seed)

    def values(self, cell: Cell, view: View, *, base: bool = False) -> np.ndarray:
        """A number of each catalog, in one order for all cells of an encoder; NaN where the cell is missing."""
        by = PRETRAINED if base else view.chosen_by
        entries = (self.chosen.get((cell, seed)) for seed in self.seeds[cell.encoder])
        found = (
            np.nan if one is None else one["values"][by].get(view.on, {}).get(view.measure) for one in entries
        )
        return np.array([np.nan if one is None else one for one in found])

    def shared(self, encoder: str) -> float:
        """What splits of one catalog have in common; fresh catalogs have nothing."""
        sizes = [entry["sizes"] for (cell, _), entry in self.chosen.items() if cell.encoder == encoder]
        return sizes[0]["test"] / sizes[0]["train"] if encoder == OBJECTS and sizes else 0.0

    def against(self, cell: Cell, other: Cell | None, view: View) -> Mean:
        """A cell minus another, or minus the encoder itself."""
        theirs = self.values(cell, view, base=True) if other is None else self.values(other, view)
        return mean_of(self.values(cell, view) - theirs, self.shared(cell.encoder))

    @property
    def cells(self) -> list[Cell]:
        """The cells that there are, in order of first appearance."""
        return list(dict.fromkeys(cell for cell, _ in self.chosen))


def best(of: Mapping[float, Entry]) -> Entry:
    """The entry of the rate whose epoch is the best by the validation split's labels; of equals the lowest rate."""
    listed = [of[rate] for rate in sorted(of)]
    found = [entry["validation"].get(CHOOSER, np.nan) for entry in listed]
    return listed[0] if np.isnan(found).all() else listed[int(np.nanargmax(found))]


def word(soft: Mean, plain: Mean) -> str:
    """What a soft kind's difference from plain says: a gain counts only where plain is at least the base."""
    alike = " (within the margin)" if soft.alike else ""
    if np.isnan(soft.low):
        return "too few catalogs"
    if soft.low > 0:
        return ("gain" if plain.value >= 0 else "higher, but plain is below the base") + alike
    if soft.high < 0:
        return "loss" + alike
    return "no difference of importance" if soft.alike else "cannot be told"


def tell(entries: Entries, primary: Cell, rates: int, out: Path | None) -> None:
    """Print all tables; write them too where a folder is named."""
    found = Found(entries, rates)
    if not found.chosen:
        print("No cell is finished yet.")
        return
    parts = [
        primary_text(found, primary),
        *(place_table(found, place) for place in places(found)),
        compared(found, primary),
    ]
    text = "\n\n".join(parts) + "\n"
    print(text)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_file(out / "soft-positives.md", text.encode())


def places(found: Found) -> Iterable[tuple[str, str, str]]:
    """Encoder, head and arm of the tables."""
    return dict.fromkeys((cell.encoder, cell.head, cell.arm) for cell in found.cells)


def primary_text(found: Found, primary: Cell) -> str:
    """The primary test."""
    plain = primary._replace(kind="plain")
    if primary.encoder not in found.seeds:
        return "The primary comparison is not done."
    soft, base = found.against(primary, plain, AUC), found.against(plain, None, AUC)
    return (
        f"Primary: {', '.join(primary)} minus plain, AUC_mic on the truth, {soft.catalogs} catalogs: {shown(soft)}, "
        f"p {soft.p:.3g}, ahead on {100 * soft.won:.0f} %. Plain minus base: {shown(base)}. {word(soft, base)}."
    )


def place_table(found: Found, place: tuple[str, str, str]) -> str:
    """One encoder, head and arm: the base's values, and each method minus the base."""
    cells = [cell for cell in found.cells if cell[:3] == place]
    views = [view for view in SHOWN if not np.isnan(found.values(cells[0], view, base=True)).all()]
    rows = ["| | catalogs | " + " | ".join(map(heading, views)) + " |"]
    rows.append("|---" * (len(views) + 2) + "|")
    base = (np.nanmean(found.values(cells[0], view, base=True)) for view in views)
    rows.append("| base | | " + " | ".join(f"{value:.3f}" for value in base) + " |")
    for cell in cells:
        each = [found.against(cell, None, view) for view in views]
        rows.append(
            f"| {cell.loss} {cell.kind} | {each[0].catalogs} | " + " | ".join(map(shown, each)) + " |"
        )
    return f"## {', '.join(place)}: base, and methods minus base\n\n" + "\n".join(rows)


def heading(view: View) -> str:
    """What a column shows."""
    return f"{view.measure}, {view.on}" + (", last epoch" if view.chosen_by == LAST else "")


def compared(found: Found, primary: Cell) -> str:
    """All soft kinds minus plain, but for the primary one: one family for Holm."""
    cells = [cell for cell in found.cells if cell.kind != "plain" and cell != primary]
    cells = [cell for cell in cells if cell._replace(kind="plain") in found.cells]
    each = [found.against(cell, cell._replace(kind="plain"), AUC) for cell in cells]
    adjusted = holm(np.array([one.p for one in each])) if each else []
    rows = ["| | minus plain | catalogs | ahead | p | p, Holm | plain minus base | |", "|---" * 8 + "|"]
    for cell, one, p in zip(cells, each, adjusted, strict=True):
        plain = found.against(cell._replace(kind="plain"), None, AUC)
        said = word(one, plain) if p < 0.05 or one.alike else "cannot be told"
        rows.append(
            f"| {', '.join(cell)} | {shown(one)} | {one.catalogs} | {100 * one.won:.0f} % | {one.p:.3g} | {p:.3g} | "
            f"{shown(plain)} | {said} |"
        )
    return "## AUC_mic on the truth, soft kinds minus plain\n\n" + "\n".join(rows)


def shown(one: Mean) -> str:
    """A difference with its 95 % interval."""
    return f"{one.value:+.4f}" if np.isnan(one.low) else f"{one.value:+.4f} [{one.low:+.4f}, {one.high:+.4f}]"
