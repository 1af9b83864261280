"""The history of the labelling as a CSV or Parquet file, checked by the rules of its columns when it is read."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lookalike.annotate.protocol import ANSWERS, LABELS, STATES, reason_of
from lookalike.annotate.question import REOPEN, VERDICTS
from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.errors import LabelsError
from lookalike.core.types import Catalog
from lookalike.store.formats.designs import NO_DESIGN, design_from_text
from lookalike.store.formats.tables import write_rows
from lookalike.store.history.rows import (
    CHECK,
    COLUMNS,
    COMMENT,
    DECISION,
    DRAWN,
    EVENTS,
    GOLD,
    NUMBERS,
    PROPOSAL,
    QUESTION,
    SKIP,
    UNDO,
    VOTE,
    Row,
    milliseconds,
    stamp,
)

Pair = tuple[str, str]
NEW = ("reason",)  # columns that files of earlier versions lack
TOKENS = (VOTE, SKIP, UNDO, COMMENT, CHECK)
ALLOWED: Mapping[str, Sequence[str]] = {
    VOTE: ANSWERS,
    PROPOSAL: VERDICTS,
    DECISION: (*VERDICTS, REOPEN),
    CHECK: (*ANSWERS, SKIP),
    GOLD: tuple(LABELS),
}
NEEDED: Mapping[str, Sequence[str]] = {  # numbers that an event cannot do without
    QUESTION: ("needed", "both", "place"),
    DRAWN: ("place",),
    VOTE: ("place", "side", "took"),
    SKIP: ("place", "side", "took"),
    UNDO: ("place", "side", "took"),
    CHECK: ("place", "side", "took", "turn"),
}


@dataclass
class VoteFile:
    """A history as rows: the question of each pair, the designs of drawn pairs, and all events in their order.

    `wrong` has the pairs that cannot be used, each with its first reason and the place in the file. `left_out` are
    pairs with images that the catalog left out. A `borrowed` history has answers only: questions that exist here need
    as many votes as there are then.
    """

    questions: dict[Pair, Row] = field(default_factory=dict)
    events: list[Row] = field(default_factory=list)
    wrong: dict[Pair, tuple[str, str]] = field(default_factory=dict)
    left_out: set[Pair] = field(default_factory=set)
    borrowed: bool = False
    drawn: list[Row] = field(default_factory=list)

    def add(self, row: Row) -> None:
        """Add a row."""
        if row.event == QUESTION:
            self.questions[row.pair] = row
        elif row.event == DRAWN:
            self.drawn.append(row)
        else:
            self.events.append(row)

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
    """Write a history as a whole file. The same history gives the same bytes. Returns the number of rows by event."""
    counted = dict.fromkeys(EVENTS, 0)

    def cells() -> Iterable[tuple[object, ...]]:
        for row in rows:
            counted[row.event] += 1
            yield (row.event, stamp(row.at), *row[2:])

    write_rows(COLUMNS, cells(), path, "votes")
    return counted


def read_votes(path: Path, catalog: Catalog) -> VoteFile:
    """Read a history. A row that cannot be used makes its pair a fault."""
    table = as_text_table(path, wanted="event")
    missing = [name for name in COLUMNS if name not in (*table.columns, *NEW)]
    if missing:
        raise LabelsError(
            f"{path} lacks the columns {', '.join(missing)}.",
            fix="Give a file that `lookalike labels export FILE --format votes` wrote.",
        )
    found = VoteFile()
    gone = {image.image for image in catalog.left_out}
    tokens: set[str] = set()
    names = [name for name in COLUMNS if name in table.columns]
    for at, cells in enumerate(zip(*(table.columns[name] for name in names), strict=True)):
        row, reason = _row(dict(zip(names, cells, strict=True)))
        if row.query in gone or row.candidate in gone:
            found.left_out.add(row.pair)
            continue
        reason = reason or _wrong(row, catalog, found.questions, tokens)
        if row.token:
            tokens.add(row.token)
        if reason:
            found.fault(row, reason, f"{table.at([at])} (query {row.query!r}, candidate {row.candidate!r})")
        else:
            found.add(row)
    return found


def _row(cells: dict[str, str]) -> tuple[Row, str]:
    """A row, and the first reason why its numbers cannot be used ("": they can)."""
    reason = ""
    values: dict[str, Any] = dict(cells)
    for name in NUMBERS:
        text = cells[name].strip().removesuffix(".0")
        values[name] = None
        if text:
            if text.lstrip("-").isdecimal() and len(text) < 16:
                values[name] = int(text)
            else:
                reason = reason or f"{name} is not a whole number"
    values["at"] = None
    if cells["at"].strip():
        try:
            values["at"] = milliseconds(cells["at"].strip())
        except ValueError:
            reason = reason or "at is not a time such as 2026-03-01T12:00:00.000Z"
    return Row(**values), reason


def _wrong(row: Row, catalog: Catalog, asked: Mapping[Pair, Row], tokens: set[str]) -> str:
    """The first reason why a row cannot be used after the rows before it; "" if it can."""
    lacks = [name for name in NEEDED.get(row.event, ()) if getattr(row, name) is None]
    rules = (
        ("the event is not known", row.event not in EVENTS),
        ("the catalog has no such image", row.query not in catalog.row or row.candidate not in catalog.row),
        ("the pair is an image and itself", row.query == row.candidate),
        (f"{' and '.join(lacks)} must be given", bool(lacks)),
        ("a flag is not 0 or 1", not {row.both, row.side, row.label} <= {None, 0, 1}),
        ("a number is below 0", any((getattr(row, name) or 0) < 0 for name in ("needed", "took", "turn"))),
        ("the answer is not one of this event's", row.answer not in ALLOWED.get(row.event, ("",))),
        ("only a vote or a check has a reason", bool(row.reason) and row.event not in (VOTE, CHECK)),
        ("the reason is not one line", row.reason != reason_of(row.reason)),
        ("the token is missing", row.event in TOKENS and not row.token),
        ("an earlier row has the same token", bool(row.token) and row.token in tokens),
        ("the time is missing", row.event not in (QUESTION, DRAWN) and row.at is None),
        ("the annotator is missing", row.event not in (QUESTION, DRAWN, GOLD) and not row.who.strip()),
        (NO_DESIGN, row.event == DRAWN and not _is_design(row.text)),
        ("an earlier question has the same pair", row.event == QUESTION and row.pair in asked),
        ("the pair has no question before it", row.event != QUESTION and row.pair not in asked),
        ("the state is not known", row.event == QUESTION and row.state not in STATES),
    )
    return next((reason for reason, holds in rules if holds), "")


def _is_design(text: str) -> bool:
    try:
        design_from_text(text)
    except ValueError:
        return False
    return True
