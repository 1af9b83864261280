"""`lookalike labels export`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.errors import ArgumentError
from lookalike.core.text import megabytes, plural
from lookalike.store.formats.label_formats import format_out
from lookalike.store.history.label_studio import config_of
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.labels import Exported, export_labels
from lookalike.workflows.label.votes_files import ExportedTasks, ExportedVotes, export_tasks, export_votes
from lookalike.workflows.release.package import Packed, estimated_size
from lookalike.workflows.release.package import package as write_package

SHOWN = 5  # missing photos


@result(Exported | ExportedVotes | ExportedTasks | Packed)
def export(
    file: Annotated[
        Path,
        typer.Argument(
            help="File to write: .csv, .parquet, .qrels, .qrels.gz or .json. For a package: a folder or .zip.",
            metavar="FILE",
        ),
    ],
    workspace: options.Workspace = HERE,
    format: Annotated[
        options.ExportFormat | None,
        typer.Option(
            help="votes: the whole history of the labelling. label-studio: pairs to label there. package: a release "
            "with photos and a data card.",
            show_default="by the file's name",
        ),
    ] = None,
    level: Annotated[
        options.Level | None,
        typer.Option(
            help="For qrels: only labels that measures at this level use, with the ids of that level's runs.",
            show_default="all labels, by image ids",
        ),
    ] = None,
    image_prefix: Annotated[
        str, typer.Option(help="For label-studio: text before the path of each photo.")
    ] = "/data/local-files/?d=",
    license: Annotated[
        str | None,
        typer.Option(help="For package: CC0-1.0, CC-BY-4.0 or your own text file.", metavar="LICENSE"),
    ] = None,
    names: Annotated[
        bool, typer.Option("--names", help="For package: name the annotators instead of A1, A2, ...")
    ] = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Export labels, votes or a release with photos.

    Importing the exported labels or votes into another workspace and exporting them again gives the same bytes.
    """
    opened = Workspace(workspace)
    if format == "package":
        _package(file, opened, license, names=names, replace=force, json=json)
        if not json:
            next_step("lookalike status", workspace=workspace)
        return
    options.require_new(file, config_of(file) if format == "label-studio" else None, force=force)
    if format == "votes":
        _votes(file, opened, json)
    elif format == "label-studio":
        _tasks(file, opened, image_prefix, json)
        if not json:
            next_step("lookalike labels import results.json", workspace=workspace)
    else:
        _labels(file, opened, format, level, json)


def _labels(
    file: Path, opened: Workspace, format: str | None, level: options.Level | None, json: bool
) -> None:
    done = export_labels(opened, file, format=format, level=level)
    if json:
        print_json(done)
        return
    say(f"Wrote {plural(done.labels, 'label')} to {file}.")
    for part in done.left_out:
        say(f"{plural(part.count, 'label')} left out: {part.reason}.")


def _votes(file: Path, opened: Workspace, json: bool) -> None:
    rows = export_votes(opened, file)
    if json:
        print_json(ExportedVotes(str(file), rows))
        return
    others = ", ".join(
        f"{count:,} {event}" for event, count in rows.items() if event not in ("question", "vote")
    )
    say(f"Wrote {plural(rows['vote'], 'vote')} on {plural(rows['question'], 'pair')} to {file} ({others}).")
    say(
        "The file names the annotators. A package names them A1, A2, ...: lookalike labels export --format package"
    )


def _tasks(file: Path, opened: Workspace, prefix: str, json: bool) -> None:
    format_out(file, "label-studio")
    done = export_tasks(opened, file, prefix)
    if json:
        print_json(done)
        return
    say(f"Wrote {plural(done.tasks, 'task')} to {file}.")
    if done.have_votes:
        say(f"{plural(done.have_votes, 'open pair')} with votes left out: label them with lookalike serve.")
    say(
        f"In Label Studio, create a project. Paste {config_of(file)} into Labeling Setup > Custom template and import "
        f"{file}. When the labelling is done, export it as JSON or JSON-MIN."
    )


def _package(
    file: Path, opened: Workspace, license: str | None, *, names: bool, replace: bool, json: bool
) -> None:
    if license is None:
        raise ArgumentError(
            "A package needs --license.",
            fix="Name the licence under which you release photos and labels: --license CC0-1.0, --license CC-BY-4.0, "
            "or your own text file.",
        )
    if not json:
        say(f"The photos take about {megabytes(estimated_size(opened))}.")
    with progress("Writing photos", quiet=json) as bar:
        done = write_package(opened, file, license, names=names, replace=replace, progress=bar)
    if json:
        print_json(done)
        return
    say(
        f"Wrote {file} ({megabytes(done.size)}): {plural(done.images, 'photo')} without metadata, "
        f"{plural(done.labels, 'label')}, {plural(done.rows['vote'], 'vote')} by "
        f"{'named annotators' if names else 'annotators A1, A2, ...'}."
    )
    for image, reason in done.missing[:SHOWN]:
        say(f"Missing: {image} ({reason})")
    if len(done.missing) > SHOWN:
        say(f"and {plural(len(done.missing) - SHOWN, 'more photo')}; README.md in the package lists them.")
