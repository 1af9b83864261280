"""Labels as files: CSV and Parquet with the columns query, candidate, label; TREC qrels; tags of VSD-Fashion."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.catalog.sheet import Sheet, sheet_of
from lookalike.core.errors import LabelsError
from lookalike.core.types import Catalog, Labels, Pool
from lookalike.discover.questions import Questions
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.label_formats import LABEL_STUDIO, QRELS, TABLE, VOTES, VSD, format_in, format_out
from lookalike.store.qrels import UNJUDGED, read_qrels, write_qrels
from lookalike.store.tables import write_table
from lookalike.store.vsd import read_tags, write_tags

COLUMNS = ("query", "candidate", "label")
VALUES = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


@dataclass(frozen=True)
class Fault:
    """Rows of a label file that cannot be used, for one reason."""

    reason: str
    count: int
    where: str


@dataclass(frozen=True, eq=False)
class LabelFile:
    """What a file held: labels that can be used, and rows that cannot.

    `blank` rows have no label yet, `on_left_out` rows are on images that the catalog left out: both are
    passed over. So are the `unjudged` lines of qrels, which say so by a relevance below 0.
    """

    labels: Labels
    faults: tuple[Fault, ...]
    on_left_out: int
    blank: int
    notes: tuple[str, ...]
    unjudged: int = 0


def read_label_file(table: object, catalog: Catalog, format: str | None = None) -> LabelFile:
    """Read labels and hold every row against the catalog. By default `format` is found by its look."""
    on_disk = Path(os.fspath(table)) if isinstance(table, str | os.PathLike) else None
    kind = TABLE if on_disk is None else format_in(on_disk, format)
    if kind in (LABEL_STUDIO, VOTES):
        raise LabelsError(
            f"{on_disk} holds votes, which become labels in a workspace only.",
            fix="Import it there with `lookalike labels import FILE`, then read its labels.",
        )
    if on_disk is not None and kind in (QRELS, VSD):
        sheet, value, wrong = (read_qrels if kind == QRELS else read_tags)(on_disk)
        query, candidate, label = (sheet.columns[name] for name in COLUMNS)
        blank = np.zeros(len(sheet), dtype=bool)
    else:
        sheet = sheet_of(table, wanted="query")
        query, candidate, label = (_column(sheet, name) for name in COLUMNS)
        blank = np.array([not text.strip() for text in label], dtype=bool)
        value = np.array([VALUES.get(text.strip(), UNJUDGED) for text in label], np.int8)
        wrong = [("the label is not 0 or 1", (value == UNJUDGED) & ~blank)]
    pairs = list(zip(query, candidate, strict=True))
    gone = {image.image for image in catalog.left_out}
    left_out = np.array([q in gone or c in gone for q, c in pairs], dtype=bool)
    known = np.array([q in catalog.row and c in catalog.row for q, c in pairs], dtype=bool)
    same = np.array([q == c for q, c in pairs], dtype=bool)
    wrong += [
        ("the catalog has no such image", ~known & ~left_out),
        ("an image is labelled against itself", same),
    ]
    faults, bad = _faults(wrong, sheet, pairs, label)
    unjudged = (value == UNJUDGED) & ~blank & ~bad & ~left_out
    use = np.flatnonzero(~bad & ~left_out & ~blank & ~unjudged)
    labels = Labels.of([query[i] for i in use], [candidate[i] for i in use], value[use])
    passed_over = left_out & ~bad & ~blank
    return LabelFile(
        labels, faults, int(passed_over.sum()), int((blank & ~bad).sum()), sheet.notes, int(unjudged.sum())
    )


def _faults(
    wrong: Sequence[tuple[str, np.ndarray]],
    sheet: Sheet,
    pairs: Sequence[tuple[str, str]],
    label: Sequence[str],
) -> tuple[tuple[Fault, ...], np.ndarray]:
    """Rows at fault, each under the first reason that applies; and all of them."""
    bad, faults = np.zeros(len(sheet), bool), []
    for reason, where in wrong:
        rows = np.flatnonzero(where & ~bad)
        if len(rows):
            at = f"{sheet.at(rows.tolist())} ({_shown(pairs[rows[0]], label[rows[0]])})"
            faults.append(Fault(reason, len(rows), at))
        bad |= where
    return tuple(faults), bad


def require_faultless(file: LabelFile, name: str) -> None:
    """Refuse a file with rows that cannot be used, saying which and why."""
    if file.faults:
        listed = "\n".join(f"  {fault.reason}: {fault.where}" for fault in file.faults)
        count = sum(fault.count for fault in file.faults)
        raise LabelsError(
            f"{name}: {count:,} {'row' if count == 1 else 'rows'} cannot be used, so nothing was imported.\n{listed}",
            fix="Mend those rows, or import the others with --skip-invalid.",
        )


def write_label_file(labels: Labels, path: Path, format: str | None = None) -> None:
    """Write labels in their order; the ending says the format. The same labels give the same bytes."""
    kind = format_out(path, format)
    if kind in (QRELS, VSD):
        (write_qrels if kind == QRELS else write_tags)(labels, path)
        return
    columns = (labels.query.tolist(), labels.candidate.tolist(), labels.label.tolist())
    write_table(dict(zip(COLUMNS, columns, strict=True)), path)


def write_pair_file(asked: Questions, path: Path) -> None:
    """Write pairs with an empty label column to fill in; `labels import` reads the file back.

    It goes to experts, so it says nothing of who put a pair forward: that is in `write_provenance_file`.
    """
    columns = {
        "query": asked.query.tolist(),
        "candidate": asked.candidate.tolist(),
        "label": [""] * len(asked),
        "item": asked.item.tolist(),
    }
    write_table(columns, path)


def write_provenance_file(pool: Pool, drawn: RandomPairs, path: Path) -> None:
    """Write every pair with where it came from, for those who run the labelling and not for those who label.

    `generators` says who put the pair forward and at which place (1 is the best), `random` (1 or 0)
    whether it was drawn at random; a pair can be both.
    """
    named: dict[tuple[str, str], list[str]] = {ends: [] for ends in zip(pool.query, pool.item, strict=True)}
    ends = list(named)
    for pair, source, rank in zip(pool.pair.tolist(), pool.source.tolist(), pool.rank.tolist(), strict=True):
        named[ends[pair]].append(f"{pool.generators[source]}:{rank + 1}")
    at_random = dict(zip(zip(drawn.query, drawn.item, strict=True), drawn.candidate, strict=True))
    photo = at_random | dict(zip(ends, pool.candidate, strict=True))
    listed = [*ends, *(pair for pair in at_random if pair not in named)]
    columns = {
        "query": [query for query, _ in listed],
        "candidate": [photo[pair] for pair in listed],
        "item": [item for _, item in listed],
        "generators": [" ".join(named.get(pair, [])) for pair in listed],
        "random": [int(pair in at_random) for pair in listed],
    }
    write_table(columns, path)


def _column(sheet: Sheet, name: str) -> list[str]:
    for written, values in sheet.columns.items():
        if written.strip().lower() == name:
            return values
    raise LabelsError(
        f"{sheet.source} has no column {name!r}; it has {', '.join(map(repr, sheet.columns)) or 'none'}.",
        fix=f"Labels need the columns {', '.join(COLUMNS)}.",
    )


def _shown(pair: tuple[str, str], label: str) -> str:
    if pair == ("", ""):
        return f"the first: {label!r}"
    return f"the first: query {pair[0]!r}, candidate {pair[1]!r}, label {label!r}"
