"""`lookalike pca`."""

from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import percent, plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn import pca as workflow


@result(workflow.ReducedEncoder)
def pca(
    encoder: Annotated[
        str, typer.Argument(help="Name of an encoder with vectors in the workspace.", metavar="ENCODER")
    ],
    name: Annotated[str, typer.Option(help="Name of the new encoder.", metavar="NAME")],
    workspace: options.Workspace = HERE,
    dimensions: Annotated[int, typer.Option(help="Dimension of the new vectors.", min=1)] = 256,
    replace: options.Replace = False,
    json: options.Json = False,
) -> None:
    """Reduce the dimension of an encoder's vectors by principal component analysis.

    The components are fitted on the images of the training split, without labels. The result is an encoder like any
    other. Vectors larger than memory are read in parts.
    """
    opened = Workspace(workspace)
    with progress(f"Fitting {name}", quiet=json) as bar:
        found = workflow.pca(opened, encoder, name, dimensions, replace=replace, progress=bar)
    if json:
        print_json(found)
        return
    say(
        f"{name}: {plural(found.dimension, 'dimension')} of {found.base_dimension:,}, fitted on "
        f"{plural(found.images, 'image')} of the training split. Share of their variance: {percent(found.variance)}.",
    )
    if found.dimension < dimensions:
        say(f"{dimensions:,} were requested. {plural(found.images, 'image')} and {encoder} allow no more.")
    say(f"The vectors are in the workspace as {name}. The files are in {found.folder}.")
    next_step(
        f"lookalike evaluate {encoder} {name}"
        if opened.label_count()
        else f"lookalike discover --generators {encoder},{name} --top 5 --queries 200",
        workspace=workspace,
    )
