"""Tables of the study: coverage and errors by labels and covariate, and labels of whole queries over those of pairs."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, fields

import numpy as np

from lookalike.research.sampling.cells import COVARIATES, LABELS, PAIRS, QUERIES
from lookalike.store.formats.tables import csv_text
from lookalike.store.journal import Entry

KINDS = ("one encoder", "difference")
COMPARED = (
    ("no judge", "none", "both"),
    ("judge for pairs", "good", "pairs"),
    ("judge for both", "good", "both"),
)


@dataclass(frozen=True)
class SampledCell:
    """All values of one catalog (all studios are one), kind, number of labels and covariate.

    `rmse` is the root of the mean square over values; `over_none` and `worst_over_none` are the mean and the largest
    of each value's RMSE over that without a covariate. Values whose open questions are all labelled are left out: they
    are exact.
    """

    catalog: str
    kind: str
    labels: int
    covariate: str
    values: int
    mean_coverage: float
    worst_coverage: float
    rmse: float
    over_none: float
    worst_over_none: float
    mean_width: float


def sampled_cells(entries: Sequence[Entry]) -> list[SampledCell]:
    """The cells in the order of the entries."""
    found = []
    for catalog, kind, some in _groups(entries):
        for labels in LABELS:
            all_drawn = [one["cells"][str(labels)] for one in some if str(labels) in one["cells"]]
            for name in (*COVARIATES, *QUERIES):
                drawn = [cell for cell in all_drawn if name in cell]
                if not drawn:
                    continue
                covers, rmse, width = (
                    np.array([cell[name][figure] for cell in drawn]) for figure in ("covers", "rmse", "width")
                )
                over = rmse / np.array([cell["none"]["rmse"] for cell in drawn])
                figures = (
                    covers.mean(), covers.min(), np.sqrt((rmse**2).mean()), over.mean(), over.max(), width.mean()
                )  # fmt: skip
                found.append(SampledCell(catalog, kind, labels, name, len(drawn), *map(float, figures)))
    return found


def as_csv(entries: Sequence[Entry]) -> str:
    """All cells, figures with four digits."""
    cells = (astuple(cell) for cell in sampled_cells(entries))
    shown = (tuple(f"{x:.4g}" if isinstance(x, float) else x for x in cell) for cell in cells)
    return csv_text([field.name for field in fields(SampledCell)], shown)


def as_text(entries: Sequence[Entry]) -> str:
    """The tables in Markdown, and each limit of the study with what was found."""
    cells = sampled_cells(entries)
    parts = [
        "Mean coverage (that of the worst value), RMSE, RMSE over that without a covariate, mean width",
        "",
    ]
    for catalog, kind, some in _groups(entries):
        error = {m: np.sqrt(np.mean([one["error"][m] ** 2 for one in some])) for m in ("EHR", "corrected")}
        parts += [
            f"{catalog}, {kind}: {len(some)} values, median {np.median([one['open'] for one in some]):,.0f} open "
            f"questions. RMSE of EHR@5 {error['EHR']:.3f}, of the corrected HR@5 {error['corrected']:.3f}.",
            "",
            "| covariate | correlation | " + " | ".join(f"{n} labels" for n in LABELS) + " |",
            "|---" * (2 + len(LABELS)) + "|",
        ]
        mine = {
            (cell.covariate, cell.labels): cell
            for cell in cells
            if (cell.catalog, cell.kind) == (catalog, kind)
        }
        for name in (*COVARIATES, *QUERIES):
            shown = (_cell(mine[name, n]) if (name, n) in mine else "exact" for n in LABELS)
            correlation = np.mean([one["correlation"][name.partition(",")[0]] for one in some])
            parts.append(f"| {name} | {correlation:.2f} | " + " | ".join(shown) + " |")
        parts.append("")
    return "\n".join([*parts, *_whole(entries), "", *limits(cells)])


def limits(cells: Sequence[SampledCell]) -> list[str]:
    """Each limit of the study with what was found."""
    mean = [cell.mean_coverage for cell in cells]
    few = min(cell.worst_coverage for cell in cells if cell.labels == LABELS[0])
    many = min((cell.worst_coverage for cell in cells if cell.labels > LABELS[0]), default=float("nan"))
    useless = [cell for cell in cells if cell.covariate == "useless"]
    return [
        f"Mean coverage of a cell: {min(mean):.3f} to {max(mean):.3f} (at least .93).",
        f"Worst value: {few:.3f} at {LABELS[0]} labels (at least .88), {many:.3f} from {LABELS[1]} (at least .90).",
        f"RMSE with a useless judge over that without: mean at most {max(cell.over_none for cell in useless):.3f}, "
        f"worst value {max(cell.worst_over_none for cell in useless):.3f} (at most 1.02).",
    ]


def _cell(cell: SampledCell) -> str:
    return (
        f"{cell.mean_coverage:.3f} ({cell.worst_coverage:.3f}), {cell.rmse:.4f}, {cell.over_none:.2f}, "
        f"{cell.mean_width:.3f}"
    )


def _whole(entries: Sequence[Entry]) -> list[str]:
    """Labels of whole queries over labels of pairs: medians over the values of each catalog."""
    columns = [f"{head}, {pairs}" for head, *_ in COMPARED for pairs in PAIRS]
    lines = ["| catalog | value | " + " | ".join(columns) + " |", "|---" * (2 + len(columns)) + "|"]
    groups = _groups(entries)
    for name in dict.fromkeys(one["catalog"] for one in entries):
        mine = _groups([one for one in entries if one["catalog"] == name])
        groups += [(name, kind, some) for _, kind, some in mine if name != mine[0][0]]
    for catalog, kind, some in groups:
        medians = []
        for _, judge, design in COMPARED:
            for key in (f"{design} {pairs}" for pairs in PAIRS):
                ratios = [one["whole"][judge][key] for one in some if key in one["whole"][judge]]
                medians.append(f"{np.median(ratios):.2f}" if ratios else "")
        lines.append(f"| {catalog} | {kind} | " + " | ".join(medians) + " |")
    return lines


def _groups(entries: Sequence[Entry]) -> list[tuple[str, str, list[Entry]]]:
    """Entries by catalog, without the studio's number, and by kind of value."""
    found: dict[tuple[str, str], list[Entry]] = {}
    for one in entries:
        found.setdefault((one["catalog"].split()[0], KINDS[one["second"] is not None]), []).append(one)
    return [(*key, some) for key, some in found.items()]
