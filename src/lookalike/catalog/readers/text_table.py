"""A table as text, whatever it came as: CSV and its kin, Parquet, polars, pandas, Arrow, a mapping."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from lookalike.catalog.readers.delimited import Records, read_records
from lookalike.core.errors import CatalogError
from lookalike.core.text import plural, quoted

DELIMITED = (".csv", ".tsv", ".tab", ".txt", ".psv")
PARQUET = (".parquet", ".pq")


@dataclass(frozen=True, eq=False)
class TextTable:
    """Columns of text of one length, by name without outer spaces; a null is "".

    `lines` is where each row begins in the file, None where rows have no lines. `folder` is where the
    table lies, None for one in memory.
    """

    columns: Mapping[str, list[str]]
    source: str
    lines: Sequence[int] | None = None
    folder: Path | None = None
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def at(self, rows: Sequence[int], most: int = 5) -> str:
        """Where rows stand, for a message.

        >>> TextTable({}, "a.csv", lines=[2, 3, 5]).at([0, 2]), TextTable({}, "a table").at([4])
        ('lines 2 and 5', 'row 4 (counted from 0)')
        """
        places = [f"{row if self.lines is None else self.lines[row]:,}" for row in rows]
        shown, hidden = places[:most], len(places) - most
        last = [f"{hidden:,} more"] if hidden > 0 else [shown.pop()]
        listed = " and ".join(filter(None, [", ".join(shown), *last]))
        word, counting = ("row", " (counted from 0)") if self.lines is None else ("line", "")
        return f"{word}{'' if len(places) == 1 else 's'} {listed}{counting}"


def as_text_table(table: object, *, wanted: str = "image") -> TextTable:
    """Any table as text: ids stay what they are written as, `007` as well as the integer 7.

    A path is read by its ending: .csv, .tsv, .tab, .txt, .psv or .parquet. In memory: a polars or pandas
    frame, an Arrow table, a mapping of names to values. Whole numbers that a gap turned into floats (7.0
    beside NaN, as pandas holds them) are text without the point. The delimiter of a text file is the one
    under which there is a column `wanted`.
    """
    if isinstance(table, TextTable):
        return table
    if isinstance(table, str | os.PathLike):
        return _from_path(Path(os.path.abspath(table)), wanted)
    names, columns, kind = _columns_of(table)
    cells = _keyed([str(name) for name in names], [_texts(values) for values in columns], f"The {kind}")
    rows = len(next(iter(cells.values()), []))
    return TextTable(cells, f"a {kind} of {plural(rows, 'row')}")


def _from_path(path: Path, wanted: str) -> TextTable:
    ending = path.suffix.lower()
    if not os.path.isfile(path):
        what = "is a folder" if os.path.isdir(path) else "does not exist"
        raise CatalogError(f"{str(path)!r} {what}.", fix="Give a CSV or Parquet file.")
    if ending in PARQUET:
        names, columns, _ = _from_polars(_read_parquet(path))
        cells = _keyed(names, [_texts(values) for values in columns], repr(str(path)))
        return TextTable(cells, str(path), folder=path.parent)
    if ending not in DELIMITED:
        raise CatalogError(
            f"{str(path)!r} ends in {ending or 'nothing'}, which is no table Lookalike reads.",
            fix=f"Save it as CSV with a line of column names. Read are {', '.join(DELIMITED + PARQUET)}.",
        )
    records = read_records(path, wanted)
    cells = _keyed(*_by_column(records), repr(str(path)))
    return TextTable(cells, str(path), records.lines, path.parent, records.notes)


def _by_column(records: Records) -> tuple[list[str], list[list[str]]]:
    """Records turned on their side; a nameless column is dropped if blank, else called by its place."""
    columns = [[row[place] for row in records.rows] for place in range(len(records.header))]
    kept = [place for place, name in enumerate(records.header) if name.strip() or any(columns[place])]
    names = [records.header[place].strip() or f"column {place + 1}" for place in kept]
    return names, [columns[place] for place in kept]


def _keyed(names: Sequence[str], columns: Sequence[list[str]], source: str) -> dict[str, list[str]]:
    """Columns by name, outer spaces aside; two of one name, or of different lengths, are refused."""
    plain = [name.strip() for name in names]
    twice = [name for name in dict.fromkeys(plain) if plain.count(name) > 1]
    lengths = {len(column) for column in columns}
    if twice or len(lengths) > 1:
        what = f"two columns named {quoted(twice)}" if twice else f"columns of {sorted(lengths)} values"
        raise CatalogError(
            f"{source} has {what}.", fix="Give each column a name of its own, and one value for each image."
        )
    return dict(zip(plain, columns, strict=True))


def _columns_of(table: Any) -> tuple[list[Any], list[Iterable[Any]], str]:  # noqa: ANN401 - frames are duck-typed
    if isinstance(table, Mapping):
        return list(table), list(table.values()), "table"
    if hasattr(table, "iloc") and hasattr(table, "isna"):
        return _from_pandas(table)
    if hasattr(table, "collect") and hasattr(table, "lazy"):
        table = table.collect()
    if hasattr(table, "__arrow_c_stream__"):
        return _from_polars(table)
    raise CatalogError(
        f"A {type(table).__name__} is no table Lookalike reads.",
        fix="Give a path, a polars or pandas frame, an Arrow table or a mapping of column names to values.",
    )


def _from_polars(table: Any) -> tuple[list[str], list[Iterable[Any]], str]:  # noqa: ANN401 - polars or Arrow
    import polars

    kind = "data frame" if isinstance(table, polars.DataFrame) else "Arrow table"
    frame = table if isinstance(table, polars.DataFrame) else polars.DataFrame(table)
    return frame.columns, [series.to_list() for series in frame.get_columns()], kind


def _from_pandas(frame: Any) -> tuple[list[Any], list[Iterable[Any]], str]:  # noqa: ANN401 - pandas need not be there
    columns = [frame.iloc[:, place] for place in range(len(frame.columns))]
    gaps = [column.isna().tolist() for column in columns]
    values = [
        [None if gap else value for value, gap in zip(column.tolist(), missing, strict=True)]
        for column, missing in zip(columns, gaps, strict=True)
    ]
    return list(frame.columns), cast("list[Iterable[Any]]", values), "data frame"


def _read_parquet(path: Path) -> Any:  # noqa: ANN401 - polars is imported here only
    import polars

    try:
        with path.open("rb") as file:  # by handle: polars takes [ and * in a path for a pattern
            return polars.read_parquet(file)
    except (polars.exceptions.PolarsError, OSError) as error:
        raise CatalogError(
            f"{str(path)!r} cannot be read as Parquet: {error}.", fix="Write it again, or save it as CSV."
        ) from error


def _texts(values: Iterable[Any]) -> list[str]:
    """Values as text, None and NaN as "".

    >>> _texts(["007", None]), _texts([7, 8]), _texts([7.0, float("nan")]), _texts([7.0])
    (['007', ''], ['7', '8'], ['7', ''], ['7.0'])
    """
    plain = [
        None if isinstance(value, float | np.floating) and np.isnan(value) else value for value in values
    ]
    present = [value for value in plain if value is not None]
    if (
        len(present) < len(plain)
        and present
        and all(isinstance(v, float) and v.is_integer() for v in present)
    ):
        return ["" if value is None else str(int(value)) for value in plain]
    return ["" if value is None else value if type(value) is str else str(value) for value in plain]
