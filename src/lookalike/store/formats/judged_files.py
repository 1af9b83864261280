"""Scores and judged ranks as CSV or Parquet, so that measures can be computed anywhere.

Judged ranks stand one row per encoder and pair: every column of `JudgedRanks`, and in every row what they were made
on (`catalog`, `labels`, and the parts of the rule). Reading gives back the same values or refuses: `hash` is of all
rows of an encoder, for ranks that lost or changed a pair are no longer on their basis.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import MISSING, Field, asdict, fields
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.catalog.readers.text_table import Sheet, sheet_of
from lookalike.core.checks import codes, fingerprint, strings
from lookalike.core.errors import LabelsError, NotComparableError
from lookalike.core.types import JUDGED_COLUMNS, Basis, Drawing, JudgedRanks, Rule, Scores
from lookalike.evaluate.significance.intervals import Interval
from lookalike.store.formats.tables import write_table

TEXT = ("query", "candidate")
KINDS = {"score": np.float64, "tolerance": np.float64, "label": np.int8, "drawn": np.int8}
HASH = "hash"
NEGATIVES = "negatives"
Intervals = Mapping[str, Mapping[str, Interval]]  # by encoder and measure


def write_scores(scores: Iterable[Scores], path: Path, intervals: Intervals | None = None) -> None:
    """One row per encoder and measure: its value, queries and reason, then its interval and how it was made.

    `value`, `low` and `high` are empty where undefined; all of an interval is (its `replicates` 0) where none was made.
    """
    listed = [(one.encoder, name, score) for one in scores for name, score in one.scores.items()]
    around = [None if intervals is None else intervals[encoder][name] for encoder, name, _ in listed]
    columns: dict[str, Sequence[object]] = {
        "encoder": [encoder for encoder, _, _ in listed],
        "measure": [score.measure for *_, score in listed],
        "value": [_or_none(score.value) for *_, score in listed],
        "queries": [score.queries for *_, score in listed],
        "reason": [score.reason for *_, score in listed],
        "low": [_or_none(one.low) if one else None for one in around],
        "high": [_or_none(one.high) if one else None for one in around],
        "confidence": [one.level if one else None for one in around],
        "method": [one.method if one else "" for one in around],
        "replicates": [one.replicates if one else 0 for one in around],
        "no_interval": [one.reason if one else "" for one in around],
    }
    write_table(columns, path, "scores")


def _or_none(number: float) -> float | None:
    return None if np.isnan(number) else float(number)


def write_judged_ranks(judged: JudgedRanks | Iterable[JudgedRanks], path: str | Path) -> None:
    """Write judged ranks of one or several encoders to a CSV or Parquet file."""
    listed = [judged] if isinstance(judged, JudgedRanks) else list(judged)
    if any(one.in_list is not None for one in listed):
        raise LabelsError(
            "Judged ranks of level paper have two places for each pair, among images and in the list of items; a "
            "file has one.",
            fix="Write those of level image and those of level item.",
        )
    columns: dict[str, list[object]] = {}
    for one in listed:
        same = {"encoder": one.encoder, "tolerance": one.tolerance, **_flat(one.basis), HASH: _hash(one)}
        _extend(columns, {name: getattr(one, name).tolist() for name in JUDGED_COLUMNS}, same, len(one))
    write_table(columns, Path(path), "judged ranks")


def read_judged_ranks(path: str | Path) -> list[JudgedRanks]:
    """Judged ranks from a CSV or Parquet file, one for each encoder, on the basis they were made on.

    `evaluate` scores them as if they had just been made. Scores come as float64, with the value they had.
    """
    sheet = sheet_of(path, wanted="encoder")
    missing = [
        part.name
        for part in (*fields(JudgedRanks), *fields(Basis), *fields(Rule))
        if _is_required(part) and part.name not in ("basis", "rule") and part.name not in sheet.columns
    ]
    if HASH not in sheet.columns:
        missing.append(HASH)
    if missing:
        raise LabelsError(
            f"{path} has no column {', '.join(map(repr, missing))}.",
            fix="Give a file that write_judged_ranks or `lookalike evaluate --output-judged FILE` wrote.",
        )
    encoders, code = codes(strings(sheet.columns["encoder"]))
    return [
        _one(sheet, str(encoder), np.flatnonzero(code == at), path) for at, encoder in enumerate(encoders)
    ]


def _one(sheet: Sheet, encoder: str, rows: np.ndarray, path: str | Path) -> JudgedRanks:
    """The judged ranks that stand in some rows of a file."""
    taken = {name: [values[row] for row in rows.tolist()] for name, values in sheet.columns.items()}
    constant: dict[str, str] = {}
    for part in (*fields(Basis), *fields(Rule)):
        if part.name in taken:
            constant[part.name] = _constant(part.name, taken, encoder, path)
    columns: dict[str, Any] = {
        name: strings(taken[name]) if name in TEXT else _numbers(name, taken[name], rows, sheet, path)
        for name in JUDGED_COLUMNS
        if name in taken
    }
    if "tolerance" in taken:
        columns["tolerance"] = float(
            _numbers("tolerance", [_constant("tolerance", taken, encoder, path)], rows, sheet, path)[0]
        )
    rule = Rule(**_unflat(Rule, constant))
    judged = JudgedRanks(encoder=encoder, basis=Basis(rule=rule, **_unflat(Basis, constant)), **columns)
    _require_whole(judged, _constant(HASH, taken, encoder, path), path)
    return judged


def _hash(judged: JudgedRanks) -> str:
    return fingerprint(*(getattr(judged, name).tolist() for name in JUDGED_COLUMNS))


def _require_whole(judged: JudgedRanks, written: str, path: str | Path) -> None:
    """Refuse rows that are not those that were written, or that no ranking can give."""
    if _hash(judged) != written:
        raise LabelsError(
            f"{path}: the rows of {judged.encoder} are not those it was written with (their hash is "
            f"{_hash(judged)}, the file says {written!r}).",
            fix="Use the file as it was written: all rows of an encoder, in their order, every digit of its scores.",
        )
    places = (judged.above >= 0) & (judged.tied >= 0) & (judged.above + judged.tied < judged.candidates)
    if not (places.all() and np.isfinite(judged.score).all() and np.isin(judged.label, (0, 1)).all()):
        raise LabelsError(
            f"{path}: {judged.encoder} has rows that no ranking gives: a place outside its candidates, a score "
            "that is no number, or a label other than 0 and 1.",
            fix="Use the file as it was written.",
        )


def _extend(
    columns: dict[str, list[object]],
    rows: Mapping[str, Sequence[object]],
    same: Mapping[str, object],
    count: int,
) -> None:
    columns_of = {"encoder": [same["encoder"]] * count, **rows}
    columns_of |= {name: [value] * count for name, value in same.items() if name != "encoder"}
    for name, values in columns_of.items():
        columns.setdefault(name, []).extend(values)


def _constant(name: str, taken: Mapping[str, list[str]], encoder: str, path: str | Path) -> str:
    values = list(dict.fromkeys(taken[name]))
    if len(values) > 1:
        raise NotComparableError(
            f"{path}: {encoder} stands there on several bases: {name} is {values[0]!r} and {values[1]!r}.",
            fix="Keep results of different labels, catalogs or rules in files of their own.",
        )
    return values[0]


def _numbers(name: str, texts: Sequence[str], rows: np.ndarray, sheet: Sheet, path: str | Path) -> np.ndarray:
    """A column's numbers: scores and tolerances as float64, the label as int8, counts as int64."""
    kind = KINDS.get(name, np.int64)
    convert = float if kind is np.float64 else int
    numbers = []
    for at, text in enumerate(texts):
        try:
            numbers.append(convert(text))
        except ValueError:
            raise LabelsError(
                f"{path}, {sheet.at([int(rows[at])])}: {name} is {text!r}, which is no number it can be.",
                fix="Use the file as it was written.",
            ) from None
    try:
        return np.array(numbers, kind)
    except OverflowError:
        raise LabelsError(
            f"{path}: {name} has numbers too large for it.", fix="Use the file as it was written."
        ) from None


def _flat(basis: Basis) -> dict[str, object]:
    """A basis as columns: its own parts, then the rule's; None is ""."""
    parts = {part.name: getattr(basis, part.name) for part in fields(Basis) if part.name != "rule"}
    parts[NEGATIVES] = json.dumps([asdict(one) for one in basis.negatives]) if basis.negatives else ""
    parts |= {part.name: getattr(basis.rule, part.name) for part in fields(Rule)}
    return {name: "" if value is None else value for name, value in parts.items()}


def _unflat(kind: type[Basis] | type[Rule], texts: Mapping[str, str]) -> dict[str, Any]:
    """The parts of a basis or a rule from their texts, each as the kind of value its default is."""
    return {
        part.name: _value(texts[part.name], None if part.default is MISSING else part.default, part.name)
        for part in fields(kind)
        if part.name in texts and part.name != "rule"
    }


def _value(text: str, default: object, name: str) -> object:
    if name == NEGATIVES:
        return _drawings(text)
    if isinstance(default, bool):
        if text not in ("True", "False", "true", "false"):
            raise LabelsError(f"{name} is {text!r}.", fix="Write True or False.")
        return text.lower() == "true"
    if isinstance(default, int | float):
        return type(default)(text)
    return text or default


def _drawings(text: str) -> tuple[Drawing, ...]:
    """What was drawn, from its JSON; nothing from nothing."""
    try:
        parts = [dict(part) for part in json.loads(text or "[]")]
        return tuple(Drawing(**part | {"baselines": tuple(part["baselines"])}) for part in parts)
    except (ValueError, TypeError, KeyError):
        raise LabelsError(
            f"negatives is {text!r}, which does not say what was drawn.",
            fix="Use the file as it was written.",
        ) from None


def _is_required(part: Field[Any]) -> bool:
    return part.default is MISSING and part.default_factory is MISSING
