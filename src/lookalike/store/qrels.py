"""Labels as TREC qrels: `query iteration document relevance`.

Relevance of 1 or more is similar, 0 dissimilar; below 0 the pair is unjudged, as trec_eval has it. The iteration is
not looked at, and written as 0.
"""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from lookalike.catalog.sheet import Sheet
from lookalike.core.errors import LabelsError
from lookalike.core.types import Labels
from lookalike.store.trec import read_lines, require_fields, write_lines

ENDINGS = (".qrels", ".qrels.gz", ".qrel", ".qrel.gz")
NOT_FOUR = "there are not four fields (query, iteration, document, relevance)"
NO_NUMBER = "the relevance is no whole number"
TWICE = "the pair stands in an earlier line too"
CONTRADICTED = "the pair stands in several lines that contradict each other"
UNJUDGED = -1
_WHOLE = re.compile(r"[+-]?[0-9]{1,18}", re.ASCII)
_LOOKED_AT = 20


def looks_like_qrels(path: Path) -> bool:
    """Whether a file is qrels: by its name, or because its first lines mostly have four fields, the last a number."""
    if path.name.lower().endswith((*ENDINGS, ".gz")):
        return True
    try:
        with path.open("rb") as file:
            start = file.read(16_384).decode("utf-8-sig", "replace")
    except OSError:
        return False  # who reads it as a table will say so
    lines = [line.split() for line in start.split("\n")[:_LOOKED_AT] if line.strip()]
    fit = [len(fields) == 4 and bool(_WHOLE.fullmatch(fields[3])) for fields in lines]
    return 2 * sum(fit) > len(fit)


def read_qrels(path: Path) -> tuple[Sheet, np.ndarray, list[tuple[str, np.ndarray]]]:
    """The lines as a table; each line's label (`UNJUDGED` below 0); and which lines are at fault, by reason."""
    lines = list(read_lines(path, "qrels (query iteration document relevance)", LabelsError))
    ragged = np.array([len(fields) != 4 for _, fields in lines], dtype=bool)
    rows = [fields if len(fields) == 4 else ["", "", "", " ".join(fields)] for _, fields in lines]
    columns = {name: [row[at] for row in rows] for name, at in (("query", 0), ("candidate", 2), ("label", 3))}
    broken = np.array([not _WHOLE.fullmatch(text) for text in columns["label"]], dtype=bool) & ~ragged
    label = np.array(
        [
            0 if wrong else min(max(int(text), UNJUDGED), 1)
            for text, wrong in zip(columns["label"], broken | ragged, strict=True)
        ],
        np.int8,
    )
    twice, contradicted = repeated(columns["query"], columns["candidate"], label, ~ragged & ~broken)
    faults = [(NOT_FOUR, ragged), (NO_NUMBER, broken), (CONTRADICTED, contradicted), (TWICE, twice)]
    return Sheet(columns, str(path), [line for line, _ in lines], path.parent), label, faults


def write_qrels(labels: Labels, path: Path) -> None:
    """Write labels in their order. Each pair may stand there once, and no id may hold white space."""
    require_fields([*labels.query, *labels.candidate], "ids", LabelsError)
    rows = zip(labels.query, labels.candidate, labels.label.tolist(), strict=True)
    write_lines((f"{query} 0 {candidate} {label}" for query, candidate, label in rows), path)


def contradicted(labels: Labels) -> np.ndarray:
    """Which labels stand beside the other label of the same pair: qrels have one line for a pair."""
    return repeated(labels.query, labels.candidate, labels.label, np.ones(len(labels), dtype=bool))[1]


def repeated(
    query: Sequence[str] | np.ndarray,
    candidate: Sequence[str] | np.ndarray,
    label: np.ndarray,
    sound: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Among sound rows: those that say again what an earlier one says, and those another contradicts."""
    again, against = np.zeros(len(label), dtype=bool), np.zeros(len(label), dtype=bool)
    held: dict[tuple[str, str], list[int]] = {}
    for at in np.flatnonzero(sound).tolist():
        held.setdefault((query[at], candidate[at]), []).append(at)
    for rows in held.values():
        if len(rows) > 1:
            differ = len(set(label[rows].tolist())) > 1
            against[rows] = differ
            again[rows[1:]] = not differ
    return again, against
