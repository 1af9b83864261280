"""`lookalike init`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import elsewhere, next_step, pairs, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.cli.start.left_out import print_left_out
from lookalike.workflows.start import init as workflow

MaxMegapixels = Annotated[float, typer.Option(help="Leave out larger photos.")]
DatabaseUrl = Annotated[
    str,
    typer.Option(
        help="PostgreSQL database for a team: postgresql://user@host/name. Set the password in ~/.pgpass or "
        "PGPASSWORD.",
        metavar="URL",
        show_default="an SQLite file in the workspace",
    ),
]


@result(workflow.InitSummary)
def init(
    source: options.Photos,
    workspace: options.Workspace = HERE,
    images: options.Images = None,
    layout: options.Layout = None,
    column: options.Column = None,
    seed: options.Seed = 0,
    max_megapixels: MaxMegapixels = 100.0,
    database: DatabaseUrl = "",
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Read a folder or table of photos into a new workspace.

    Photos that cannot be read are left out and listed. Items are assigned to the splits train, validation and test,
    unless the folder or the table names the splits.
    """
    with progress("Checking photos", quiet=json) as bar:
        made, reading = workflow.init(
            source,
            workspace,
            images=images,
            layout=layout,
            columns=pairs(column, "--column", "image=filename"),
            seed=seed,
            max_megapixels=max_megapixels,
            database=database,
            replace=overwrite,
            progress=bar,
        )
    found = workflow.summary(made, reading)
    if json:
        print_json(found)
        return
    print_summary(found, workspace, photos=made.photos is not None)


def print_summary(found: workflow.InitSummary, workspace: Path, *, photos: bool) -> None:
    """What a new workspace holds, and what comes next."""
    say(*found.notes)
    print_left_out(found.left_out, workspace)
    say(f"Workspace: {workspace.resolve()}", *(f"Warning: {one}" for one in found.warnings))
    if found.duplicates.photos:
        say(f"To list the duplicates: lookalike status --duplicates{elsewhere(workspace)}")
    next_step(
        "lookalike embed descriptor:color descriptor:hog descriptor:lbp"
        if photos
        else "lookalike embed precomputed:vectors.npy --name mine",
        workspace=workspace,
    )
