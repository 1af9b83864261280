"""`lookalike catalog add|remove|refresh`."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    next_step,
    pairs,
    plural,
    print_json,
    progress,
    say,
)
from lookalike.core.errors import ArgumentError

if TYPE_CHECKING:
    from lookalike.recipes.catalog import Followed

catalog = typer.Typer(help="Add, remove or read again the catalog's images.", no_args_is_help=True)


@catalog.command()
def add(
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
    role: Annotated[
        str | None, typer.Option(help="Role of all of them: query, gallery or both.", show_default="as given")
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option("--set", help="A value for a column of all of them: --set domain=wild. Repeatable."),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let new photos take the place of those with the same ids.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Add photos. Those that are in the catalog already are brought up to date."""
    from lookalike.recipes.catalog import add as make
    from lookalike.store.workspace import Workspace

    with progress("Checking photos", quiet=json) as bar:
        found = make(
            Workspace(workspace),
            source,
            images=images,
            layout=layout,
            columns=pairs(column, "--column", "image=filename"),
            role=role or "",
            values=pairs(value, "--set", "domain=wild"),
            replace=replace,
            progress=bar,
        )
    _tell(found, workspace, json=json)


@catalog.command()
def remove(
    image: Annotated[list[str] | None, typer.Argument(help="Image ids.", metavar="IMAGE...")] = None,
    workspace: WorkspaceOption = Path(),
    images_file: Annotated[Path | None, typer.Option(help="Text file with one image id per line.")] = None,
    json: JsonOption = False,
) -> None:
    """Take images out of the catalog. Their photos stay where they are, and labels about them are kept."""
    from lookalike.recipes.catalog import remove as make
    from lookalike.store.workspace import Workspace

    listed = [*(image or []), *(_lines(images_file) if images_file else [])]
    if not listed:
        raise ArgumentError("No image is named.", fix="Give image ids, or a file of them: --images-file FILE")
    _tell(make(Workspace(workspace), listed), workspace, json=json)


@catalog.command()
def refresh(
    workspace: WorkspaceOption = Path(),
    forget: Annotated[
        list[Path] | None,
        typer.Option(help="A source that was added and is not to be read any more. Repeatable."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Read the catalog's sources again: new photos, changed ones, and those that are gone."""
    from lookalike.recipes.catalog import refresh as make
    from lookalike.store.workspace import Workspace

    with progress("Checking photos", quiet=json) as bar:
        found = make(Workspace(workspace), forget=forget or (), progress=bar)
    _tell(found, workspace, json=json)


def _tell(found: "Followed", workspace: Path, *, json: bool) -> None:
    change = found.change
    if json:
        print_json(
            {
                "images": found.images,
                "added": list(change.added),
                "replaced": list(change.replaced),
                "gone": list(change.gone),
                "updated": change.updated,
                "left_out": [{"image": one.image, "reason": one.reason} for one in found.left_out],
                "stale": list(found.stale),
                "pairs_gone": found.pairs_gone,
                "labels_replaced": found.labels_replaced,
                "labels_gone": found.labels_gone,
                "notes": list(found.notes),
            }
        )
        return
    say(
        f"{plural(found.images, 'image')} now: {len(change.added):,} new, {len(change.replaced):,} replaced, "
        f"{len(change.gone):,} gone, {change.kept:,} with the same photo."
    )
    if change.updated:
        say(f"Of these {change.updated:,} have another item, role or other entry than before.")
    if found.left_out:
        kinds = Counter(one.reason.split(":", 1)[0] for one in found.left_out).most_common()
        listed = ", ".join(f"{count:,} {kind}" for kind, count in kinds)
        first = found.left_out[0]
        say(f"Left out: {listed}. The first is {first.image!r}: {first.reason}.")
    if found.pairs_gone:
        say(f"{plural(found.pairs_gone, 'pair')} of images that are gone left the pool.")
    if found.labels_gone:
        say(f"{plural(found.labels_gone, 'label')} about them are kept, but measures leave them out.")
    if found.labels_replaced:
        say(
            f"{plural(found.labels_replaced, 'label')} are about photos that were replaced: look at them again."
        )
    if found.stale:
        say(f"Stale vectors: {', '.join(found.stale)}. Only new and replaced photos will be computed.")
        next_step("lookalike embed --stale", workspace=workspace)
    else:
        next_step("lookalike status", workspace=workspace)


def _lines(file: Path) -> list[str]:
    try:
        return [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(
            f"--images-file {file} cannot be read: {error}.",
            fix="Give a UTF-8 text file with one image id per line.",
        ) from None
