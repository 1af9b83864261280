"""`lookalike labels agreement`."""

import math
import time
from collections.abc import Sequence

from lookalike.annotate.agreement.by_group import Agreement
from lookalike.annotate.agreement.figure import Figure
from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, say, table
from lookalike.cli.options import HERE
from lookalike.core.text import folded, plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.team import Member, Team, team
from lookalike.workflows.label.team_values import team_values

MOST = 20
OVERALL = {"percent": "same answer", "fleiss": "Fleiss' kappa", "krippendorff": "alpha", "gwet": "AC1"}
OF_TWO = {"percent": "same answer", "cohen": "Cohen's kappa", "gwet": "AC1"}


def agreement(
    workspace: options.Workspace = HERE,
    seed: options.WorkspaceSeed = None,
    json: options.Json = False,
) -> None:
    """Show how far annotators agree with each other, with themselves and with gold pairs, with intervals."""
    opened = Workspace(workspace)
    chosen = opened.settings.seed if seed is None else seed
    found = team(opened.database, time.time_ns() // 1_000_000, seed=chosen, all_twos=True)
    if json:
        print_json(team_values(found))
    elif found.agreement.pairs == 0:
        say("Agreement is undefined: no pair has all its votes yet.")
        next_step("lookalike serve", workspace=workspace)
    else:
        print_team(found)


def print_team(found: Team) -> None:
    """Print the figures as tables, then what they show."""
    say(
        f"{plural(found.agreement.shared, 'pair')} with at least two definite votes. Votes after a discussion and "
        "unsure votes do not count. Intervals: 95%.",
        "",
    )
    parts = [("all", found.agreement), *(found.categories.items() if len(found.categories) > 1 else ())]
    _agreements("category", parts[: MOST + 1], OVERALL)
    names = {one.annotator: one.name for one in found.members}
    say("", "Each annotator with all others:")
    _agreements("annotator", [(one.name, one.agreement) for one in found.members if one.agreement], OF_TWO)
    if len(found.twos) > 1:
        say("", "Pairs of annotators:")
        named = [(f"{names.get(a, a)}, {names.get(b, b)}", made) for (a, b), made in found.twos.items()]
        _agreements("annotators", named[:MOST], OF_TWO)
        if len(named) > MOST:
            say(f"... and {len(named) - MOST:,} more; --json lists all.")
    _alone([one for one in found.members if one.consistency or one.gold or one.pace])
    if found.remarks:
        say("", *(folded(one.text) for one in found.remarks))


def _agreements(about: str, parts: Sequence[tuple[str, Agreement]], columns: dict[str, str]) -> None:
    rows = [
        (
            name,
            f"{made.shared:,}",
            *(_cell(made[key], percent=key == "percent") for key in columns),
            _cell(made.unsure, percent=True),
        )
        for name, made in parts
    ]
    table([about, "pairs", *columns.values(), "unsure"], rows)


def _alone(members: Sequence[Member]) -> None:
    if not members:
        return
    say("", "Each annotator alone:")
    rows = [
        (
            one.name,
            _cell(one.consistency.own, percent=True) if one.consistency else "-",
            _cell(one.gold.right, percent=True) if one.gold else "-",
            f"{one.pace.per_hour.value:.0f}" if one.pace and not math.isnan(one.pace.per_hour.value) else "-",
        )
        for one in members
    ]
    table(["annotator", "same answer again", "correct on gold pairs", "answers per hour"], rows)


def _cell(found: Figure, *, percent: bool = False) -> str:
    """The value and its interval, or a dash."""
    if math.isnan(found.value):
        return "-"
    scale, digits = (100, 0) if percent else (1, 2)
    value, low, high = (f"{scale * one:.{digits}f}" for one in (found.value, found.low, found.high))
    unit = "%" if percent else ""
    return f"{value}{unit}" if not found.is_sure else f"{value}{unit} [{low}, {high}]"
