"""`reproduce`: a table of the papers, and ours beside it on whatever catalog the workspace holds."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

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
from lookalike.research.papers.adaptation import ADAPTATION, ADAPTATION_NEEDS, Drawings
from lookalike.research.papers.computed import ComputedFigure, ComputedTable
from lookalike.research.papers.layout import cells_of, text_of
from lookalike.research.papers.measure_tables import curve_table
from lookalike.research.papers.protocol import ReproduceProtocol
from lookalike.research.papers.published import PublishedTable, published
from lookalike.research.papers.tables import BUILDERS, NEEDS
from lookalike.store.disk import write_file
from lookalike.store.formats.tables import csv_text
from lookalike.store.settings import FILE
from lookalike.store.workspace import Workspace

DEFAULT_PROTOCOL = ReproduceProtocol()
NONE: Mapping[str, str] = MappingProxyType({})
LEARNED = MappingProxyType(
    dict.fromkeys(
        ("vsd-table-2", "vsd-table-3", "vsd-table-4"), "labels, a network, and cells trained with --train"
    )
)
POINTS, PRINTED_POINTS = 401, 21
KEPT = ("value", "spread", "n", "p", "low", "high")  # of a figure, in a file
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
    protocol: ReproduceProtocol = DEFAULT_PROTOCOL,
    failed: Mapping[str, str] = NONE,
    progress: Progress | None = None,
) -> Reproduction:
    """One table. Without a workspace in the folder, or where it lacks what ours need, only the paper's figures.

    `failed` says by encoder why a training for this table just failed.
    """
    table = published(key)
    if table.alphas:
        credit = {".svg": lambda: credit_figure(table)}
        return Reproduction(table, _curves(table, PRINTED_POINTS), drawings=credit)
    if not (folder / FILE).is_file():
        return Reproduction(table, None, f"{folder} is not a workspace, so there are no figures of ours.")
    workspace = Workspace(folder)
    found: ComputedTable | str
    try:
        if key in ADAPTATION:
            require_learning()
            ours, drawings = ADAPTATION[key](workspace, protocol.adaptation, progress)
            return Reproduction(table, ours, drawings=drawings)
        found = _built(workspace, key, protocol, failed, progress)
    except LACKING as lack:
        found = f"{lack.problem} {lack.fix}"
    return Reproduction(table, None, found) if isinstance(found, str) else Reproduction(table, found)


def _built(
    workspace: Workspace,
    key: str,
    protocol: ReproduceProtocol,
    failed: Mapping[str, str],
    progress: Progress | None,
) -> ComputedTable | str:
    """Ours, or what is missing."""
    from lookalike.research.learning.trained_tables import learned_table, remarks_of

    if key in LEARNED:
        return learned_table(workspace, key, protocol, failed, progress)
    found = BUILDERS[key](workspace, progress)
    if isinstance(found, str):
        return found
    return replace(found, remarks=(*found.remarks, *remarks_of(workspace, key, protocol, failed)))


def needs(key: str) -> str:
    """What ours for a table are made from, in a few words."""
    if published(key).alphas:
        return "nothing"
    return ADAPTATION_NEEDS if key in ADAPTATION else LEARNED.get(key) or NEEDS[key]


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
        [
            *found.published.labels,
            "column",
            "paper",
            *("ours" if one == "value" else f"ours_{one}" for one in KEPT),
        ],
        (
            [*cell.names, cell.column, cell.paper, *(cell.ours and _written(cell.ours, one) for one in KEPT)]
            for cell in cells_of(found.published, found.ours)
        ),
    )


def _written(figure: ComputedFigure, what: str) -> float | None:
    """A number of a figure; None where it has none. Its value is NaN where it is undefined."""
    found: float | None = getattr(figure, what)
    return None if found is not None and what != "value" and math.isnan(found) else found


def _curves(table: PublishedTable, points: int) -> ComputedTable:
    p = np.linspace(0, 1, points)
    return curve_table(p, {alpha: phi(p, alpha) for alpha in table.alphas})
