"""`lookalike labels export`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, plural, print_json, say
from lookalike.cli.labels_told import LISTED, as_json
from lookalike.core.errors import ArgumentError


def export(
    file: Annotated[
        Path,
        typer.Argument(
            help="Where to write: .csv, .parquet, .qrels, .qrels.gz, .json; of a package a folder or .zip."
        ),
    ],
    workspace: WorkspaceOption = Path(),
    format: Annotated[
        str | None, typer.Option("--format", help=f"{LISTED}.", show_default="by the file's name")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="Of qrels: what measures at item or image level use, in the ids of that level's runs.",
            show_default="all labels, by image ids",
        ),
    ] = None,
    votes: Annotated[
        bool, typer.Option("--votes", help="The whole history of the labelling (--format votes).")
    ] = False,
    image_prefix: Annotated[
        str, typer.Option(help="Of tasks for Label Studio: what comes before a photo's path.")
    ] = "/data/local-files/?d=",
    package: Annotated[
        bool, typer.Option("--package", help="A self-contained release, with photos and a data card.")
    ] = False,
    license: Annotated[
        str | None, typer.Option(help="Of a package: CC0-1.0, CC-BY-4.0 or a text file of your own.")
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="Of a package: annotators by name, not as A1, A2.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Write a package anew.")] = False,
    json: JsonOption = False,
) -> None:
    """Write all labels to a file; importing it elsewhere and exporting again gives the same bytes."""
    if package:
        from lookalike.cli.labels_package import export_package

        export_package(file, workspace, license, names=names, replace=replace, json=json)
    elif votes or format == "votes":
        if format not in (None, "votes"):
            raise ArgumentError(f"--votes are no {format}.", fix="Leave out --format, or --votes.")
        _votes(file, workspace, json)
    elif format == "label-studio":
        _tasks(file, workspace, image_prefix, json)
    else:
        _labels(file, workspace, format, level, json)


def _labels(file: Path, workspace: Path, format: str | None, level: str | None, json: bool) -> None:
    from lookalike.recipes.labels import export_labels
    from lookalike.store.workspace import Workspace

    done = export_labels(Workspace(workspace), file, format=format, level=level)
    if json:
        print_json({"labels": done.labels, "file": str(file), "left_out": as_json(done.left_out)})
        return
    say(f"{done.labels:,} labels written to {file}.")
    for part in done.left_out:
        say(f"{part.count:,} labels left out: {part.reason}.")


def _votes(file: Path, workspace: Path, json: bool) -> None:
    from lookalike.recipes.votes_files import export_votes
    from lookalike.store.workspace import Workspace

    rows = export_votes(Workspace(workspace), file)
    if json:
        print_json({"file": str(file), "rows": rows})
        return
    others = ", ".join(
        f"{count:,} {event}" for event, count in rows.items() if event not in ("question", "vote")
    )
    say(
        f"{plural(rows['question'], 'question')} and {plural(rows['vote'], 'vote')} written to {file} ({others})."
    )
    say("It names the annotators; `labels export --package` writes them as A1, A2.")


def _tasks(file: Path, workspace: Path, prefix: str, json: bool) -> None:
    from lookalike.recipes.votes_files import export_tasks
    from lookalike.store.label_formats import format_out
    from lookalike.store.label_studio import config_of
    from lookalike.store.workspace import Workspace

    format_out(file, "label-studio")
    tasks = export_tasks(Workspace(workspace), file, prefix)
    if json:
        print_json({"file": str(file), "configuration": str(config_of(file)), "tasks": tasks})
        return
    say(f"{plural(tasks, 'task')} written to {file}.")
    say(
        f"In Label Studio: make a project, paste {config_of(file)} into Labeling Setup > Custom template, import "
        f"{file}, and when it is done export as JSON or JSON-MIN."
    )
    next_step("lookalike labels import results.json", workspace=workspace)
