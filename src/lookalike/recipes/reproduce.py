"""`reproduce`: a table of the papers, and ours beside it on whatever catalog the workspace holds."""

import csv
import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.errors import ArgumentError, CatalogError, EncoderError, LabelsError, PoolError
from lookalike.core.progress import Progress
from lookalike.evaluate.credit import phi
from lookalike.recipes.reproduce_tables import BUILDERS, NEEDS
from lookalike.report.curves import Line, Panel, curves
from lookalike.reproduce.builders import curve_table
from lookalike.reproduce.layout import cells_of, text_of
from lookalike.reproduce.ours import OurTable
from lookalike.reproduce.published import PublishedTable, published
from lookalike.store.disk import write_file
from lookalike.store.settings import FILE
from lookalike.store.workspace import Workspace

POINTS, PRINTED_POINTS = 401, 21
LACKING = (CatalogError, EncoderError, LabelsError, PoolError)  # said under the paper's figures


@dataclass(frozen=True)
class Reproduction:
    """A table as printed, and ours (None: `missing` says why, and what would make them)."""

    published: PublishedTable
    ours: OurTable | None
    missing: str = ""


def reproduce(key: str, folder: Path, *, progress: Progress | None = None) -> Reproduction:
    """One table. Without a workspace in the folder, or where it lacks what ours need, only the paper's figures."""
    table = published(key)
    if table.alphas:
        return Reproduction(table, _curves(table, PRINTED_POINTS))
    if key not in BUILDERS:
        return Reproduction(table, None, "This version does not make ours for this table.")
    if not (folder / FILE).is_file():
        return Reproduction(table, None, f"{folder} is no workspace, so there are no figures of ours.")
    workspace = Workspace(folder)
    found: OurTable | str
    try:
        found = BUILDERS[key](workspace, progress)
    except LACKING as lack:
        found = f"{lack.problem} {lack.fix}"
    return Reproduction(table, None, found) if isinstance(found, str) else Reproduction(table, found)


def needs(key: str) -> str:
    """What ours for a table are made from, in a few words; empty where this version makes none."""
    return "nothing" if published(key).alphas else NEEDS.get(key, "")


def write(found: Reproduction, path: Path, as_json: bytes) -> None:
    """Write a table as .txt, .csv (a row per cell, ours unrounded) or .json; a figure as .svg too."""
    endings = (".txt", ".csv", ".json", *((".svg",) if found.published.alphas else ()))
    ending = path.suffix.lower()
    if ending not in endings:
        raise ArgumentError(
            f"--output {path} has no ending that {found.published.key} can be written as.",
            fix=f"Give a file that ends in {', '.join(endings)}.",
        )
    text = {
        ".txt": lambda: text_of(found.published, found.ours).encode(),
        ".csv": lambda: _csv(found).encode(),
        ".json": lambda: as_json,
        ".svg": lambda: figure(found.published).encode(),
    }[ending]()
    write_file(path, text)


def figure(table: PublishedTable) -> str:
    """VSD Figure 1: the credit of a positive and of a negative over the percentile rank, for every alpha."""
    p = np.linspace(0, 1, POINTS)
    drawn = {f"alpha = {alpha:g}": phi(p, alpha) for alpha in table.alphas}
    axis = "percentile rank p"
    panels = (
        Panel("(a) positive label (y = 1)", axis, tuple(Line(name, p, y) for name, y in drawn.items())),
        Panel("(b) negative label (y = 0)", axis, tuple(Line(name, p, 1 - y) for name, y in drawn.items())),
    )
    return curves(panels, f"{table.paper} {table.number}: {table.title}")


def _csv(found: Reproduction) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*found.published.labels, "column", "paper", "ours", "ours_spread"])
    for cell in cells_of(found.published, found.ours):
        value = cell.ours.value if cell.ours else ""
        spread = cell.ours.spread if cell.ours and cell.ours.spread is not None else ""
        writer.writerow([*cell.names, cell.column, cell.paper or "", value, spread])
    return text.getvalue()


def _curves(table: PublishedTable, points: int) -> OurTable:
    p = np.linspace(0, 1, points)
    return curve_table(p, {alpha: phi(p, alpha) for alpha in table.alphas})
