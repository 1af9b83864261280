"""`reproduce`: a table of the papers, and ours beside it on whatever catalog the workspace holds."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lookalike.api.finetune import require_learning
from lookalike.core.errors import (
    ArgumentError,
    CatalogError,
    EncoderError,
    LabelsError,
    LearningError,
    PoolError,
)
from lookalike.core.progress import Progress
from lookalike.evaluate.measures.credit import phi
from lookalike.report.figures.credit import credit_curves
from lookalike.research.adaptation.protocol import AdaptationProtocol
from lookalike.research.papers.adaptation import ADAPTATION, ADAPTATION_NEEDS, Drawings
from lookalike.research.papers.computed import ComputedTable
from lookalike.research.papers.layout import cells_of, text_of
from lookalike.research.papers.measure_tables import curve_table
from lookalike.research.papers.published import PublishedTable, published
from lookalike.research.papers.tables import BUILDERS, NEEDS
from lookalike.store.disk import write_file
from lookalike.store.formats.tables import csv_text
from lookalike.store.settings import FILE
from lookalike.store.workspace import Workspace

DEFAULT_PROTOCOL = AdaptationProtocol()
POINTS, PRINTED_POINTS = 401, 21
LACKING = (
    CatalogError,
    EncoderError,
    LabelsError,
    LearningError,
    PoolError,
)  # shown below the paper's figures


@dataclass(frozen=True)
class Reproduction:
    """A table as printed, and ours (None: `missing` says why, and what would make them).

    `drawings` are the files that a figure can be written as beside the table, by ending.
    """

    published: PublishedTable
    ours: ComputedTable | None
    missing: str = ""
    drawings: Drawings = field(default_factory=dict)


def reproduce(
    key: str,
    folder: Path,
    *,
    protocol: AdaptationProtocol = DEFAULT_PROTOCOL,
    progress: Progress | None = None,
) -> Reproduction:
    """One table. Without a workspace in the folder, or where it lacks what ours need, only the paper's figures."""
    table = published(key)
    if table.alphas:
        credit = {".svg": lambda: credit_figure(table)}
        return Reproduction(table, _curves(table, PRINTED_POINTS), drawings=credit)
    if key not in BUILDERS and key not in ADAPTATION:
        return Reproduction(table, None, "This version does not make ours for this table.")
    if not (folder / FILE).is_file():
        return Reproduction(table, None, f"{folder} is not a workspace, so there are no figures of ours.")
    workspace = Workspace(folder)
    found: ComputedTable | str
    try:
        if key in ADAPTATION:
            require_learning()
            ours, drawings = ADAPTATION[key](workspace, protocol, progress)
            return Reproduction(table, ours, drawings=drawings)
        found = BUILDERS[key](workspace, progress)
    except LACKING as lack:
        found = f"{lack.problem} {lack.fix}"
    return Reproduction(table, None, found) if isinstance(found, str) else Reproduction(table, found)


def needs(key: str) -> str:
    """What ours for a table are made from, in a few words; empty where this version makes none."""
    return (
        "nothing"
        if published(key).alphas
        else (ADAPTATION_NEEDS if key in ADAPTATION else NEEDS.get(key, ""))
    )


def write(found: Reproduction, path: Path, as_json: bytes) -> None:
    """Write a table as .txt, .csv (a row per cell, ours unrounded) or .json; a figure as .svg too."""
    endings = (".txt", ".csv", ".json", *found.drawings)
    ending = path.suffix.lower()
    if ending not in endings:
        raise ArgumentError(
            f"--output {path} has no ending that {found.published.key} can be written as.",
            fix=f"Give a file that ends in {', '.join(endings)}.",
        )
    made = {
        ".txt": lambda: text_of(found.published, found.ours),
        ".csv": lambda: _csv(found),
        ".json": as_json.decode,
        **found.drawings,
    }[ending]()
    write_file(path, made.encode())


def credit_figure(table: PublishedTable) -> str:
    """VSD Figure 1: the credit of a positive and of a negative over the percentile rank, for every alpha."""
    panels = (("(a) positive label (y = 1)", 1), ("(b) negative label (y = 0)", 0))
    title = f"{table.paper} {table.number}: {table.title}"
    return credit_curves(table.alphas, panels, title, points=POINTS, alone=True)


def _csv(found: Reproduction) -> str:
    return csv_text(
        [*found.published.labels, "column", "paper", "ours", "ours_spread"],
        (
            [
                *cell.names,
                cell.column,
                cell.paper,
                cell.ours and cell.ours.value,
                cell.ours and cell.ours.spread,
            ]
            for cell in cells_of(found.published, found.ours)
        ),
    )


def _curves(table: PublishedTable, points: int) -> ComputedTable:
    p = np.linspace(0, 1, points)
    return curve_table(p, {alpha: phi(p, alpha) for alpha in table.alphas})
