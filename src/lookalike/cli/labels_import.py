"""`lookalike labels import`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, plural, print_json, say
from lookalike.cli.labels_told import LISTED, as_json, tell_unusable

if TYPE_CHECKING:
    from lookalike.recipes.votes_files import ImportedVotes


def import_(
    file: Annotated[
        Path,
        typer.Argument(
            help="Labels or votes: CSV, Parquet, TREC qrels, tags of VSD-Fashion, results of Label Studio."
        ),
    ],
    workspace: WorkspaceOption = Path(),
    format: Annotated[
        str | None,
        typer.Option("--format", help=f"{LISTED}.", show_default="by the file's name and first lines"),
    ] = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Import the rows that can be used.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the labels of the same pairs.")] = False,
    json: JsonOption = False,
) -> None:
    """Add labels from a file, all of them or none."""
    from lookalike.recipes.labels import import_labels, label_statistics
    from lookalike.recipes.votes_files import import_any_votes
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    votes = import_any_votes(opened, file, format=format, skip_invalid=skip_invalid)
    if votes is not None:
        _tell_votes(votes, json, workspace)
        return
    read, added = import_labels(opened, file, format=format, skip_invalid=skip_invalid, replace=replace)
    found = label_statistics(opened)
    if json:
        faults = [
            {"reason": fault.reason, "count": fault.count, "where": fault.where} for fault in read.faults
        ]
        print_json(
            {
                "added": added,
                "already_there": len(read.labels) - added,
                "invalid": faults,
                "on_left_out_images": read.on_left_out,
                "blank": read.blank,
                "unjudged": read.unjudged,
                "labels": found.labels,
                "unusable": as_json(found.unusable),
            }
        )
        return
    say(*read.notes)
    say(f"{added:,} labels added, {len(read.labels) - added:,} were there already; {found.labels:,} in all.")
    if read.blank:
        say(f"{read.blank:,} rows have no label yet.")
    if read.unjudged:
        said, were = ("says", "was") if read.unjudged == 1 else ("say", "were")
        say(f"{plural(read.unjudged, 'line')} {said} unjudged (a relevance below 0) and {were} passed over.")
    if read.on_left_out:
        say(f"{read.on_left_out:,} rows on images that were left out of the catalog were passed over.")
    for fault in read.faults:
        say(f"{fault.count:,} rows passed over, {fault.reason}: {fault.where}")
    tell_unusable(found.unusable)
    next_step("lookalike evaluate" if opened.encoders else "lookalike embed ENCODER", workspace=workspace)


def _tell_votes(done: "ImportedVotes", json: bool, workspace: Path) -> None:
    brought = done.brought
    if json:
        print_json(
            {
                "votes": brought.votes,
                "new_questions": brought.questions,
                "changed_questions": brought.changed,
                "new_annotators": list(brought.annotators),
                "invalid": [vars(fault) for fault in done.faults],
                "on_left_out_images": done.on_left_out,
            }
        )
        return
    say(
        f"{plural(brought.votes, 'vote')} added; {plural(brought.questions, 'question')} new, "
        f"{brought.changed:,} that were here changed."
    )
    if brought.annotators:
        say(f"New annotators, who cannot log in: {', '.join(brought.annotators)}.")
    if done.on_left_out:
        say(f"{plural(done.on_left_out, 'pair')} with images that were left out of the catalog passed over.")
    for fault in done.faults:
        say(f"{plural(fault.count, 'pair')} passed over, {fault.reason}: {fault.where}")
    next_step("lookalike labels stats", workspace=workspace)
