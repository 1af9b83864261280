"""`lookalike reproduce`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, out, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.json import to_json
from lookalike.core.text import folded
from lookalike.research.papers import reproduce as workflow
from lookalike.research.papers.layout import text_of
from lookalike.research.papers.protocol import ReproduceProtocol
from lookalike.research.papers.result import TableEntries, TableResult, table_entries, table_result
from lookalike.store.workspace import Workspace

DEFAULT_PROTOCOL = ReproduceProtocol()


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
    train: Annotated[
        bool,
        typer.Option(
            "--train", help="For VSD and EDS: first train the encoders of the table that are not there yet."
        ),
    ] = False,
    protocol: ReproduceProtocol = DEFAULT_PROTOCOL,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where to train.")] = "auto",
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Show a table of a paper next to your own figures on this catalog.

    Tables of trained encoders (vsd-table-2, 3 and 4) show those that are there and name the others. --train trains
    these, one after another; a stopped command is resumed by the same command.
    """

    if table_name is None:
        _list(as_json=json)
        return
    options.require_new(output, force=force)
    failed = _train(table_name, workspace, protocol, device, quiet=json) if train else {}
    with progress("Measuring", quiet=json) as bar:
        found = workflow.reproduce(table_name, workspace, protocol=protocol, failed=failed, progress=bar)
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


def _train(
    table_name: str, folder: Path, protocol: ReproduceProtocol, device: str, *, quiet: bool
) -> dict[str, str]:
    """Train the encoders of a table; returns why some could not be trained."""
    from lookalike.research.learning.methods import require_trained
    from lookalike.research.learning.trained_tables import train_table

    require_trained(table_name)
    failed = {}
    with progress("Training", quiet=quiet) as bar:
        begin = None if quiet else lambda cost: say(folded(cost.sentence))
        for one in train_table(
            Workspace(folder), table_name, protocol, device=device, begin=begin, progress=bar
        ):
            if one.remark:
                failed[one.cell.name] = one.remark
            if not quiet:
                say(folded(one.sentence))
    return failed


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
