"""Labels as files: CSV and Parquet with the columns query, candidate, label."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lookalike.catalog.sheet import Sheet, sheet_of
from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.core.types import Catalog, Labels, Pool
from lookalike.discover.questions import Questions
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.disk import write_file

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
    passed over.
    """

    labels: Labels
    faults: tuple[Fault, ...]
    on_left_out: int
    blank: int
    notes: tuple[str, ...]


def read_label_file(table: object, catalog: Catalog) -> LabelFile:
    """Read labels and hold every row against the catalog."""
    sheet = sheet_of(table, wanted="query")
    query, candidate, label = (_column(sheet, name) for name in COLUMNS)
    gone = {image.image for image in catalog.left_out}
    blank = np.array([not text.strip() for text in label], dtype=bool)
    left_out = np.array([q in gone or c in gone for q, c in zip(query, candidate, strict=True)], dtype=bool)
    known = np.array(
        [q in catalog.row and c in catalog.row for q, c in zip(query, candidate, strict=True)], bool
    )
    value = np.array([VALUES.get(text.strip(), -1) for text in label], np.int8)
    same = np.array([q == c for q, c in zip(query, candidate, strict=True)], bool)
    rules = (
        ("the label is not 0 or 1", (value < 0) & ~blank),
        ("the catalog has no such image", ~known & ~left_out),
        ("an image is labelled against itself", same),
    )
    bad = np.zeros(len(sheet), bool)
    faults = []
    for reason, where in rules:
        rows = np.flatnonzero(where & ~bad)
        if len(rows):
            faults.append(
                Fault(
                    reason,
                    len(rows),
                    f"{sheet.at(rows.tolist())} ({_shown(query, candidate, label, rows[0])})",
                )
            )
        bad |= where
    use = np.flatnonzero(~bad & ~left_out & ~blank)
    labels = Labels.of([query[i] for i in use], [candidate[i] for i in use], value[use])
    passed_over = left_out & ~bad & ~blank
    return LabelFile(labels, tuple(faults), int(passed_over.sum()), int((blank & ~bad).sum()), sheet.notes)


def require_faultless(file: LabelFile, name: str) -> None:
    """Refuse a file with rows that cannot be used, saying which and why."""
    if file.faults:
        listed = "\n".join(f"  {fault.reason}: {fault.where}" for fault in file.faults)
        count = sum(fault.count for fault in file.faults)
        raise LabelsError(
            f"{name}: {count:,} rows cannot be used, so nothing was imported.\n{listed}",
            fix="Mend those rows, or import the others with --skip-invalid.",
        )


def write_label_file(labels: Labels, path: Path) -> None:
    """Write labels in their order; the ending says the format. The same labels give the same bytes."""
    columns = (labels.query.tolist(), labels.candidate.tolist(), labels.label.tolist())
    _write_table(dict(zip(COLUMNS, columns, strict=True)), path)


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
    _write_table(columns, path)


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
    _write_table(columns, path)


def _write_table(columns: Mapping[str, Sequence[object]], path: Path) -> None:
    ending = path.suffix.lower()
    if ending == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_file(path, text.getvalue().encode("utf-8"))
    elif ending == ".parquet":
        import polars

        held = io.BytesIO()
        polars.DataFrame(dict(columns)).write_parquet(held)
        write_file(path, held.getvalue())
    else:
        raise ArgumentError(
            f"{path} ends in {ending or 'nothing'}, which is no format of labels.",
            fix="Use .csv or .parquet.",
        )


def _column(sheet: Sheet, name: str) -> list[str]:
    for written, values in sheet.columns.items():
        if written.strip().lower() == name:
            return values
    raise LabelsError(
        f"{sheet.source} has no column {name!r}; it has {', '.join(map(repr, sheet.columns)) or 'none'}.",
        fix=f"Labels need the columns {', '.join(COLUMNS)}.",
    )


def _shown(query: Sequence[str], candidate: Sequence[str], label: Sequence[str], row: int) -> str:
    return f"the first: query {query[row]!r}, candidate {candidate[row]!r}, label {label[row]!r}"
