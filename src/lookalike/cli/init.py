"""`lookalike init`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, pairs, print_json, progress, say


def init(
    source: Annotated[
        Path, typer.Argument(help="A folder of photos, or a CSV or Parquet table.", metavar="PHOTOS_OR_TABLE")
    ],
    workspace: WorkspaceOption = Path(),
    images: Annotated[
        Path | None,
        typer.Option(help="Folder the table's paths are relative to.", show_default="the table's folder"),
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            help="How to read a folder: words split, category, item, photo and - joined by /.",
            show_default="by depth",
        ),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option(help="A column under another name: --column image=filename. Repeatable."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the splits and of later samples.", min=0)] = 0,
    max_megapixels: Annotated[float, typer.Option(help="Larger photos are left out.")] = 100.0,
    database: Annotated[
        str,
        typer.Option(
            help="postgresql://user@host/name, for a team; the password: ~/.pgpass or PGPASSWORD.",
            show_default="a file in the workspace",
        ),
    ] = "",
    replace: Annotated[bool, typer.Option("--replace", help="Start an existing workspace afresh.")] = False,
    json: JsonOption = False,
) -> None:
    """Read, check and split a catalog: photos in a folder, or a table of them."""
    from lookalike.catalog.duplicates import count_duplicates
    from lookalike.recipes.init import init as make

    with progress("Checking photos", quiet=json) as bar:
        made, reading = make(
            source,
            workspace,
            images=images,
            layout=layout,
            columns=pairs(column, "--column", "image=filename"),
            seed=seed,
            max_megapixels=max_megapixels,
            database=database,
            replace=replace,
            progress=bar,
        )
    catalog = reading.catalog
    if json:
        left_out = [{"image": gone.image, "reason": gone.reason} for gone in catalog.left_out]
        print_json(
            {
                "workspace": str(made.folder),
                "images": len(catalog),
                "items": len(set(catalog.item)),
                "categories": len(set(catalog.category) - {""}),
                "splits": {
                    split: int((catalog.split == split).sum()) for split in ("train", "validation", "test")
                },
                "left_out": left_out,
                "duplicates": vars(count_duplicates(catalog)),
                "notes": list(reading.notes),
            }
        )
        return
    say(*reading.notes)
    say(f"The workspace is {made.folder.resolve()}.")
    if count_duplicates(catalog).photos:
        say("`lookalike status --duplicates` lists the duplicates.")
    next_step(
        "lookalike embed descriptor:color descriptor:hog descriptor:lbp"
        if made.photos
        else "lookalike embed precomputed:vectors.npy --name mine",
        workspace=workspace,
    )
