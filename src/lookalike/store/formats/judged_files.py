"""Scores and judged ranks as CSV or Parquet, so that measures can be computed anywhere.

A file of judged ranks has one row per encoder and pair, with every column of `JudgedRanks` and its basis (`catalog`,
`labels`, and the parts of the rule). Reading returns the same values or raises an error: `hash` covers all rows of an
encoder, because ranks with a missing or changed pair no longer have this basis.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from lookalike.catalog.readers.text_table import TextTable, as_text_table
from lookalike.core.checks import codes, fingerprint, strings
from lookalike.core.errors import LabelsError, NotComparableError
from lookalike.core.types import JUDGED_COLUMNS, Basis, JudgedRanks, Rule, Scores
from lookalike.evaluate.significance.intervals import Interval
from lookalike.store.formats.tables import write_rows

TEXT = ("query", "candidate")
KINDS = {"score": np.float64, "tolerance": np.float64, "label": np.int8, "drawn": np.int8}
HASH = "hash"
NEGATIVES = "negatives"
BASIS = (*(part.name for part in fields(Basis) if part.name != "rule"), *(part.name for part in fields(Rule)))
COLUMNS = ("encoder", *JUDGED_COLUMNS, "tolerance", *BASIS, HASH)
SCORE_COLUMNS = (
    *("encoder", "measure", "value", "queries", "reason"),
    *("low", "high", "confidence", "method", "replicates", "no_interval"),
)
_CHECKED_BASIS = TypeAdapter(Basis)
Intervals = Mapping[str, Mapping[str, Interval]]  # by encoder and measure


def write_scores(scores: Iterable[Scores], path: Path, intervals: Intervals | None = None) -> None:
    """Write one row per encoder and measure: value, queries and reason, then the interval and its method.

    An undefined `value`, `low` or `high` is empty. Without an interval its columns are empty and `replicates` is 0.
    """

    def rows() -> Iterator[tuple[object, ...]]:
        for one in scores:
            for name, score in one.scores.items():
                own = (one.encoder, score.measure, _or_none(score.value), score.queries, score.reason)
                if intervals is None:
                    yield (*own, None, None, None, "", 0, "")
                else:
                    around = intervals[one.encoder][name]
                    ends = (_or_none(around.low), _or_none(around.high))
                    yield (*own, *ends, around.level, around.method, around.replicates, around.reason)

    write_rows(SCORE_COLUMNS, rows(), path, "scores")


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def write_judged_ranks(judged: JudgedRanks | Iterable[JudgedRanks], path: str | Path) -> None:
    """Write judged ranks of one or several encoders to a CSV or Parquet file."""
    listed = [judged] if isinstance(judged, JudgedRanks) else list(judged)
    if any(one.in_list is not None for one in listed):
        raise LabelsError(
            "Judged ranks of level paper have two ranks for each pair, and a file has one.",
            fix="Write the judged ranks of level image and of level item.",
        )

    def rows() -> Iterator[tuple[object, ...]]:
        for one in listed:
            same = (one.tolerance, *_flat(one.basis), _hash(one))
            for row in zip(*(getattr(one, name).tolist() for name in JUDGED_COLUMNS), strict=True):
                yield (one.encoder, *row, *same)

    write_rows(COLUMNS, rows(), Path(path), "judged ranks")


def read_judged_ranks(path: str | Path) -> list[JudgedRanks]:
    """Judged ranks from a CSV or Parquet file, one for each encoder, with their basis.

    `evaluate` scores them like new ones. Scores are float64 with the same value.
    """
    table = as_text_table(path, wanted="encoder")
    missing = [name for name in COLUMNS if name not in table.columns]
    if missing:
        raise LabelsError(
            f"{path} has no column {', '.join(map(repr, missing))}.",
            fix="Give a file that write_judged_ranks or `lookalike evaluate --output-judged FILE` wrote.",
        )
    encoders, code = codes(strings(table.columns["encoder"]))
    return [
        _one(table, str(encoder), np.flatnonzero(code == at), path) for at, encoder in enumerate(encoders)
    ]


def _one(table: TextTable, encoder: str, rows: np.ndarray, path: str | Path) -> JudgedRanks:
    """The judged ranks in some rows of a file."""
    taken = {name: [values[row] for row in rows.tolist()] for name, values in table.columns.items()}
    same = {name: _constant(name, taken, encoder, path) for name in ("tolerance", *BASIS, HASH)}
    basis = _basis({name: same[name] for name in BASIS}, path)
    columns: dict[str, Any] = {
        name: strings(taken[name]) if name in TEXT else _numbers(name, taken[name], rows, table, path)
        for name in JUDGED_COLUMNS
    }
    columns["tolerance"] = float(_numbers("tolerance", [same["tolerance"]], rows, table, path)[0])
    judged = JudgedRanks(encoder=encoder, basis=basis, **columns)
    _require_whole(judged, same[HASH], path)
    return judged


def _hash(judged: JudgedRanks) -> str:
    return fingerprint(*(getattr(judged, name).tolist() for name in JUDGED_COLUMNS))


def _require_whole(judged: JudgedRanks, written: str, path: str | Path) -> None:
    """Raise LabelsError for rows that were changed, or that no ranking gives."""
    if _hash(judged) != written:
        raise LabelsError(
            f"{path}: the rows of {judged.encoder} are not those it was written with (their hash is "
            f"{_hash(judged)}, the file says {written!r}).",
            fix="Use the file as it was written: all rows of an encoder, in their order, every digit of its scores.",
        )
    places = (judged.above >= 0) & (judged.tied >= 0) & (judged.above + judged.tied < judged.candidates)
    if not (places.all() and np.isfinite(judged.score).all() and np.isin(judged.label, (0, 1)).all()):
        raise LabelsError(
            f"{path}: {judged.encoder} has rows that no ranking gives: a rank outside its candidates, a score "
            "that is not a number, or a label other than 0 and 1.",
            fix="Use the file as it was written.",
        )


def _constant(name: str, taken: Mapping[str, list[str]], encoder: str, path: str | Path) -> str:
    values = list(dict.fromkeys(taken[name]))
    if len(values) > 1:
        raise NotComparableError(
            f"{path}: {encoder} has several bases: {name} is {values[0]!r} and {values[1]!r}.",
            fix="Write results of different labels, catalogs or rules to separate files.",
        )
    return values[0]


def _numbers(
    name: str, texts: Sequence[str], rows: np.ndarray, table: TextTable, path: str | Path
) -> np.ndarray:
    """A column's numbers: scores and tolerances as float64, the label as int8, counts as int64."""
    kind = KINDS.get(name, np.int64)
    convert = float if kind is np.float64 else int
    numbers = []
    for at, text in enumerate(texts):
        try:
            numbers.append(convert(text))
        except ValueError:
            raise LabelsError(
                f"{path}, {table.at([int(rows[at])])}: {name} is {text!r}, which is not a valid number.",
                fix="Use the file as it was written.",
            ) from None
    try:
        return np.array(numbers, kind)
    except OverflowError:
        raise LabelsError(
            f"{path}: {name} has numbers that are too large.", fix="Use the file as it was written."
        ) from None


def _flat(basis: Basis) -> list[object]:
    """The values of the columns `BASIS`. None is ""."""
    negatives = json.dumps([asdict(one) for one in basis.negatives]) if basis.negatives else ""
    parts = {**vars(basis), **vars(basis.rule), NEGATIVES: negatives}
    return ["" if parts[name] is None else parts[name] for name in BASIS]


def _basis(texts: Mapping[str, str], path: str | Path) -> Basis:
    """A basis from its columns; "" stands for the default."""
    given: dict[str, Any] = {name: text for name, text in texts.items() if text}
    rule = {part.name: given.pop(part.name) for part in fields(Rule) if part.name in given}
    try:
        given[NEGATIVES] = json.loads(given.get(NEGATIVES, "[]"))
        return _CHECKED_BASIS.validate_python({**given, "rule": rule})
    except ValidationError as error:
        name = next(str(part) for part in error.errors()[0]["loc"] if part in texts)
    except ValueError:
        name = NEGATIVES
    raise LabelsError(
        f"{path}: {name} is {texts[name]!r}, which cannot be read.", fix="Use the file as it was written."
    )
