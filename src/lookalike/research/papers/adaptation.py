"""Ours for ADAPT's table and figures: PyTorch is loaded when one is made."""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from lookalike.core.progress import Progress
from lookalike.research.adaptation.protocol import AdaptationProtocol
from lookalike.research.papers.computed import ComputedTable
from lookalike.research.papers.published import published
from lookalike.store.workspace import Workspace

Drawings = Mapping[str, Callable[[], str]]  # by the ending of a file
Built = tuple[ComputedTable, Drawings]
TABLE, CURVES, STRIPS = "adapt-table-1", "adapt-figure-3", "adapt-figure-4"
ADAPTATION_NEEDS = "labelled pairs of left and right images, and encoders"


def _table(workspace: Workspace, protocol: AdaptationProtocol, progress: Progress | None) -> Built:
    from lookalike.research.adaptation import tables

    pairs, found = tables.repeats_of(workspace, protocol, progress)
    return tables.adaptation_table(found, (tables.summary(len(pairs), found, protocol),)), {}


def _curves(workspace: Workspace, protocol: AdaptationProtocol, progress: Progress | None) -> Built:
    from lookalike.research.adaptation import figure, tables

    pairs, found = tables.repeats_of(workspace, protocol, progress)
    made = tables.curve_rows(found, (tables.summary(len(pairs), found, protocol),))
    return made, {".svg": lambda: figure.recall_curves(found, _title(CURVES))}


def _strips(workspace: Workspace, protocol: AdaptationProtocol, progress: Progress | None) -> Built:
    from lookalike.research.adaptation import strips

    found = strips.before_and_after_of(workspace, protocol, progress)
    page = {".html": lambda: strips.strips_page(found, workspace, _title(STRIPS))}
    return strips.rank_table(found, workspace), page


def _title(key: str) -> str:
    table = published(key)
    return f"{table.paper} {table.number}: {table.title}"


ADAPTATION: Mapping[str, Callable[[Workspace, AdaptationProtocol, Progress | None], Built]] = (
    MappingProxyType({TABLE: _table, CURVES: _curves, STRIPS: _strips})
)
