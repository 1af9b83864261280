"""`lookalike reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, out, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.json import to_json
from lookalike.core.text import folded
from lookalike.research.adaptation.protocol import AdaptationProtocol
from lookalike.research.papers import reproduce as workflow
from lookalike.research.papers.layout import text_of
from lookalike.research.papers.result import TableEntries, TableResult, table_entries, table_result

DEFAULT_PROTOCOL = AdaptationProtocol()


@result(TableEntries | TableResult)
def reproduce(
    table_name: Annotated[
        str | None,
        typer.Argument(help="Table or figure, e.g. eds-table-2.", show_default="list all", metavar="TABLE"),
    ] = None,
    workspace: options.Workspace = HERE,
    output: Annotated[
        Path | None,
        options.output("Write it to this .txt, .csv or .json file; a figure also to .svg or .html."),
    ] = None,
    protocol: AdaptationProtocol = DEFAULT_PROTOCOL,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Show a table of a paper next to your own figures on this catalog."""

    if table_name is None:
        _list(as_json=json)
        return
    options.require_new(output, force=force)
    with progress("Measuring", quiet=json) as bar:
        found = workflow.reproduce(table_name, workspace, protocol=protocol, progress=bar)
    if output is not None:
        workflow.write(found, output, (to_json(table_result(found)) + "\n").encode())
    if json:
        print_json(table_result(found))
        return
    say(text_of(found.published, found.ours, out.width))
    if found.missing:
        say(folded(found.missing))
    for source in found.published.sources:
        say("", folded(f"The data of the paper, {source.name}, is not part of Lookalike. Fetch:"))
        say(*(folded(part, "  ") for part in source.fetch))
        say("Then run:", *(f"  {command}" for command in source.then), folded(source.remark))
    if output is not None:
        say(f"Wrote {output}.")


def _list(*, as_json: bool) -> None:
    entries = table_entries()
    if as_json:
        print_json(entries)
        return
    rows = [
        [one.table, one.title, one.ours_need or "not computed", ", ".join(one.data)] for one in entries.tables
    ]
    table(["table", "title", "needs for your figures", "data of the paper"], rows, left=4)
    next_step(f"lookalike reproduce {entries.tables[0].table}")
