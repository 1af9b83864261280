"""`lookalike search`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, print_json, say, table

WORDS = {1: "similar", 0: "dissimilar", None: "unjudged"}


def search(
    query: Annotated[
        str, typer.Argument(help="An image id of the catalog, or the path of a photo.", metavar="PHOTO_OR_ID")
    ],
    workspace: WorkspaceOption = Path(),
    encoder: Annotated[
        str | None, typer.Option(help="Encoder to search with.", show_default="the only one")
    ] = None,
    k: Annotated[int, typer.Option("-k", help="How many distinct items.", min=1)] = 10,
    json: JsonOption = False,
) -> None:
    """Find the K most similar distinct items; the query's own item is left out."""
    from lookalike.recipes.search import search as find
    from lookalike.store.workspace import Workspace

    found = find(Workspace(workspace), query, encoder=encoder, k=k)
    if json:
        print_json(
            {
                "query": found.query,
                "image": found.image,
                "encoder": found.encoder,
                "results": [asdict(result) for result in found.results],
            }
        )
        return
    what = f"image {found.image}" if found.image is not None else f"the new photo {found.query}"
    say(f"{len(found.results)} distinct items for {what}, by {found.encoder}:")
    rows = [
        (str(i + 1), r.image, r.item, WORDS[r.label], f"{r.score:.4f}") for i, r in enumerate(found.results)
    ]
    table(["", "image", "item", "label", "score"], rows, left=4)
    if len(found.results) < k:
        say(f"The catalog has no more than {len(found.results)} candidates for it.")
