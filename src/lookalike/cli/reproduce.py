"""`lookalike reproduce`."""

import json as json_
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    folded,
    next_step,
    number,
    out,
    print_json,
    progress,
    say,
    table,
)

if TYPE_CHECKING:
    from lookalike.recipes.reproduce import Reproduction
    from lookalike.reproduce.layout import Cell
    from lookalike.reproduce.ours import Figure


def reproduce(
    name: Annotated[
        str | None,
        typer.Argument(help="Which table, e.g. eds-table-2.", show_default="list them", metavar="[TABLE]"),
    ] = None,
    workspace: WorkspaceOption = Path(),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write it to .txt, .csv or .json; a figure to .svg too."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Print a table of the papers, the paper's figures beside those of this catalog."""
    from lookalike.recipes.reproduce import reproduce as make
    from lookalike.recipes.reproduce import write
    from lookalike.reproduce.layout import text_of

    if name is None:
        _list(as_json=json)
        return
    with progress("Measuring", quiet=json) as bar:
        found = make(name, workspace, progress=bar)
    if output is not None:
        told = json_.dumps(_as_json(found), ensure_ascii=False, allow_nan=False, indent=2) + "\n"
        write(found, output, told.encode())
    if json:
        print_json(_as_json(found))
        return
    say(text_of(found.published, found.ours, out.width))
    if found.missing:
        say(folded(found.missing))
    _tell_sources(found)
    if output is not None:
        say(f"Written to {output}.")


def _list(*, as_json: bool) -> None:
    from lookalike.recipes.reproduce import needs
    from lookalike.reproduce.published import keys, published

    tables = [published(key) for key in keys()]
    if as_json:
        listed = [
            {
                "table": one.key,
                "paper": one.paper,
                "number": one.number,
                "title": one.title,
                "ours_need": needs(one.key) or None,
                "data": [source.name for source in one.sources],
            }
            for one in tables
        ]
        print_json({"tables": listed})
        return
    rows = [
        [
            one.key,
            one.title,
            needs(one.key) or "only the paper's",
            ", ".join(source.name for source in one.sources),
        ]
        for one in tables
    ]
    table(["table", "what", "ours need", "the paper's data"], rows, left=4)
    next_step(f"lookalike reproduce {tables[0].key}")


def _tell_sources(found: "Reproduction") -> None:
    """What to fetch for the paper's own data, and what to type then."""
    for source in found.published.sources:
        say("", folded(f"The paper's own data, {source.name}, is not part of Lookalike. Fetch:"))
        say(*(folded(part, "  ") for part in source.fetch))
        say("then:", *(f"  {command}" for command in source.then), folded(source.remark))


def _as_json(found: "Reproduction") -> dict[str, Any]:
    from lookalike.reproduce.layout import cells_of

    one = found.published
    return {
        "table": one.key,
        "paper": one.paper,
        "number": one.number,
        "section": one.section,
        "title": one.title,
        "cells": [_cell(cell, one.labels) for cell in cells_of(one, found.ours)],
        "ours": None if found.ours is None else {"remarks": list(found.ours.remarks)},
        "missing": found.missing or None,
        "notes": [
            {
                "text": note.text,
                "cells": [[*one.rows[row].names, one.columns[column]] for row, column in note.cells],
            }
            for note in one.notes
        ],
        "data": [
            {"name": s.name, "fetch": list(s.fetch), "then": list(s.then), "remark": s.remark}
            for s in one.sources
        ],
    }


def _cell(cell: "Cell", labels: tuple[str, ...]) -> dict[str, Any]:
    names = dict(zip(labels, cell.names, strict=True))
    ours = None if cell.ours is None else _figure(cell.ours)
    return {"row": names, "column": cell.column, "paper": cell.paper, "ours": ours}


def _figure(one: "Figure") -> dict[str, Any]:
    """A figure with what is known of it: null where it is undefined, its `reason` beside it."""
    found: dict[str, Any] = {"value": number(one.value)}
    if one.spread is not None:
        found["spread"] = number(one.spread)
    if one.n is not None:
        found["n"] = one.n
    known = {name: getattr(one, name) for name in ("p", "low", "high")}
    found |= {name: value for name, value in known.items() if math.isfinite(value)}
    return found | ({"reason": one.reason} if one.reason else {})
