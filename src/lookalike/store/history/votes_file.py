"""The history of the labelling as a CSV or Parquet file, and such a file held against the rules of its columns."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.annotate.protocol import ANSWERS, LABELS, STATES
from lookalike.annotate.question import REOPEN, VERDICTS
from lookalike.catalog.readers.text_table import sheet_of
from lookalike.core.errors import LabelsError
from lookalike.core.types import Catalog
from lookalike.store.disk import writing
from lookalike.store.formats.tables import require_ending, write_table
from lookalike.store.history.rows import (
    CHECK,
    COLUMNS,
    COMMENT,
    DECISION,
    EVENTS,
    GOLD,
    NUMBERS,
    PROPOSAL,
    QUESTION,
    SKIP,
    VOTE,
    Row,
    milliseconds,
    stamp,
)

Pair = tuple[str, str]
TOKENS = (VOTE, SKIP, "undo", COMMENT, CHECK)
ALLOWED: Mapping[str, Sequence[str]] = {
    VOTE: ANSWERS,
    PROPOSAL: VERDICTS,
    DECISION: (*VERDICTS, REOPEN),
    CHECK: (*ANSWERS, SKIP),
    GOLD: tuple(LABELS),
}
NEEDED: Mapping[str, Sequence[str]] = {  # numbers that an event cannot do without
    QUESTION: ("needed", "both", "place"),
    VOTE: ("place", "side", "took"),
    SKIP: ("place", "side", "took"),
    "undo": ("place", "side", "took"),
    CHECK: ("place", "side", "took", "turn"),
}


@dataclass
class VoteFile:
    """A history that was read: each question's row, all events in their order, and what is wrong with which pair.

    `wrong` has the pairs at fault, each with its first reason and where that stands; `on_left_out` counts questions on
    images that the catalog left out. A `borrowed` history says only who answered what: the questions are those that
    are here.
    """

    questions: dict[Pair, Row] = field(default_factory=dict)
    events: list[Row] = field(default_factory=list)
    wrong: dict[Pair, tuple[str, str]] = field(default_factory=dict)
    on_left_out: int = 0
    borrowed: bool = False

    def fault(self, row: Row, reason: str, where: str) -> None:
        """Note what is wrong with a pair; its first fault counts."""
        self.wrong.setdefault(row.pair, (reason, where))

    def by_pair(self) -> dict[Pair, list[Row]]:
        """The events of each pair, in their order."""
        found: dict[Pair, list[Row]] = {pair: [] for pair in self.questions}
        for row in self.events:
            found[row.pair].append(row)
        return found


def write_votes(rows: Iterable[Row], path: Path) -> dict[str, int]:
    """Write a history as a whole file; returns how many rows of each event. The same history gives the same bytes."""
    require_ending(path, "votes")
    counted = dict.fromkeys(EVENTS, 0)

    def cells() -> Iterable[tuple[object, ...]]:
        for row in rows:
            counted[row.event] += 1
            yield (row.event, stamp(row.at), *row[2:])

    if path.suffix.lower() == ".csv":
        with writing(path) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(cells())
            text.flush()
            text.detach()
    else:
        columns: list[list[Any]] = [[] for _ in COLUMNS]
        for line in cells():
            for column, cell in zip(columns, line, strict=True):
                column.append(cell)
        write_table(dict(zip(COLUMNS, columns, strict=True)), path, "votes")
    return counted


def read_votes(path: Path, catalog: Catalog) -> VoteFile:
    """Read a history; whatever is wrong with one row is a fault of its pair."""
    sheet = sheet_of(path, wanted="event")
    missing = [name for name in COLUMNS if name not in sheet.columns]
    if missing:
        raise LabelsError(
            f"{path} lacks the columns {', '.join(missing)}.",
            fix="Votes are a file that `lookalike labels export FILE --format votes` wrote.",
        )
    found = VoteFile()
    gone = {image.image for image in catalog.left_out}
    passed: set[Pair] = set()
    tokens: set[str] = set()
    for at, cells in enumerate(zip(*(sheet.columns[name] for name in COLUMNS), strict=True)):
        row, reason = _row(dict(zip(COLUMNS, cells, strict=True)))
        if row.query in gone or row.candidate in gone:
            passed.add(row.pair)
            continue
        reason = reason or _wrong(row, catalog, found.questions, tokens)
        if row.token:
            tokens.add(row.token)
        if reason:
            found.fault(row, reason, f"{sheet.at([at])} (query {row.query!r}, candidate {row.candidate!r})")
        elif row.event == QUESTION:
            found.questions[row.pair] = row
        else:
            found.events.append(row)
    found.on_left_out = len(passed)
    return found


def _row(cells: dict[str, str]) -> tuple[Row, str]:
    """A row, and what is wrong with its numbers."""
    reason = ""
    values: dict[str, Any] = dict(cells)
    for name in NUMBERS:
        text = cells[name].strip().removesuffix(".0")
        values[name] = None
        if text:
            if text.lstrip("-").isdecimal() and len(text) < 16:
                values[name] = int(text)
            else:
                reason = reason or f"{name} is no whole number"
    values["at"] = None
    if cells["at"].strip():
        try:
            values["at"] = milliseconds(cells["at"].strip())
        except ValueError:
            reason = reason or "at is no time such as 2026-03-01T12:00:00.000Z"
    return Row(**values), reason


def _wrong(row: Row, catalog: Catalog, asked: Mapping[Pair, Row], tokens: set[str]) -> str:
    """What is wrong with a row on its own, and beside those before it; "" if nothing is."""
    lacks = [name for name in NEEDED.get(row.event, ()) if getattr(row, name) is None]
    rules = (
        ("the event is not known", row.event not in EVENTS),
        ("the catalog has no such image", row.query not in catalog.row or row.candidate not in catalog.row),
        ("an image is asked against itself", row.query == row.candidate),
        (f"{' and '.join(lacks)} must be given", bool(lacks)),
        ("a flag is not 0 or 1", not {row.both, row.side, row.label} <= {None, 0, 1}),
        ("a number is below 0", any((getattr(row, name) or 0) < 0 for name in ("needed", "took", "turn"))),
        ("the answer is not one of this event's", row.answer not in ALLOWED.get(row.event, ("",))),
        ("the token is missing", row.event in TOKENS and not row.token),
        ("the token stands in an earlier row", bool(row.token) and row.token in tokens),
        ("the time is missing", row.event != QUESTION and row.at is None),
        ("the annotator is missing", row.event not in (QUESTION, GOLD) and not row.who.strip()),
        ("the pair stands in an earlier question", row.event == QUESTION and row.pair in asked),
        ("the pair has no question before it", row.event != QUESTION and row.pair not in asked),
        ("the state is not known", row.event == QUESTION and row.state not in STATES),
    )
    return next((reason for reason, holds in rules if holds), "")
