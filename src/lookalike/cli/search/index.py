"""`lookalike index`."""

from typing import Annotated, Literal

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.errors import ArgumentError
from lookalike.core.text import duration, megabytes, percent, plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.search import index as workflow


@result(workflow.IndexSummary)
def index(
    encoder: Annotated[
        str, typer.Argument(help="Name of an encoder with vectors in the workspace.", metavar="ENCODER")
    ],
    workspace: options.Workspace = HERE,
    engine: Annotated[
        Literal["usearch", "milvus"],
        typer.Option(help="usearch: in this process. milvus: in a Milvus server, by --address."),
    ] = "usearch",
    address: Annotated[
        str,
        typer.Option(help="Address of the Milvus server.", metavar="URL", show_default="none"),
    ] = "",
    recall: Annotated[
        float,
        typer.Option(help="Share of the true 10 nearest items that searches shall find.", min=0.5, max=1.0),
    ] = 0.99,
    update: Annotated[
        bool, typer.Option("--update", help="Add and remove what changed in the catalog, without a rebuild.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Build the search index of an encoder, or update it. Searches use it from then on.

    It pays from about 100,000 images on. The recall is measured with images of the catalog as queries. A token for
    Milvus is read from the variable LOOKALIKE_MILVUS_TOKEN.
    """
    if update and address:
        raise ArgumentError("--update keeps the server of the index.", fix="Leave out --address.")
    opened = Workspace(workspace)
    if update:
        found = workflow.update_index(opened, encoder)
    else:
        with progress(f"Indexing {encoder}", quiet=json) as bar:
            found = workflow.build_index(
                opened,
                encoder,
                engine=engine,
                address=address,
                recall=recall,
                say=(lambda text: None) if json else say,
                progress=bar,
            )
    if json:
        print_json(found)
        return
    if update:
        say(f"{plural(found.added, 'image')} added, {plural(found.removed, 'image')} removed.")
    size = f", {megabytes(found.bytes)} of memory" if found.bytes else ""
    say(
        f"{found.engine} index of {found.encoder}: {plural(found.images, 'image')}, {duration(found.seconds)}{size}. "
        f"Recall {percent(found.measured)} when it was built."
    )
    next_step(f"lookalike search PHOTO --encoder {encoder}", workspace=workspace)
