"""Cells, rows and columns of every table on the page."""

from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.text import bracketed, plural, value
from lookalike.evaluate.significance.results import ScoreResult


@dataclass(frozen=True)
class ShownCell:
    """One value. `interval` and `count` (over how many it is, where that needs saying) are shown below it.

    `footnote` counts from 1; 0 is none. `caution` says why the value may mislead; "" where it does not.
    """

    text: str
    interval: str = ""
    hover: str = ""
    count: str = ""
    best: bool = False
    footnote: int = 0
    caution: str = ""


@dataclass(frozen=True)
class ShownRow:
    """One line of a table: its name, a note below the name, and its cells."""

    name: str
    note: str
    cells: tuple[ShownCell, ...]


@dataclass(frozen=True)
class ShownColumn:
    """One heading: a name, a note below it, and the number of the measure's explanation (0: none).

    `doubt` says why the measure is not to be trusted here; "" where it is.
    """

    name: str
    note: str = ""
    card: int = 0
    doubt: str = ""


def interval_of(cell: ScoreResult) -> str:
    """The interval of a value as it is written; "" where there is none."""
    around = cell.interval
    return "" if around is None or not cell.is_defined else bracketed(around.low, around.high)


def reason(cell: ScoreResult) -> str:
    """Why a value is undefined, as a sentence part that is never empty."""
    return cell.reason or "No reason was recorded."


def kind(is_generator: bool) -> str:
    """The word that separates generators from the other encoders."""
    return "generator" if is_generator else "not a generator"


def queries_of(count: int) -> str:
    """A number of queries with its noun."""
    return plural(count, "query", "queries")


def highest(cells: Sequence[ScoreResult]) -> str:
    """The highest of some values as it is written; "" where none is above another."""
    known = [cell.value for cell in cells if cell.is_defined]
    return value(max(known)) if known and value(min(known)) != value(max(known)) else ""
