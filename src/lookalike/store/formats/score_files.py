"""Scores of pairs from a file: the columns query, candidate and score."""

from math import nan
from pathlib import Path

import numpy as np

from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.checks import fingerprint, strings
from lookalike.core.errors import JudgeError
from lookalike.core.types import Catalog
from lookalike.judge.agreement import SIMILAR_FROM
from lookalike.judge.judgments import Judge, Judgments

COLUMNS = ("query", "candidate", "score")


def read_scores(path: Path, catalog: Catalog, name: str) -> tuple[Judgments, tuple[str, ...]]:
    """The judgments of a CSV or Parquet file of scores from 0 to 1, and notes on rows that are left out.

    A pair in both orders gets the mean of both, and is flipped where they mean different answers. The version is a
    hash of the content.
    """
    table = as_text_table(path, wanted=COLUMNS[0])
    lower = {name.lower(): values for name, values in table.columns.items()}
    missing = [name for name in COLUMNS if name not in lower]
    if missing:
        raise JudgeError(
            f"{path} has no column {missing[0]!r}.", fix=f"Name the columns {', '.join(COLUMNS)}."
        )
    unknown = blank = 0
    found: dict[tuple[str, str], dict[bool, list[float]]] = {}
    for at, (query, candidate, text) in enumerate(zip(*(lower[name] for name in COLUMNS), strict=True)):
        if not text.strip():
            blank += 1
            continue
        score = _number(text)
        if not 0 <= score <= 1:
            raise JudgeError(
                f"A score of {path} is {text!r}, which is not from 0 to 1: {table.at([at])}.",
                fix="Scale the scores to 0 (dissimilar) to 1 (similar).",
            )
        if not (query in catalog.row and candidate in catalog.row):
            unknown += 1
            continue
        forth = query <= candidate
        ends = (query, candidate) if forth else (candidate, query)
        found.setdefault(ends, {}).setdefault(forth, []).append(score)
    if not found:
        raise JudgeError(
            f"No row of {path} has a score for two images of the catalog.",
            fix="Use the image ids of the catalog in the columns query and candidate.",
        )
    means = [[float(np.mean(scores)) for scores in ways.values()] for ways in found.values()]
    flipped = [
        float(len({one >= SIMILAR_FROM for one in ways}) - 1) if len(ways) > 1 else nan for ways in means
    ]
    first, second = map(strings, zip(*found, strict=True))
    judge = Judge(name, "file", path.name, version=fingerprint(*(lower[name] for name in COLUMNS)))
    kinds = ((unknown, "name an image that the catalog does not have"), (blank, "have no score"))
    notes = tuple(f"Rows of {path.name} that {why}, left out: {rows:,}." for rows, why in kinds if rows)
    values, no_lists = np.array([np.mean(ways) for ways in means]), np.zeros(len(found), np.int64)
    return Judgments(judge, first, second, no_lists, values, np.array(flipped)), notes


def _number(text: str) -> float:
    """A number, NaN for anything else."""
    try:
        return float(text)
    except ValueError:
        return nan
