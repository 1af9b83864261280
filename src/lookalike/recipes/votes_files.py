"""`labels export --votes` and its way back: the whole history of the labelling as a file."""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import func, select

from lookalike.annotate.protocol import OPEN
from lookalike.core.errors import LabelsError
from lookalike.discover.questions import questions
from lookalike.recipes.discover import judged_labels
from lookalike.store import votes_schema
from lookalike.store.campaigns import read_campaign
from lookalike.store.disk import lock
from lookalike.store.history import history
from lookalike.store.label_files import Fault
from lookalike.store.label_formats import LABEL_STUDIO, VOTES, format_in
from lookalike.store.label_studio import read_results, write_tasks
from lookalike.store.settling import now_ms
from lookalike.store.votes_file import Pair, VoteFile, read_votes, write_votes
from lookalike.store.votes_import import Brought, bring_in
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class ImportedVotes:
    """What an import of votes did: what came in, what was passed over and why."""

    brought: Brought
    faults: tuple[Fault, ...]
    on_left_out: int


def export_votes(workspace: Workspace, path: Path) -> dict[str, int]:
    """Write the whole history, as it was at one moment; returns how many rows of each event.

    Importing the file into a workspace of the same catalog and exporting there gives the same bytes.
    """
    with workspace.database.read() as connection:
        return write_votes(history(connection), path)


def import_any_votes(
    workspace: Workspace, path: Path, *, format: str | None = None, skip_invalid: bool = False
) -> ImportedVotes | None:
    """Add the votes of a file of votes or of Label Studio's results; None where the file holds labels."""
    found = format_in(path, format)
    if found == VOTES:
        return import_votes(workspace, path, skip_invalid=skip_invalid)
    if found == LABEL_STUDIO:
        with workspace.database.read() as connection:
            needed = read_campaign(connection).protocol.votes
        read = read_results(path, workspace.catalog, needed)
        return bring_votes(workspace, read, str(path), skip_invalid=skip_invalid)
    return None


def export_tasks(workspace: Workspace, path: Path, prefix: str) -> int:
    """Write the pairs that wait for votes as tasks of Label Studio, in the order in which they are asked.

    Where no pair was put into the queue, they are those of the pool and the random ones that have no label yet.
    """
    with workspace.database.read() as connection:
        asked = votes_schema.question
        count = connection.execute(select(func.count()).select_from(asked)).scalar_one()
        listed = select(asked.c.query, asked.c.candidate).where(asked.c.state == OPEN)
        waiting = [(q, c) for q, c in connection.execute(listed.order_by(asked.c.place, asked.c.id))]
    pool = workspace.pool()
    if not count and pool is not None:
        left = questions(pool, workspace.random_pairs(), judged_labels(workspace))
        once = {tuple(sorted(ends)): ends for ends in zip(left.query, left.candidate, strict=True)}
        waiting = list(once.values())
    if not waiting:
        raise LabelsError("No pair waits for votes.", fix="Put pairs forward with `lookalike discover`.")
    return write_tasks(waiting, workspace.catalog, path, prefix)


def import_votes(workspace: Workspace, path: Path, *, skip_invalid: bool = False) -> ImportedVotes:
    """Add the history in a file to the one that is here: all of it, or nothing where a pair is at fault.

    `skip_invalid` passes over the pairs at fault, each with its whole history.
    """
    return bring_votes(workspace, read_votes(path, workspace.catalog), str(path), skip_invalid=skip_invalid)


def bring_votes(workspace: Workspace, file: VoteFile, name: str, *, skip_invalid: bool) -> ImportedVotes:
    """Add a history that was read, from whichever format."""
    if not skip_invalid:
        _require_faultless(_faults(file, {}), name)
    with lock(workspace.folder, "labels", "labels import"), workspace.database.write() as connection:
        brought = bring_in(connection, file, now_ms())
        faults = _faults(file, dict(brought.refusals))
        if not skip_invalid:
            _require_faultless(faults, name)
    return ImportedVotes(brought, faults, file.on_left_out)


def _faults(file: VoteFile, refusals: dict[Pair, str]) -> tuple[Fault, ...]:
    by_reason: dict[str, list[str]] = {}
    for reason, where in file.wrong.values():
        by_reason.setdefault(reason, []).append(where)
    for (low, high), reason in refusals.items():
        by_reason.setdefault(reason, []).append(f"the pair {low!r}, {high!r}")
    return tuple(Fault(reason, len(where), first_few(where)) for reason, where in by_reason.items())


def first_few(where: list[str], most: int = 3) -> str:
    """The first few places, and how many more there are.

    >>> first_few(["line 2", "line 3", "line 5", "line 7"])
    'line 2; line 3; line 5 and 1 more'
    """
    more = f" and {len(where) - most:,} more" if len(where) > most else ""
    return "; ".join(where[:most]) + more


def _require_faultless(faults: tuple[Fault, ...], name: str) -> None:
    if faults:
        listed = "\n".join(f"  {fault.reason}: {fault.where}" for fault in faults)
        count = sum(fault.count for fault in faults)
        raise LabelsError(
            f"{name}: the history of {count:,} {'pair' if count == 1 else 'pairs'} cannot be used, "
            f"so nothing was imported.\n{listed}",
            fix="Mend those rows, or import the other pairs with --skip-invalid.",
        )
