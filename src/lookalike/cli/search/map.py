"""`lookalike map`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

from lookalike.cli import options
from lookalike.cli.console import print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.store.formats.tables import require_ending, write_table
from lookalike.store.workspace import Workspace
from lookalike.workflows.explore import colours
from lookalike.workflows.explore.map import make_map, open_map


@dataclass(frozen=True)
class MapResult:
    """The map of an encoder: how it was made, and how many images were placed by their neighbours since."""

    encoder: str
    method: str
    seed: int
    created: str
    images: int
    placed: int
    output: str


@result(MapResult)
def map_(
    encoder: Annotated[str, typer.Argument(help="Name of an encoder in the workspace.", metavar="ENCODER")],
    workspace: options.Workspace = HERE,
    method: Annotated[
        Literal["pca", "umap"] | None,
        typer.Option(
            help="Compute new coordinates: pca in seconds, umap in minutes.", show_default="keep the stored"
        ),
    ] = None,
    seed: options.WorkspaceSeed = None,
    output: Annotated[
        Path | None, options.output("Write image, x, y and groups to this .csv or .parquet file.")
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Place all images in a plane, so that images which look alike to an encoder are close."""
    options.require_new(output, force=force)
    if output is not None:
        require_ending(output, "map")
    opened = Workspace(workspace)
    found = open_map(opened, encoder) if method is None else None
    if found is None:
        chosen = opened.settings.seed if seed is None else seed
        with progress("Computing coordinates", quiet=json):
            found = make_map(opened, encoder, method or "pca", chosen)
    if output is not None:
        groups = {name: _words(call(opened)) for name, call in colours.COLOURS.items()}
        places = {"x": found.places[:, 0].tolist(), "y": found.places[:, 1].tolist()}
        write_table({"image": opened.catalog.image.tolist(), **places, **groups}, output, "map")
    if json:
        made = (found.method, found.seed, found.created, len(found.places), found.placed)
        print_json(MapResult(encoder, *made, "" if output is None else str(output)))
        return
    say(found.state)
    if found.is_stale:
        say("Compute the map again, because it has many new images: add --method umap or --method pca.")
    say(f"Wrote {output}." if output is not None else "To see the map: lookalike serve, then open /map.")


def _words(found: colours.Colouring) -> list[str]:
    return [found.groups[code] for code in found.code.tolist()]
