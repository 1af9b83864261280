"""`lookalike labels agreement`."""

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    folded,
    next_step,
    plural,
    print_json,
    say,
    table,
)

if TYPE_CHECKING:
    from lookalike.annotate.agreement import Agreement
    from lookalike.annotate.figure import Figure
    from lookalike.recipes.team import Member, Team

MOST = 20
OVERALL = {"percent": "same answer", "fleiss": "Fleiss' kappa", "krippendorff": "alpha", "gwet": "AC1"}
OF_TWO = {"percent": "same answer", "cohen": "Cohen's kappa", "gwet": "AC1"}


def agreement(
    workspace: WorkspaceOption = Path(),
    seed: Annotated[
        int | None, typer.Option(help="Seed of the intervals.", min=0, show_default="the workspace's")
    ] = None,
    json: JsonOption = False,
) -> None:
    """How far annotators agree on the votes given blind, with themselves, and with gold pairs; with intervals."""
    from lookalike.recipes.team import team
    from lookalike.recipes.team_values import team_values
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    chosen = opened.settings.seed if seed is None else seed
    found = team(opened.database, time.time_ns() // 1_000_000, seed=chosen, all_twos=True)
    if json:
        print_json(team_values(found))
        return
    if found.agreement.pairs == 0:
        say("No pair has all its votes yet, so there is no agreement to tell.")
        next_step("lookalike serve", workspace=workspace)
        return
    tell(found)


def tell(found: "Team") -> None:
    """Print the figures as tables, then what they show."""
    shared = plural(found.agreement.shared, "pair")
    say(
        f"{shared} with two definite votes or more, given blind. Intervals hold 95 %; unsure counts as no vote.",
        "",
    )
    parts = [("all", found.agreement), *(found.categories.items() if len(found.categories) > 1 else ())]
    _agreements("category", parts[: MOST + 1], OVERALL)
    names = {one.annotator: one.name for one in found.members}
    say("", "Each with the others:")
    with_votes = [one for one in found.members if one.agreement is not None]
    _agreements("annotator", [(one.name, one.agreement) for one in with_votes if one.agreement], OF_TWO)
    if len(found.twos) > 1:
        say("", "Each two:")
        named = [(f"{names.get(a, a)}, {names.get(b, b)}", made) for (a, b), made in found.twos.items()]
        _agreements("annotators", named[:MOST], OF_TWO)
        if len(named) > MOST:
            say(f"... and {len(named) - MOST:,} more; --json has all.")
    _alone([one for one in found.members if one.consistency or one.gold or one.pace])
    if found.remarks:
        say("", *(folded(one.text) for one in found.remarks))


def _agreements(about: str, parts: "Sequence[tuple[str, Agreement]]", columns: dict[str, str]) -> None:
    rows = [
        (
            name,
            f"{made.shared:,}",
            *(said(made[key], percent=key == "percent") for key in columns),
            said(made.unsure, percent=True),
        )
        for name, made in parts
    ]
    table([about, "pairs", *columns.values(), "unsure"], rows)


def _alone(members: "Sequence[Member]") -> None:
    if not members:
        return
    say("", "Each alone:")
    rows = [
        (
            one.name,
            said(one.consistency.own, percent=True) if one.consistency else "-",
            said(one.gold.right, percent=True) if one.gold else "-",
            f"{one.pace.per_hour.value:.0f}" if one.pace and not math.isnan(one.pace.per_hour.value) else "-",
        )
        for one in members
    ]
    table(["annotator", "same answer again", "right on gold pairs", "answers an hour"], rows)


def said(found: "Figure", *, percent: bool = False) -> str:
    """A figure in a cell: the value and its interval, or a dash."""
    if math.isnan(found.value):
        return "-"
    scale, digits = (100, 0) if percent else (1, 2)
    value, low, high = (f"{scale * one:.{digits}f}" for one in (found.value, found.low, found.high))
    unit = " %" if percent else ""
    return f"{value}{unit}" if not found.is_sure else f"{value}{unit} [{low}, {high}]"
