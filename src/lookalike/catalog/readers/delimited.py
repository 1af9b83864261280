"""CSV and its kin as records of text, with line numbers; encoding and delimiter found out."""

import codecs
import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lookalike.core.errors import CatalogError

if TYPE_CHECKING:
    from _csv import Reader

MOST_COLUMNS = 2_000
DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
MARKS = (  # longest first: the mark of UTF-16 begins that of UTF-32
    (codecs.BOM_UTF32_LE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF32_BE, "utf-32", "UTF-32"),
    (codecs.BOM_UTF8, "utf-8-sig", "UTF-8"),
    (codecs.BOM_UTF16_LE, "utf-16", "UTF-16"),
    (codecs.BOM_UTF16_BE, "utf-16", "UTF-16"),
)


class Records(NamedTuple):
    """A file's header, its rows, all as wide as the header, and the line on which each row begins."""

    header: list[str]
    rows: list[list[str]]
    lines: list[int]
    notes: tuple[str, ...]


def read_records(path: Path, wanted: str = "image") -> Records:
    """A CSV, TSV, semicolon or bar file as text.

    Encoding: by its mark, else UTF-8, else Windows-1252 (Latin-1 where that fails). Delimiter: the one of
    comma, semicolon, tab and bar under which the header has a column `wanted`, else the most columns.
    Rows without any text are no rows. Spaces after delimiters are dropped if all column names have them.
    Raises CatalogError, with line numbers, for a file without rows, rows of another width, loose quotes.
    """
    try:
        text, encoding = decoded(path.read_bytes())
    except (OSError, UnicodeError) as error:
        raise CatalogError(
            f"{str(path)!r} cannot be read: {error}.", fix="Save it as CSV in UTF-8, readable to you."
        ) from error
    if not text.strip() or "\0" in text:
        what = "holds no line of text" if not text.strip() else "is not text: it holds zero bytes"
        raise CatalogError(f"{str(path)!r} {what}.", fix="Save the table as CSV in UTF-8.")
    delimiter = _delimiter(text, wanted)
    columns = text[: text.find("\n")].count(delimiter) + 1 if "\n" in text else 1
    if columns > MOST_COLUMNS:
        raise CatalogError(
            f"{str(path)!r} has {columns:,} columns; more than {MOST_COLUMNS:,} are not read.",
            fix="Keep the columns a catalog needs: image, path, item, category, role, split and a few of yours.",
        )
    (_, header), *rest = list(_records(text, delimiter, path))
    if not rest:
        raise CatalogError(f"{str(path)!r} has column names but no rows.", fix="Add one row for each image.")
    _require_width(header, rest, path)
    notes = [f"The table is not UTF-8: it was read as {encoding}."] if encoding != "UTF-8" else []
    if delimiter != "," and path.suffix.lower() == ".csv":
        notes.append(f"Its fields are separated by {DELIMITERS[delimiter]}.")
    return Records(header, [row for _, row in rest], [line for line, _ in rest], tuple(notes))


def decoded(raw: bytes) -> tuple[str, str]:
    """The text of a file and the name of its encoding.

    >>> decoded("café".encode()), decoded("café".encode("cp1252")), decoded("café".encode("utf-16"))
    (('café', 'UTF-8'), ('café', 'Windows-1252'), ('café', 'UTF-16'))
    """
    for mark, codec, name in MARKS:
        if raw.startswith(mark):
            return raw.decode(codec), name
    for codec, name in (("utf-8", "UTF-8"), ("cp1252", "Windows-1252")):
        try:
            return raw.decode(codec), name
        except UnicodeDecodeError:
            continue
    return raw.decode("latin-1"), "Latin-1"


def _delimiter(text: str, wanted: str) -> str:
    """The delimiter whose header has the wanted column, or the most columns; the earlier one of equals."""

    def fits(delimiter: str) -> tuple[bool, int]:
        nothing: list[str] = []
        try:
            header = next((row for row in _reader(text, delimiter) if _has_text(row)), nothing)
        except csv.Error:
            return False, 0
        return wanted.casefold() in [name.strip().casefold() for name in header], len(header)

    return max(DELIMITERS, key=fits)


def _records(text: str, delimiter: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Records that hold any text, each with the line it begins on; the header is the first."""
    spaced = _is_spaced(text, delimiter)
    reader, begins = _reader(text, delimiter, spaced=spaced), 1
    try:
        for record in reader:
            if _has_text(record):
                yield begins, record
            begins = reader.line_num + 1
    except csv.Error as error:
        raise CatalogError(
            f"{str(path)!r}, line {begins:,}: {error}.",
            fix='Close every quote; write a quote inside a quoted field twice ("").',
        ) from error


def _reader(text: str, delimiter: str, spaced: bool = False) -> "Reader":
    return csv.reader(
        io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=spaced, strict=True
    )


def _is_spaced(text: str, delimiter: str) -> bool:
    """Whether the header is written `a, b, c`."""
    if delimiter == "\t":
        return False
    header = text.lstrip().splitlines()[0].split(delimiter)
    return len(header) > 1 and all(name.startswith(" ") for name in header[1:])


def _has_text(record: Sequence[str]) -> bool:
    return any(field and not field.isspace() for field in record)


def _require_width(header: list[str], rows: Sequence[tuple[int, list[str]]], path: Path) -> None:
    ragged = [(line, len(row)) for line, row in rows if len(row) != len(header)]
    if ragged:
        line, width = ragged[0]
        more = f" ({len(ragged):,} such rows in all)" if len(ragged) > 1 else ""
        raise CatalogError(
            f"{str(path)!r}, line {line:,} has {width} fields where the header has {len(header)}{more}.",
            fix="Put fields that hold the delimiter in double quotes, and give every row all its fields.",
        )
