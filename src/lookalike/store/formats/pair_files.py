"""Pairs to label as files, in which people type labels."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.errors import CatalogError, LabelsError
from lookalike.discover.questions import Questions
from lookalike.store.formats.tables import require_ending, write_table

ENDS, LABEL, ITEM = ("query", "candidate"), "label", "item"
COLUMNS = (*ENDS, LABEL, ITEM)
Row = Mapping[str, str]


@dataclass(frozen=True)
class WrittenPairs:
    """A file of pairs to label: its rows, those that people had typed into, and those that are new."""

    file: str
    rows: int
    typed: int
    new: int


def write_pair_file(asked: Questions, path: Path) -> WrittenPairs:
    """Write pairs with a label column to fill in; `labels import` reads the file back.

    Rows of an earlier file that people typed into are kept: in their place if the pair is still to be labelled, else
    at the top. The file is for annotators, so it does not name generators. `write_provenance_file` does.
    """
    earlier: dict[tuple[str, str], list[Row]] = {}
    for row in earlier_rows(path):
        earlier.setdefault((row["query"], row["candidate"]), []).append(row)
    names = dict.fromkeys([*COLUMNS, *(name for rows in earlier.values() for row in rows for name in row)])
    listed: list[Row] = []
    new = 0
    for query, candidate, item in zip(asked.query, asked.candidate, asked.item, strict=True):
        known = earlier.pop((query, candidate), None)
        new += known is None
        listed += known or [{"query": query, "candidate": candidate, ITEM: item}]
    listed = [row for rows in earlier.values() for row in rows if _is_typed(row)] + listed
    write_table({name: [row.get(name, "") for row in listed] for name in names}, path)
    return WrittenPairs(str(path), len(listed), sum(map(_is_typed, listed)), new)


def earlier_rows(path: Path) -> list[Row]:
    """The rows of a file of pairs that exists. Another file is refused, so that none is lost."""
    require_ending(path, "pairs")
    if not path.is_file() or path.read_bytes().strip() in (b"", ",".join(COLUMNS).encode()):
        return []
    try:
        table = as_text_table(path, wanted="query")
    except CatalogError as error:
        raise _foreign(path, error.problem) from None
    lower = {name: name.lower() for name in table.columns}
    columns = {
        (lower[name] if lower[name] in COLUMNS else name): values for name, values in table.columns.items()
    }
    if missing := [name for name in (*ENDS, LABEL) if name not in columns]:
        raise _foreign(path, f"it has no column {missing[0]!r}")
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _foreign(path: Path, why: str) -> LabelsError:
    return LabelsError(
        f"{path} exists and is not a file of pairs to label: {why}.", fix="Choose another name for the pairs."
    )


def _is_typed(row: Row) -> bool:
    """Whether a row holds more than the pair: a label, or anything in a column of its own."""
    return any(text.strip() for name, text in row.items() if name not in (*ENDS, ITEM))
