"""`labels`: import, export, statistics."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.types import Rule
from lookalike.rank.pairs import Unusable, judged_pairs
from lookalike.recipes.discover import labelled
from lookalike.store.label_files import LabelFile, read_label_file, require_faultless, write_label_file
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class LabelStatistics:
    """What labels there are, and which of them no measure can use."""

    labels: int
    similar: int
    dissimilar: int
    queries: int
    per_query: float
    usable: int
    unusable: tuple[Unusable, ...]
    pool_pairs: int | None
    pool_labelled: int | None


def import_labels(
    workspace: Workspace, table: Path, *, skip_invalid: bool = False, replace: bool = False
) -> tuple[LabelFile, int]:
    """Add a file's labels in one step; returns what was read and how many labels are new."""
    file = read_label_file(table, workspace.catalog)
    if not skip_invalid:
        require_faultless(file, str(table))
    return file, workspace.add_labels(file.labels, str(table), replace=replace)


def export_labels(workspace: Workspace, path: Path) -> int:
    """Write all labels to a CSV or Parquet file; importing it again gives the same bytes."""
    labels = workspace.labels()
    write_label_file(labels, path)
    return len(labels)


def label_statistics(workspace: Workspace, level: str = "item") -> LabelStatistics:
    """Counts over all labels, and what is left out of measures at a level, by reason."""
    labels = workspace.labels()
    pairs = judged_pairs(workspace.catalog, labels, Rule(level=level))
    pool = workspace.pool()
    queries = len(set(labels.query))
    similar = int(np.count_nonzero(labels.label))
    return LabelStatistics(
        labels=len(labels),
        similar=similar,
        dissimilar=len(labels) - similar,
        queries=queries,
        per_query=len(labels) / queries if queries else float("nan"),
        usable=len(pairs),
        unusable=pairs.unusable,
        pool_pairs=None if pool is None else len(pool),
        pool_labelled=None if pool is None else labelled(workspace, pool)[0],
    )
