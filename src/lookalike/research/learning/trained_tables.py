"""The papers' tables of training on a workspace: their cells, what is trained of them, and ours from what is there."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lookalike.api.finetune import require_learning
from lookalike.core.errors import ArgumentError, LabelsError, LearningError
from lookalike.core.progress import Progress
from lookalike.core.text import listed, plural
from lookalike.encode.spec import NETWORKS, parse
from lookalike.research.learning.cells import Cell, TrainedCell, cells_of, learned_of, stopped_by, train_cells
from lookalike.research.learning.methods import ABLATION, TABLES, Method, ablation, method
from lookalike.research.learning.tables import ablation_table, measured, method_table
from lookalike.research.papers.computed import ComputedTable
from lookalike.research.papers.protocol import ReproduceProtocol
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.finetune import TrainingCallbacks

if TYPE_CHECKING:
    from lookalike.research.learning.cost import CellsCost

WHOLE = "network"  # what is trained, as in the papers
WILD = "eds-table-6"
SETTINGS = ("part", "epochs", "batch", "rate", "measure", "keep")  # that a remark names


def table_cells(workspace: Workspace, key: str, protocol: ReproduceProtocol) -> tuple[Cell, ...]:
    """The cells of a table. LearningError: nothing can be trained; EmbeddingsError: an unknown encoder."""
    methods = _methods(key, protocol)
    encoders = _named(protocol.encoders)
    for name in encoders:
        workspace.manifest(name)
    encoders = encoders or _trainable(workspace, methods, protocol)
    if not encoders:
        raise LearningError(
            "No encoder here is a network that can be trained.",
            fix="Embed one, for example: lookalike embed dino. Or train heads: --part head",
        )
    if key == ABLATION:
        if len(encoders) > 1 and protocol.encoders:
            raise ArgumentError(
                f"{key} is of one encoder, but --encoders names {len(encoders)}.", fix="Name one encoder."
            )
        encoders = encoders[:1]
    return cells_of(encoders, methods, protocol.of_cells)


def train_table(
    workspace: Workspace,
    key: str,
    protocol: ReproduceProtocol,
    *,
    device: str = "auto",
    begin: "Callable[[CellsCost], None] | None" = None,
    callbacks: TrainingCallbacks | None = None,
    progress: Progress | None = None,
) -> Iterator[TrainedCell]:
    """Train the cells of a table that are not there yet, one after another. `begin` is called with their cost."""
    require_learning()
    from lookalike.research.learning.cost import cost_of

    cells = table_cells(workspace, key, protocol)
    waiting = [cell for cell in cells if cell.is_trained and isinstance(learned_of(workspace, cell), str)]
    waiting = [replace(cell, settings={"part": WHOLE, **cell.settings}) for cell in waiting]
    cost = cost_of(workspace, waiting, device)
    if begin:
        begin(cost)
    yield from train_cells(workspace, waiting, device=device, callbacks=callbacks, progress=progress)


def learned_table(
    workspace: Workspace,
    key: str,
    protocol: ReproduceProtocol,
    failed: Mapping[str, str],
    progress: Progress | None = None,
) -> ComputedTable | str:
    """VSD Table 2, 3 or 4 from the cells that are there. `failed` says by encoder why a training just failed."""
    if not workspace.label_count():
        raise LabelsError(
            "The workspace has no labels.", fix="Import some: lookalike labels import labels.csv"
        )
    cells = table_cells(workspace, key, protocol)
    known = known_cells(workspace, cells)
    there = [cell for cell in cells if cell.name in known]
    absent = _absent(workspace, key, protocol, cells, failed)
    if not any(cell.is_trained for cell in there):
        return " ".join(absent)
    found = measured(workspace, there, progress)
    remarks = (*_settings(known), *_troubles(workspace, there, known), *absent)
    if key == ABLATION:
        settings = {one.encoder(cells[0].encoder): at for at, one in ablation().items()}
        return ablation_table(found, settings, _chosen(settings, known, cells[0].encoder), remarks)
    return method_table(found, remarks)


def known_cells(workspace: Workspace, cells: Sequence[Cell]) -> dict[str, Mapping[str, Any]]:
    """What the cells that are there were trained with, by encoder."""
    found = ((cell.name, learned_of(workspace, cell)) for cell in cells)
    return {name: learned for name, learned in found if not isinstance(learned, str)}


def remarks_of(
    workspace: Workspace, key: str, protocol: ReproduceProtocol, failed: Mapping[str, str]
) -> tuple[str, ...]:
    """What a table of EDS says of its encoders that were trained without labels; nothing where there are none."""
    if key not in TABLES or not (
        failed or protocol.encoders or _trainable(workspace, _methods(key, protocol), protocol)
    ):
        return ()
    cells = table_cells(workspace, key, protocol)
    known = known_cells(workspace, cells)
    if not (failed or protocol.encoders or any(known.values())):
        return ()
    there = [cell for cell in cells if cell.name in known]
    made = listed([cell.name for cell in there if cell.is_trained])
    return (
        *([f"Trained without labels: {made}."] if made else []),
        *(_seen_queries(workspace) if made and key == WILD else ()),
        *_settings(known),
        *_troubles(workspace, there, known),
        *_absent(workspace, key, protocol, cells, failed),
    )


def _seen_queries(workspace: Workspace) -> tuple[str, ...]:
    """The remark that training reads photos of wild queries, which it does not in the paper."""
    catalog = workspace.catalog
    count = int(np.sum(catalog.is_query("train") & (catalog.role == "query")))
    if not count:
        return ()
    return (
        f"{plural(count, 'wild query is', 'wild queries are')} in the training split: training reads these photos. The "
        "paper trains on items of the gallery. Add wild photos after training, or give them the split test in the "
        "table that `lookalike init` reads.",
    )


def _methods(key: str, protocol: ReproduceProtocol) -> tuple[Method, ...]:
    if key == ABLATION:
        return tuple(ablation().values())
    return tuple(method(name) for name in _named(protocol.methods) or TABLES[key])


def _named(text: str | None) -> list[str]:
    return [name for part in (text or "").split(",") if (name := part.strip())]


def _trainable(workspace: Workspace, methods: Sequence[Method], protocol: ReproduceProtocol) -> list[str]:
    """Encoders that were not made here: networks, or whatever has vectors where heads learn, and those with cells."""
    found = []
    for name in workspace.encoders:
        spec = parse(workspace.manifest(name).spec)
        if spec.source == "checkpoint":
            continue
        whole = (
            spec.source in NETWORKS
            and spec.source != "onnx"
            and not {"layers", "region"} & dict(spec.options).keys()
        )
        cells = cells_of([name], [one for one in methods if one.settings], {})
        if (
            whole
            or protocol.part == "head"
            or any(not isinstance(learned_of(workspace, one), str) for one in cells)
        ):
            found.append(name)
    return found


def _absent(
    workspace: Workspace,
    key: str,
    protocol: ReproduceProtocol,
    cells: Sequence[Cell],
    failed: Mapping[str, str],
) -> tuple[str, ...]:
    """The cells that are missing with their reasons, and the command that trains them."""
    by_reason: dict[str, list[str]] = {}
    for cell in cells:
        learned = learned_of(workspace, cell)
        if isinstance(learned, str):
            by_reason.setdefault(failed.get(cell.name, learned), []).append(cell.name)
    if not by_reason:
        return ()
    words = shlex.join([key, "--train", *protocol.options])
    missing = sum(map(len, by_reason.values()))
    return (
        f"Missing: {plural(missing, 'cell')} of {len(cells):,}.",
        *(f"{listed(names, 12)}: {reason.rstrip('.')}." for reason, names in by_reason.items()),
        f"Train: lookalike reproduce {words}",
    )


def _settings(known: Mapping[str, Mapping[str, Any]]) -> tuple[str, ...]:
    """The settings that the cells were trained with; where they differ, all their values."""
    of = [learned["settings"] for learned in known.values() if learned]
    parts = []
    for name in SETTINGS:
        values = list(dict.fromkeys(str(one.get(name, "head" if name == "part" else None)) for one in of))
        parts.append(f"{name} {' or '.join(values)}")
    return (f"Trained with {', '.join(parts)}.",) if of else ()


def _troubles(
    workspace: Workspace, there: Sequence[Cell], known: Mapping[str, Mapping[str, Any]]
) -> tuple[str, ...]:
    """Cells whose training stopped early or came to nothing."""
    found = {
        cell.name: stopped_by(workspace, cell.name) or str(known[cell.name].get("remark", ""))
        for cell in there
        if cell.is_trained
    }
    return tuple(f"{name}: {what.rstrip('.')}." for name, what in found.items() if what)


def _chosen(
    settings: Mapping[str, tuple[int, float]], known: Mapping[str, Mapping[str, Any]], encoder: str
) -> str:
    """The L and beta with the best measure on the validation split."""
    values = {
        at: float(known[name]["value"])
        for name, at in settings.items()
        if name in known and known[name].get("value") is not None
    }
    if not values:
        return f"{encoder}: no cell has a value on the validation split, so it chooses nothing."
    (longest, beta), best = max(values.items(), key=lambda one: one[1])
    return (
        f"{encoder}: of {plural(len(values), 'cell')}, the validation split chooses L = {longest} and beta = {beta:g}: "
        f"{best:.4f} (lowest: {min(values.values()):.4f})."
    )
