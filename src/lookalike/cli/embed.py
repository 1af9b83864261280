"""`lookalike embed`."""

import shlex
import time
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, print_json, progress, say
from lookalike.core.errors import ArgumentError


def embed(
    encoder: Annotated[
        list[str],
        typer.Argument(
            help="Encoder strings, e.g. descriptor:color+hog or precomputed:vectors.npy.",
            metavar="ENCODER...",
        ),
    ],
    workspace: WorkspaceOption = Path(),
    name: Annotated[
        str | None, typer.Option(help="Short name of the encoder.", show_default="made from the string")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite the vectors of another encoder of this name.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Turn the catalog's photos into vectors, or take in vectors you have."""
    from lookalike.recipes.embed import embed as make
    from lookalike.store.workspace import Workspace

    if name is not None and len(encoder) > 1:
        raise ArgumentError(
            f"--name {name} goes with one encoder, but {len(encoder)} are given.",
            fix="Embed them one by one.",
        )
    opened = Workspace(workspace)
    told = []
    for text in encoder:
        started = time.monotonic()
        with progress(f"Embedding {text}", quiet=json) as bar:
            made = make(opened, text, name=name, replace=replace, progress=bar)
        rows, dimension = made.vectors.shape
        told.append({"encoder": made.encoder, "spec": made.spec, "images": rows, "dimension": dimension})
        if not json:
            say(
                f"{made.encoder}: {rows:,} vectors of {dimension:,} numbers in {time.monotonic() - started:.1f} s."
            )
    if json:
        print_json({"encoders": told})
        return
    if opened.label_count():
        next_step("lookalike evaluate", workspace=workspace)
    elif len(opened.encoders) > 1:
        next_step(f"lookalike discover --generators {','.join(opened.encoders)} --top 5", workspace=workspace)
    else:
        say("Several encoders make a better pool than one.")
        example = shlex.quote(opened.catalog.image[0])
        next_step(
            "lookalike embed descriptor:hog" if opened.photos else "lookalike embed precomputed:other.npy",
            f"lookalike search {example} --encoder {opened.encoders[0]}",
            workspace=workspace,
        )
