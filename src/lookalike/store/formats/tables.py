"""Tables written as CSV or Parquet, depending on the ending; lists read from JSON."""

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.store.disk import disk_errors, write_file, writing

ENDINGS = (".csv", ".parquet")


def require_ending(path: Path, what: str, endings: Sequence[str] = ENDINGS) -> None:
    """Raise ArgumentError if the ending of a file name is not a format."""
    if not path.name.lower().endswith(tuple(endings)):
        listed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise ArgumentError(
            f"{path} ends in {path.suffix.lower() or 'nothing'}, which is not a format for {what}.",
            fix=f"Use {listed}.",
        )


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """A table as CSV, with a line of headings; None is an empty cell."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def write_table(columns: Mapping[str, Sequence[object]], path: Path, what: str = "labels") -> None:
    """Write columns of one length as a whole file; None is an empty cell. The same columns give the same bytes."""
    write_rows(tuple(columns), zip(*columns.values(), strict=True), path, what)


def write_rows(names: Sequence[str], rows: Iterable[Sequence[object]], path: Path, what: str) -> None:
    """Write rows as a whole file. The rows of a CSV file need not fit in memory."""
    require_ending(path, what)
    if path.suffix.lower() == ".csv":
        with writing(path) as file:
            text = io.TextIOWrapper(file, "utf-8", newline="")
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(names)
            writer.writerows(rows)
            text.detach()
        return
    import polars

    listed, held = list(rows), io.BytesIO()
    columns = {name: [row[at] for row in listed] for at, name in enumerate(names)}
    # a column without any value has undefined numbers only
    polars.DataFrame(columns).cast({polars.Null: polars.Float64}).write_parquet(held)
    write_file(path, held.getvalue())


def read_json(path: Path, what: str) -> list[Any]:
    """A JSON file that is a list."""
    with disk_errors(f"reading {path.name}", path):
        content = path.read_bytes()
    try:
        found = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise LabelsError(
            f"{path} is not valid JSON: {error}.", fix=f"Export the {what} again; the file may be cut short."
        ) from None
    if not isinstance(found, list):
        raise LabelsError(f"{path} is JSON, but not a list of {what}.", fix=f"Give a file of {what}.")
    return found
