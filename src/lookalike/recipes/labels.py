"""`labels`: import, export, statistics."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.core.errors import ArgumentError
from lookalike.core.types import Labels, Rule
from lookalike.rank.pairs import JudgedPairs, Unusable, judged_pairs
from lookalike.recipes.discover import labelled
from lookalike.store.label_files import (
    LabelFile,
    read_label_file,
    require_faultless,
    write_label_file,
)
from lookalike.store.label_formats import QRELS, VSD, format_out
from lookalike.store.qrels import contradicted
from lookalike.store.workspace import Workspace

NONE_LEFT_OUT: tuple[Unusable, ...] = ()


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
    workspace: Workspace,
    table: Path,
    *,
    format: str | None = None,
    skip_invalid: bool = False,
    replace: bool = False,
) -> tuple[LabelFile, int]:
    """Add a file's labels in one step; returns what was read and how many labels are new."""
    file = read_label_file(table, workspace.catalog, format)
    if not skip_invalid:
        require_faultless(file, str(table))
    return file, workspace.add_labels(file.labels, str(table), replace=replace)


@dataclass(frozen=True)
class Exported:
    """What an export wrote, and which labels it left out."""

    labels: int
    left_out: tuple[Unusable, ...] = ()


def export_labels(
    workspace: Workspace, path: Path, *, format: str | None = None, level: str | None = None
) -> Exported:
    """Write labels to a CSV, Parquet, TREC qrels or VSD-Fashion file.

    All of them as they came: importing the file again gives the same bytes. Only qrels and tags cannot hold a pair
    with both labels, and leave it out. With `level` the qrels hold what measures at that level use, candidates
    named by item ids at item level.
    """
    written = format_out(path, format)
    if level is not None and written != QRELS:
        raise ArgumentError(
            f"Labels of a level go to TREC qrels, but {path} is to be another format.",
            fix="Name the file labels.qrels, or leave out --level.",
        )
    labels, left_out = workspace.labels(), NONE_LEFT_OUT
    if level is not None:
        labels, left_out = settled(judged_pairs(workspace.catalog, labels, Rule(level=level)))
    elif written in (QRELS, VSD):
        labels, left_out = _one_per_pair(labels)
    write_label_file(labels, path, format)
    return Exported(len(labels), left_out)


def settled(pairs: JudgedPairs) -> tuple[Labels, tuple[Unusable, ...]]:
    """The labels that measures use, candidates named as judged ranks name them; and those left out."""
    return Labels.of(pairs.query, pairs.candidate, pairs.label), pairs.unusable


def _one_per_pair(labels: Labels) -> tuple[Labels, tuple[Unusable, ...]]:
    wrong = contradicted(labels)
    if not wrong.any():
        return labels, ()
    ends = tuple(zip(labels.query[wrong][:5], labels.candidate[wrong][:5], strict=True))
    gone = Unusable("labelled both similar and dissimilar", int(wrong.sum()), ends)
    return Labels.of(labels.query[~wrong], labels.candidate[~wrong], labels.label[~wrong]), (gone,)


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
