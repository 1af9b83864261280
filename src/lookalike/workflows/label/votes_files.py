"""The whole history of the labelling as a file, exported and imported."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import VOTE
from lookalike.core.clock import now_ms
from lookalike.core.errors import LabelsError
from lookalike.store.disk import lock
from lookalike.store.formats.label_files import Fault, require_faultless
from lookalike.store.formats.label_formats import LABEL_STUDIO, VOTES, format_in
from lookalike.store.history.label_studio import config_of, read_results, write_tasks
from lookalike.store.history.rows import history
from lookalike.store.history.votes_file import VoteFile, read_votes, write_votes
from lookalike.store.history.votes_import import add_history
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.sql import labelling_schema
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.discover import all_pairs, open_questions
from lookalike.workflows.label.labelled import judged_labels


@dataclass(frozen=True)
class ImportedVotes:
    """The result of an import of votes: what was added, and what was left out and why."""

    votes: int
    new_questions: int
    changed_questions: int
    resolved_again: int
    new_annotators: tuple[str, ...]
    invalid: tuple[Fault, ...]
    on_left_out_images: int


@dataclass(frozen=True)
class ExportedVotes:
    """The file written, and its rows by event."""

    file: str
    rows: dict[str, int]


@dataclass(frozen=True)
class ExportedTasks:
    """The tasks written for Label Studio, and the file that configures its project.

    `have_votes` is the number of open pairs without a task, because they have votes already.
    """

    file: str
    configuration: str
    tasks: int
    have_votes: int


def export_votes(workspace: Workspace, path: Path) -> dict[str, int]:
    """Write the whole history, as it was at one moment. Returns the number of rows of each event.

    Importing the file into a workspace of the same catalog and exporting there gives the same bytes.
    """
    with workspace.database.read() as connection:
        return write_votes(history(connection), path)


def import_any_votes(
    workspace: Workspace, path: Path, *, format: str | None = None, skip_invalid: bool = False
) -> ImportedVotes | None:
    """Add the votes of a votes file or of results from Label Studio. None if the file has labels."""
    found = format_in(path, format).name
    if found == VOTES:
        return import_votes(workspace, path, skip_invalid=skip_invalid)
    if found == LABEL_STUDIO:
        with workspace.database.read() as connection:
            needed = read_campaign(connection).protocol.votes
        read = read_results(path, workspace.catalog, needed)
        return bring_votes(workspace, read, str(path), skip_invalid=skip_invalid)
    return None


def export_tasks(workspace: Workspace, path: Path, prefix: str) -> ExportedTasks:
    """Write the open pairs without a vote as tasks of Label Studio, in the order of the queue.

    Pairs with a vote wait for other annotators of the app: any number of people in Label Studio would be too many.
    If the queue was never filled, these are the pairs of all pools and the random pairs without a label.
    """
    question, claim = labelling_schema.question, labelling_schema.claim
    with workspace.database.read() as connection:
        count = connection.execute(select(func.count()).select_from(question)).scalar_one()
        voted = select(claim.c.question).where(claim.c.kind == VOTE)
        has_vote = question.c.id.in_(voted)
        listed = select(question.c.query, question.c.candidate, has_vote).where(question.c.state == OPEN)
        found = connection.execute(listed.order_by(question.c.place, question.c.id)).all()
    waiting = [(query, candidate) for query, candidate, is_voted in found if not is_voted]
    have_votes = len(found) - len(waiting)
    pool, drawn = all_pairs(workspace)
    if not count and pool is not None:
        labelled = judged_labels(workspace.catalog, workspace.labels())
        left = open_questions(workspace, pool, drawn, labelled)
        once = {tuple(sorted(ends)): ends for ends in zip(left.query, left.candidate, strict=True)}
        waiting = list(once.values())
    if not waiting:
        raise LabelsError(
            "No pair without votes is open.",
            fix="Label the others with `lookalike serve`."
            if have_votes
            else "Select pairs with `lookalike discover`.",
        )
    tasks = write_tasks(waiting, workspace.catalog, path, prefix)
    return ExportedTasks(str(path), str(config_of(path)), tasks, have_votes)


def import_votes(workspace: Workspace, path: Path, *, skip_invalid: bool = False) -> ImportedVotes:
    """Add the history of a file to that of the workspace: all of it, or nothing if a pair cannot be used.

    `skip_invalid` leaves out such pairs, each with its whole history.
    """
    return bring_votes(workspace, read_votes(path, workspace.catalog), str(path), skip_invalid=skip_invalid)


def bring_votes(workspace: Workspace, file: VoteFile, name: str, *, skip_invalid: bool) -> ImportedVotes:
    """Add a history that was read from a file of any format."""
    if not skip_invalid:
        require_faultless(_faults(file), name, "pair")
    with lock(workspace.folder, "labels", "labels import"), workspace.database.write() as connection:
        added = add_history(connection, file, now_ms())
        faults = _faults(file)
        if not skip_invalid:
            require_faultless(faults, name, "pair")
    return ImportedVotes(
        votes=added.votes,
        new_questions=added.questions,
        changed_questions=added.changed,
        resolved_again=added.resolved_again,
        new_annotators=added.annotators,
        invalid=faults,
        on_left_out_images=len(file.left_out),
    )


def _faults(file: VoteFile) -> tuple[Fault, ...]:
    by_reason: dict[str, list[str]] = {}
    for reason, where in file.wrong.values():
        by_reason.setdefault(reason, []).append(where)
    return tuple(Fault(reason, len(where), first_few(where)) for reason, where in by_reason.items())


def first_few(where: list[str], most: int = 3) -> str:
    """The first few places, and the number of the others.

    >>> first_few(["line 2", "line 3", "line 5", "line 7"])
    'line 2; line 3; line 5 and 1 more'
    """
    more = f" and {len(where) - most:,} more" if len(where) > most else ""
    return "; ".join(where[:most]) + more
