"""The golden files: each table of the papers as printed, checked when it is read."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from statistics import fmean
from typing import Any

from lookalike.core.errors import ArgumentError
from lookalike.core.text import quoted

SOURCES, MEAN = "sources", "mean"
PAPERS = {
    "ADAPT": "Learning an adaptation function to assess image visual similarities (ICIP and ORASIS 2021)",
    "VSD": "Learning and Evaluating Visual Similarity Discovery under Incomplete Labeling",
    "EDS": "Efficient Discovery and Effective Evaluation of Visual Perceptual Similarity (ICCV 2023)",
}


class GoldenError(ValueError):
    """A golden file that contradicts itself: a mistake of ours, never of a user."""


@dataclass(frozen=True)
class PrintedRow:
    """One printed row: the cells that name it, and its figures as printed, one per column."""

    names: tuple[str, ...]
    cells: tuple[str, ...]


@dataclass(frozen=True)
class Note:
    """What to know about a table: a misprint, a trap, a number that cannot be right. `cells`: (row, column)."""

    text: str
    cells: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class DataSource:
    """Data of a paper: its name, what to fetch and where to put it, and what to type then."""

    name: str
    fetch: tuple[str, ...]
    then: tuple[str, ...]
    remark: str


@dataclass(frozen=True)
class PublishedTable:
    """A table as a paper prints it. Levels of a column's head are parted by ` / `.

    `labels` are the heads of the columns that name a row; `alphas` are a figure's curves (VSD Figure 1 prints
    no numbers, so it has no rows). `means` are rows that the paper concludes on and does not print, computed here.
    `ours` are names of encoders here by the paper's names of models, where these differ by more than case.
    """

    key: str
    paper: str
    number: str
    section: str
    title: str
    gist: str
    labels: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[PrintedRow, ...]
    notes: tuple[Note, ...]
    sources: tuple[DataSource, ...]
    means: tuple[PrintedRow, ...] = ()
    alphas: tuple[float, ...] = ()
    ours: Mapping[str, str] = field(default_factory=dict)

    def key_of(self, names: Sequence[str]) -> tuple[str, ...]:
        """What makes rows the same: `dino` is the paper's DINO, `argus-id` its Argus ID, `dinov2` its DINO2.

        >>> published("vsd-table-2").key_of(["DINO2", "SupCon_SPA"])
        ('dinov2', 'supcon_spa')
        """
        known = {_folded(printed): _folded(name) for printed, name in self.ours.items()}
        return tuple(known.get(_folded(name), _folded(name)) for name in names)

    def cell(self, *names: str, column: str) -> str:
        """One figure as printed.

        >>> published("eds-table-3").cell("AS", column="Micro ROC-AUC / AUC")
        '62.6±1.8'
        """
        (row,) = (row for row in self.rows if row.names == names)
        return row.cells[self.columns.index(column)]

    def column(self, column: str) -> dict[tuple[str, ...], str]:
        """One column as printed, by the rows' names."""
        at = self.columns.index(column)
        return {row.names: row.cells[at] for row in self.rows}


def keys() -> tuple[str, ...]:
    """Names of all tables that are here, in the order of the papers."""
    names = (file.name for file in files(__package__).joinpath("golden").iterdir())
    return tuple(
        sorted(
            name.removesuffix(".toml")
            for name in names
            if name.endswith(".toml") and name != f"{SOURCES}.toml"
        )
    )


@cache
def published(key: str) -> PublishedTable:
    """One table as printed. Raises ArgumentError where there is none of that name."""
    if key not in keys():
        raise ArgumentError(
            f"There is no table {key!r}.", fix=f"Name one of these: {quoted(keys(), len(keys()))}."
        )
    return checked(key, _read(key), _sources())


def checked(key: str, given: dict[str, Any], sources: dict[str, DataSource]) -> PublishedTable:
    """A golden file's content as a table. Raises GoldenError where it contradicts itself."""
    labels, columns = tuple(given["labels"]), tuple(given["columns"])
    for row in given["rows"]:
        if len(row) != len(labels) + len(columns) or not all(isinstance(cell, str) and cell for cell in row):
            raise GoldenError(f"{key}: {row} is no row of {len(labels)} + {len(columns)} printed cells.")
    rows = tuple(PrintedRow(tuple(row[: len(labels)]), tuple(row[len(labels) :])) for row in given["rows"])
    names = [row.names for row in rows]
    if len(set(names)) < len(names) or len(set(columns)) < len(columns):
        raise GoldenError(f"{key}: two rows or two columns have one name.")
    if given["paper"] not in PAPERS:
        raise GoldenError(f"{key}: no paper is called {given['paper']}.")
    return PublishedTable(
        key=key,
        **{name: given[name] for name in ("paper", "number", "section", "title", "gist")},
        labels=labels,
        columns=columns,
        rows=rows,
        notes=tuple(_note(key, note, names, columns) for note in given.get("notes", ())),
        sources=tuple(sources[name] for name in given["data"]),
        means=_means(rows, labels.index(given["mean_over"])) if "mean_over" in given else (),
        alphas=tuple(map(float, given.get("alphas", ()))),
        ours=given.get("ours", {}),
    )


def _folded(name: str) -> str:
    return name.casefold().replace(" ", "-")


def _means(rows: Sequence[PrintedRow], over: int) -> tuple[PrintedRow, ...]:
    """The mean of each column over the rows that differ in one name; a dash for scores with a standard deviation."""
    groups: dict[tuple[str, ...], list[tuple[str, ...]]] = {}
    for row in rows:
        groups.setdefault((*row.names[:over], MEAN, *row.names[over + 1 :]), []).append(row.cells)
    return tuple(
        PrintedRow(
            names,
            tuple(
                "-" if "±" in column[0] else f"{fmean(map(float, column)):.2f}"
                for column in zip(*cells, strict=True)
            ),
        )
        for names, cells in groups.items()
    )


def _note(key: str, given: dict[str, Any], names: list[tuple[str, ...]], columns: tuple[str, ...]) -> Note:
    cells = [(tuple(cell[:-1]), cell[-1]) for cell in given.get("cells", ())]
    if missing := [cell for cell in cells if cell[0] not in names or cell[1] not in columns]:
        raise GoldenError(f"{key}: a note is tied to {missing[0]}, which is no cell.")
    return Note(given["text"], tuple((names.index(name), columns.index(column)) for name, column in cells))


@cache
def _sources() -> dict[str, DataSource]:
    return {
        key: DataSource(one["name"], tuple(one["fetch"]), tuple(one["then"]), one["remark"])
        for key, one in _read(SOURCES).items()
    }


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("golden", f"{name}.toml").read_text(encoding="utf-8"))
