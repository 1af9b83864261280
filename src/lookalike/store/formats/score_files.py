"""Scores of pairs from a file: the columns query, candidate and score."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path

import numpy as np
from jaxtyping import Float64, Shaped

from lookalike.catalog.readers.text_table import as_text_table
from lookalike.core.checks import fingerprint, strings
from lookalike.core.errors import JudgeError
from lookalike.core.types import Catalog

COLUMNS = ("query", "candidate", "score")


@dataclass(frozen=True, eq=False)
class ScoreFile:
    """The rows of a file whose two images the catalog has, as they are; `unknown` rows have others, `blank` no score.

    `version` is a hash of the content.
    """

    query: Shaped[np.ndarray, " rows"]
    candidate: Shaped[np.ndarray, " rows"]
    score: Float64[np.ndarray, " rows"]
    unknown: int
    blank: int
    version: str


def read_scores(path: Path, catalog: Catalog) -> ScoreFile:
    """Read a CSV or Parquet file of scores from 0 to 1."""
    table = as_text_table(path, wanted=COLUMNS[0])
    lower = {name.lower(): values for name, values in table.columns.items()}
    missing = [name for name in COLUMNS if name not in lower]
    if missing:
        raise JudgeError(
            f"{path} has no column {missing[0]!r}.", fix=f"Name the columns {', '.join(COLUMNS)}."
        )
    query, candidate, texts = (lower[name] for name in COLUMNS)
    score = [_number(text) for text in texts]
    wrong = [at for at, one in enumerate(score) if one is not None and not 0 <= one <= 1]
    if wrong:
        raise JudgeError(
            f"A score of {path} is {texts[wrong[0]]!r}, which is not from 0 to 1: {table.at(wrong)}.",
            fix="Scale the scores to 0 (dissimilar) to 1 (similar).",
        )
    known = [a in catalog.row and b in catalog.row for a, b in zip(query, candidate, strict=True)]
    kept = [at for at, one in enumerate(score) if one is not None and known[at]]
    return ScoreFile(
        strings(query[at] for at in kept),
        strings(candidate[at] for at in kept),
        np.array([score[at] for at in kept], np.float64),
        len(known) - sum(known),
        sum(one is None for one in score),
        fingerprint(query, candidate, texts),
    )


def _number(text: str) -> float | None:
    """A number, None for a blank cell, infinity for anything else."""
    if not text.strip():
        return None
    try:
        found = float(text)
    except ValueError:
        return float("inf")
    return found if isfinite(found) else float("inf")
