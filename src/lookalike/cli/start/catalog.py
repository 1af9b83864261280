"""`lookalike catalog add|remove|refresh|export`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.catalog.read import reasons
from lookalike.cli import options
from lookalike.cli.console import lines_of, next_step, pairs, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.cli.start.left_out import print_left_out
from lookalike.core.errors import ArgumentError
from lookalike.core.text import plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.start import catalog as workflow
from lookalike.workflows.start.catalog import Followed
from lookalike.workflows.start.export import ExportedCatalog, export_catalog, layout_and_file


@result(Followed)
def add(
    source: options.Photos,
    workspace: options.Workspace = HERE,
    images: options.Images = None,
    layout: options.Layout = None,
    column: options.Column = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="Set a column of all added photos, e.g. domain=wild or role=query. Repeatable.",
            metavar="COLUMN=VALUE",
        ),
    ] = None,
    replace: options.Replace = False,
    json: options.Json = False,
) -> None:
    """Add photos to the catalog, or update those that are there.

    A role says what photos are for: query, gallery (candidates) or both.
    """
    values = pairs(value, "--set", "domain=wild") or {}
    with progress("Checking photos", quiet=json) as bar:
        found = workflow.add(
            Workspace(workspace),
            source,
            images=images,
            layout=layout,
            columns=pairs(column, "--column", "image=filename"),
            role=values.pop("role", ""),
            values=values,
            replace=replace,
            progress=bar,
        )
    _print(found, workspace, json=json)


@result(Followed)
def remove(
    image: Annotated[list[str] | None, typer.Argument(help="Image ids.", metavar="IMAGE")] = None,
    workspace: options.Workspace = HERE,
    images_file: Annotated[
        Path | None, options.file("--images-file", "Text file with one image id per line.")
    ] = None,
    json: options.Json = False,
) -> None:
    """Remove images from the catalog. The photo files and the labels are kept."""
    listed = [*(image or []), *(lines_of(images_file, "--images-file") if images_file else [])]
    if not listed:
        raise ArgumentError(
            "No image is given.", fix="Give image ids, or a file that lists them: --images-file FILE"
        )
    _print(workflow.remove(Workspace(workspace), listed), workspace, json=json)


@result(Followed)
def refresh(
    workspace: options.Workspace = HERE,
    photos: Annotated[
        Path | None,
        typer.Option(help="The folder of the photos, after it was renamed or moved.", metavar="NEW_FOLDER"),
    ] = None,
    forget: Annotated[
        list[Path] | None,
        typer.Option(help="Remove this added source and its images. Repeatable.", metavar="SOURCE"),
    ] = None,
    json: options.Json = False,
) -> None:
    """Read the sources of the catalog again and apply what changed: new, replaced and deleted photos."""
    with progress("Checking photos", quiet=json) as bar:
        found = workflow.refresh(Workspace(workspace), photos=photos, forget=forget or (), progress=bar)
    _print(found, workspace, json=json)


@result(ExportedCatalog)
def export(
    target: Annotated[
        str,
        typer.Argument(
            help="oml:FILE.csv, the train and validation splits for Open-Metric-Learning; tll-objects:TLL_obj.csv, the "
            "pairs of Totally-Looks-Like without faces.",
            metavar="LAYOUT:FILE",
        ),
    ],
    workspace: options.Workspace = HERE,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write the catalog as a table in a published layout.

    To publish a catalog with its photos and labels, use `labels export --format package`.
    """
    layout, path = layout_and_file(target)
    options.require_new(path, force=force)
    found = export_catalog(Workspace(workspace), layout, path)
    if json:
        print_json(found)
        return
    say(f"Wrote {found.file}: {plural(found.rows, 'row')}.", *found.notes)
    if found.layout == "oml":
        say(f"In Open-Metric-Learning, dataset_root is {found.photos}.")
    next_step("lookalike status", workspace=workspace)


def _print(found: Followed, workspace: Path, *, json: bool) -> None:
    if json:
        print_json(found)
        return
    say(
        f"The catalog now has {plural(found.images, 'image')}: {len(found.added):,} new, "
        f"{len(found.replaced):,} with another photo or box than before, {found.kept:,} with the same ones. "
        f"{plural(len(found.gone), 'image')} removed."
    )
    if found.updated:
        say(f"{plural(found.updated, 'image')} with the same photo got a new item, role or other value.")
    if found.left_out:
        say(f"Left out: {reasons(found.left_out)}.")
        print_left_out(found.left_out, workspace)
    if found.pairs_gone:
        say(f"{plural(found.pairs_gone, 'pair')} with removed images left the pool.")
    if found.labels_gone:
        say(f"{plural(found.labels_gone, 'label')} on removed images: kept, but not used by measures.")
    if found.labels_replaced:
        say(f"{plural(found.labels_replaced, 'label')} on replaced photos: check them again.")
    say(*found.notes, *(f"Warning: {one}" for one in found.warnings))
    if found.stale:
        say(f"Encoders to update: {', '.join(found.stale)}. Only new and replaced photos are computed.")
    next_step("lookalike embed --stale" if found.stale else "lookalike status", workspace=workspace)
