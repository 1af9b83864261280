"""Judges of a workspace: the folder `judges/NAME`, apart from the database with the labels and votes.

judge.json      who judges what; a stopped judge is resumed only by a command with the same settings
pairs.csv       the pairs that were chosen for it, fixed before the first call
calls.jsonl     one line per answer of an endpoint, on the disk when it counts (`store.journal`)
judgments.csv   the scores; written last, and never changed
"""

import csv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from lookalike.core.checks import strings
from lookalike.core.errors import JudgeError
from lookalike.core.json import to_json
from lookalike.core.text import listed
from lookalike.encode.spec import check_name
from lookalike.judge.judgments import Judge, JudgePairs, Judgments
from lookalike.store.disk import disk_errors, lock, make_folder, write_file
from lookalike.store.formats.tables import write_table
from lookalike.store.vectors.models import differences

JUDGES, ABOUT, PAIRS, CALLS, SCORES = "judges", "judge.json", "pairs.csv", "calls.jsonl", "judgments.csv"
NUMBERS = ("score", "flipped")


@dataclass(frozen=True)
class StoredJudge:
    """A judge, and the settings of the command that made it."""

    settings: Mapping[str, Any]
    judge: Judge
    failed: Mapping[str, int] = field(default_factory=dict)


_STORED = TypeAdapter(StoredJudge)


@contextmanager
def judging(workspace: Path, name: str) -> Iterator[Path]:
    """Lock a name, so that one command at a time judges under it; the folder of the judge."""
    folder = workspace / JUDGES / check_name(name)
    with disk_errors("making the folder for judges", folder):
        make_folder(folder)
    with lock(folder.parent, name, f"judge {name}"):
        yield folder


def judge_names(workspace: Path) -> list[str]:
    """The names of the judges that are finished."""
    return sorted(path.parent.name for path in (workspace / JUDGES).glob(f"[!.]*/{SCORES}"))


def read_judge(folder: Path) -> StoredJudge | None:
    """What is known of a judge, finished or not; None for a new one."""
    if not (folder / ABOUT).is_file():
        return None
    with disk_errors("reading a judge", folder / ABOUT):
        content = (folder / ABOUT).read_bytes()
    try:
        return _STORED.validate_json(content)
    except ValidationError:
        raise JudgeError(
            f"{folder / ABOUT} is damaged.", fix="Delete the folder of this judge, or use another --name."
        ) from None


def is_frozen(folder: Path, settings: Mapping[str, Any]) -> bool:
    """Whether a judge is finished. Raises JudgeError for a judge, finished or not, that has other settings."""
    stored = read_judge(folder)
    if stored is None:
        return False
    if changed := differences(stored.settings, settings):
        raise JudgeError(
            f"There is a judge {folder.name!r} already, with other settings: {'; '.join(changed)}.",
            fix="Choose another name with --name NAME. Judgments never change, because draws may depend on them.",
        )
    return (folder / SCORES).is_file()


def begin_judge(folder: Path, stored: StoredJudge, pairs: JudgePairs) -> None:
    """Fix who judges which pairs, before the first call."""
    write_table(_columns(pairs), folder / PAIRS, "pairs")
    _write_about(folder, stored)


def read_pairs(folder: Path) -> JudgePairs:
    """The pairs that were chosen for a judge."""
    return _pairs(_read(folder / PAIRS))


def freeze(folder: Path, settings: Mapping[str, Any], judgments: Judgments) -> None:
    """Write the scores of a judge for good."""
    _write_about(folder, StoredJudge(settings, judgments.judge, judgments.failed))
    columns = _columns(judgments.pairs)
    for name in NUMBERS:
        columns[name] = [None if np.isnan(one) else one for one in getattr(judgments, name).tolist()]
    write_table(columns, folder / SCORES, "judgments")


def read_judgments(workspace: Path, name: str) -> Judgments:
    """The frozen judgments of a judge, by its name."""
    folder = workspace / JUDGES / check_name(name)
    stored = read_judge(folder)
    if stored is None or not (folder / SCORES).is_file():
        known = judge_names(workspace)
        raise JudgeError(
            f"There is no {'' if stored is None else 'finished '}judge {name!r}. Finished: {listed(known) or 'none'}.",
            fix="Name one of these, or finish it with the command that began it.",
        )
    columns = _read(folder / SCORES)
    score, flipped = (
        np.array([float(text or nan) for text in columns[name]], np.float64) for name in NUMBERS
    )
    return Judgments(stored.judge, _pairs(columns), score, flipped, stored.failed)


def _write_about(folder: Path, stored: StoredJudge) -> None:
    write_file(folder / ABOUT, (to_json(stored) + "\n").encode())


def _columns(pairs: JudgePairs) -> dict[str, list[Any]]:
    return {
        "query": pairs.query.tolist(),
        "candidate": pairs.candidate.tolist(),
        "lists": pairs.lists.tolist(),
    }


def _pairs(columns: Mapping[str, list[str]]) -> JudgePairs:
    lists = np.array(columns["lists"], np.int64)
    return JudgePairs(strings(columns["query"]), strings(columns["candidate"]), lists)


def _read(path: Path) -> dict[str, list[str]]:
    """Columns of a table of ours as text. Ids may hold line breaks, and no row is blank."""
    with disk_errors(f"reading {path.name}", path), path.open(encoding="utf-8", newline="") as file:
        names, *rows = csv.reader(file)
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}
