"""Judges of a workspace: the folder `judges/NAME`, apart from the database with the labels and votes.

judge.json      who judges which pairs, fixed before the first call; at the end the scores, which never change
calls.jsonl     one line per answer of an endpoint, on the disk when it counts (`store.journal`)
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError

from lookalike.core.checks import strings
from lookalike.core.errors import JudgeError
from lookalike.core.json import to_json
from lookalike.core.text import listed
from lookalike.encode.spec import check_name
from lookalike.judge.judgments import Judge, Judgments
from lookalike.store.disk import disk_errors, lock, make_folder, write_file
from lookalike.store.vectors.models import differences

JUDGES, ABOUT, CALLS = "judges", "judge.json", "calls.jsonl"
COLUMNS = ("query", "candidate", "lists", "score", "flipped")


@dataclass(frozen=True)
class StoredJudge:
    """A judge with the settings of the command that made it, and its pairs. Only a finished one has judgments."""

    settings: Mapping[str, Any]
    judge: Judge
    finished: bool
    failed: Mapping[str, int]
    query: Sequence[str]
    candidate: Sequence[str]
    lists: Sequence[int]
    score: Sequence[float | None]
    flipped: Sequence[float | None]

    def judgments(self) -> Judgments:
        """The columns as arrays."""
        score, flipped = np.array([self.score, self.flipped], np.float64)
        query, candidate, lists = strings(self.query), strings(self.candidate), np.array(self.lists, np.int64)
        return Judgments(self.judge, query, candidate, lists, score, flipped, self.failed)


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
    stored = {path.parent: read_judge(path.parent) for path in (workspace / JUDGES).glob(f"[!.]*/{ABOUT}")}
    return sorted(folder.name for folder, one in stored.items() if one and one.finished)


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
    return stored.finished


def keep_judge(
    folder: Path, settings: Mapping[str, Any], judgments: Judgments, *, finished: bool = True
) -> None:
    """Write a judge: before its first call with its pairs only, and finished with its scores."""
    columns = {name: getattr(judgments, name).tolist() for name in COLUMNS}
    stored = StoredJudge(settings, judgments.judge, finished, judgments.failed, **columns)
    write_file(folder / ABOUT, (to_json(stored, indent=None) + "\n").encode())


def read_judgments(workspace: Path, name: str) -> Judgments:
    """The frozen judgments of a judge, by its name."""
    stored = read_judge(workspace / JUDGES / check_name(name))
    if stored is None or not stored.finished:
        known = judge_names(workspace)
        raise JudgeError(
            f"There is no {'' if stored is None else 'finished '}judge {name!r}. Finished: {listed(known) or 'none'}.",
            fix="Name one of these, or finish it with the command that began it.",
        )
    return stored.judgments()
