"""TREC run files: `query Q0 document rank score tag`, one line per retrieved document; a higher score is better.

As in trec_eval, the score orders the documents. The rank is used for one check only: scores that mostly rise with the
rank are distances.
"""

from array import array
from pathlib import Path

import numpy as np

from lookalike.catalog.readers.text_table import TextTable
from lookalike.core.checks import strings
from lookalike.core.errors import RunError
from lookalike.core.text import plural
from lookalike.rank.runs import NOT_RETRIEVED, Run
from lookalike.store.formats.trec import WHOLE, read_lines, require_fields, stem, write_lines

NOT_SIX = "there are not six fields (query, Q0, document, rank, score, tag)"
NO_RANK = "the rank is not a whole number"
NO_SCORE = "the score is not a finite number"
TWICE = "an earlier line of the query has the same document"


def read_run(path: str | Path) -> Run:
    """A run from a TREC run file, plain or gzip. Its name is the tag, or the name of a file with several tags.

    Raises RunError for a file with faults, with a list of the lines.
    """
    path = Path(path)
    ids: dict[str, int] = {}
    query, candidate, rank, line = (array("q") for _ in range(4))
    score = array("d")
    tags: set[str] = set()
    wrong: dict[str, list[tuple[int, str]]] = {}
    for at, fields in read_lines(path, "a run (query Q0 document rank score tag)", RunError):
        if fault := _fault(fields):
            wrong.setdefault(fault, []).append((at, " ".join(fields)))
            continue
        query.append(ids.setdefault(fields[0], len(ids)))
        candidate.append(ids.setdefault(fields[2], len(ids)))
        rank.append(int(fields[3]))
        score.append(float(fields[4]))
        line.append(at)
        tags.add(fields[5])
    names = strings(ids)
    run = Run(
        tags.pop() if len(tags) == 1 else stem(path),
        names[np.array(query, np.int64)],
        names[np.array(candidate, np.int64)],
        np.array(score, np.float64),
    )
    twice = _repeated(np.array(query, np.int64) * len(ids) + np.array(candidate, np.int64))
    if len(twice):
        wrong[TWICE] = [(line[at], f"{run.query[at]} {run.candidate[at]}") for at in twice.tolist()]
    _require_faultless(wrong, path)
    _require_scores_fall(run, np.array(rank, np.int64), path)
    return run


def _repeated(key: np.ndarray) -> np.ndarray:
    """Rows whose key occurs in an earlier row."""
    again = np.ones(len(key), dtype=bool)
    again[np.unique(key, return_index=True)[1]] = False
    return np.flatnonzero(again)


def write_run(run: Run, path: Path) -> None:
    """Write a run, whose rows are ordered by query, best first. Ranks begin at 1; scores keep the digits of float32."""
    require_fields([*run.query, *run.candidate, run.name], "id", RunError)
    write_lines(_lines(run), path)


def _lines(run: Run) -> list[str]:
    rank, last, lines = 0, None, []
    scores = run.score.astype(np.float32)
    for query, candidate, score in zip(run.query, run.candidate, scores, strict=True):
        rank, last = (rank + 1 if query == last else 1), query
        lines.append(f"{query} Q0 {candidate} {rank} {score!s} {run.name}")
    return lines


def _fault(fields: list[str]) -> str:
    """The reason why a line cannot be used; "" if it can."""
    if len(fields) != 6:
        return NOT_SIX
    if not WHOLE.fullmatch(fields[3]):
        return NO_RANK
    try:
        sound = "_" not in fields[4] and abs(float(fields[4])) < -NOT_RETRIEVED  # NaN is not less either
    except ValueError:
        sound = False
    return "" if sound else NO_SCORE


def _require_faultless(wrong: dict[str, list[tuple[int, str]]], path: Path) -> None:
    if not wrong:
        return
    listed = "\n".join(
        f"  {reason}: {TextTable({}, '', [at for at, _ in lines]).at(range(len(lines)))} (the first: {lines[0][1]!r})"
        for reason, lines in wrong.items()
    )
    count = sum(map(len, wrong.values()))
    raise RunError(
        f"{path}: {plural(count, 'line')} cannot be used, so the run is not scored.\n{listed}",
        fix="Correct those lines: each is `query Q0 document rank score tag`, each document once for a query.",
    )


def _require_scores_fall(run: Run, rank: np.ndarray, path: Path) -> None:
    """Raise RunError if scores mostly rise with the rank."""
    step = (run.query[1:] == run.query[:-1]) & (np.diff(rank) > 0)
    change = np.diff(run.score)
    rising, falling = np.flatnonzero(step & (change > 0)), np.count_nonzero(step & (change < 0))
    if len(rising) > falling:
        at = int(rising[0])
        raise RunError(
            f"{path}: scores rise with the rank (for query {run.query[at]!r} from {run.score[at]} at rank {rank[at]} "
            f"to {run.score[at + 1]} at rank {rank[at + 1]}), but a higher score is better.",
            fix="Write minus the distance as the score. Only scores order the documents.",
        )
