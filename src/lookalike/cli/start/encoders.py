"""`lookalike encoders`."""

import shlex
from typing import Annotated, Literal

import typer

from lookalike.cli import options
from lookalike.cli.console import print_json, say, table
from lookalike.cli.lazy import result
from lookalike.core.text import plural
from lookalike.workflows.start.encoders import ListedEncoder, ListedEncoders, listed

FEW = 5  # networks whose next steps are printed


@result(ListedEncoders)
def encoders(
    text: Annotated[
        str,
        typer.Argument(help="Part of a name, source or licence.", metavar="FILTER", show_default=False),
    ] = "",
    paper: Annotated[
        Literal["vsd", "eds", "adapt", "today"] | None,
        typer.Option(help="Only the networks of one paper, or today's strongest.", show_default=False),
    ] = None,
    here: Annotated[
        bool, typer.Option("--here", help="Only networks whose library and weights are on this machine.")
    ] = False,
    json: options.Json = False,
) -> None:
    """List networks by short name: dimension, licence, paper, and what each needs to run here.

    Use the name as an encoder string: lookalike embed dino
    """
    found = listed(text, paper, here=here)
    if json:
        print_json(found)
        return
    rows = [
        (
            ", ".join((one.name, *one.aliases)),
            f"{one.dimension:,}",
            f"{one.licence.name} ({one.licence.commercial})",
            ", ".join(one.papers),
            _runs(one),
        )
        for one in found.encoders
    ]
    if not rows:
        every = shlex.join(["lookalike", "encoders", text]) if text else "lookalike encoders"
        none = (
            "None of these networks has its library and weights on this machine"
            if here
            else "No network passes all filters"
        )
        say(f"{none}. To see what each needs: {every}")
        return
    table(["name", "dimension", "licence (commercial use)", "paper", "runs here"], rows, left=5)
    if len(rows) > FEW:
        say(
            f"{plural(len(rows), 'network')}. FILTER, --paper and --here shorten the list. --json adds the sources."
        )
        say("To see what a network needs: lookalike encoders NAME. To use it: lookalike embed NAME")
        return
    for one in found.encoders:
        say(f"Next, for {one.name}: {one.next_step}")


def _runs(one: ListedEncoder) -> str:
    """Whether a network runs here: at once, after `embed` has downloaded its weights, or not."""
    if not one.missing:
        return "yes"
    return "after a download" if one.next_step.startswith("lookalike embed") else f"no: {one.missing}"
