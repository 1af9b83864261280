"""Columns written as CSV or Parquet; the ending says which."""

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path

from lookalike.core.errors import ArgumentError
from lookalike.store.disk import write_file

ENDINGS = (".csv", ".parquet")


def require_ending(path: Path, what: str, endings: Sequence[str] = ENDINGS) -> None:
    """Refuse a file name whose ending names no format, before any work is done for it."""
    if not path.name.lower().endswith(tuple(endings)):
        listed = f"{', '.join(endings[:-1])} or {endings[-1]}"
        raise ArgumentError(
            f"{path} ends in {path.suffix.lower() or 'nothing'}, which is no format of {what}.",
            fix=f"Use {listed}.",
        )


def write_table(columns: Mapping[str, Sequence[object]], path: Path, what: str = "labels") -> None:
    """Write columns of one length as a whole file; None is an empty cell. The same columns give the same bytes."""
    require_ending(path, what)
    if path.suffix.lower() == ".csv":
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        write_file(path, text.getvalue().encode("utf-8"))
        return
    import polars

    held = io.BytesIO()
    # a column without any value is one of numbers: those of undefined values
    polars.DataFrame(dict(columns)).cast({polars.Null: polars.Float64}).write_parquet(held)
    write_file(path, held.getvalue())
