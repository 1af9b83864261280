"""`lookalike labels agreement`."""

import math
from collections.abc import Callable, Sequence

from lookalike.annotate.agreement.by_group import Agreement
from lookalike.annotate.agreement.figure import Figure
from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.clock import now_ms
from lookalike.core.text import bracketed, folded, percent, plural, value
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.team import Team, team

MOST = 20
OVERALL = {"percent": "same answer", "fleiss": "Fleiss' kappa", "krippendorff": "alpha", "gwet": "AC1"}
OF_TWO = {"percent": "same answer", "cohen": "Cohen's kappa", "gwet": "AC1"}


@result(Team)
def agreement(
    workspace: options.Workspace = HERE,
    seed: options.WorkspaceSeed = None,
    json: options.Json = False,
) -> None:
    """Show how far annotators agree with each other, with themselves and with gold pairs, with intervals."""
    opened = Workspace(workspace)
    chosen = opened.settings.seed if seed is None else seed
    found = team(opened.database, now_ms(), seed=chosen, all_twos=True)
    if json:
        print_json(found)
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
    _print_agreements("category", parts[: MOST + 1], OVERALL)
    names = {one.annotator: one.name for one in found.annotators}
    say("", "Each annotator with all others:")
    each = [(one.name, one.agreement) for one in found.annotators if one.agreement]
    _print_agreements("annotator", each, OF_TWO)
    if len(found.twos) > 1:
        say("", "Pairs of annotators:")
        twos = [(", ".join(names[one] for one in both.annotators), both) for both in found.twos]
        _print_agreements("annotators", twos[:MOST], OF_TWO)
        if len(twos) > MOST:
            say(f"... and {len(twos) - MOST:,} more; --json lists all.")
    rows = [
        (
            one.name,
            cell(one.consistency.own, percent) if one.consistency else "-",
            cell(one.gold.correct, percent) if one.gold else "-",
            f"{one.pace.per_hour.value:.0f}" if one.pace and not math.isnan(one.pace.per_hour.value) else "-",
        )
        for one in found.annotators
        if one.consistency or one.gold or one.pace
    ]
    if rows:
        say("", "Each annotator alone:")
        table(["annotator", "same answer again", "correct on gold pairs", "answers per hour"], rows)
    if found.remarks:
        say("", *(folded(one.text) for one in found.remarks))


def _print_agreements(about: str, parts: Sequence[tuple[str, Agreement]], columns: dict[str, str]) -> None:
    rows = [
        (
            name,
            f"{made.shared:,}",
            *(cell(made[key], percent if key == "percent" else value) for key in columns),
            cell(made.unsure, percent),
        )
        for name, made in parts
    ]
    table([about, "pairs", *columns.values(), "unsure"], rows)


def cell(found: Figure, written: Callable[[float, int], str]) -> str:
    """The value and its interval, or a dash."""
    if math.isnan(found.value):
        return "-"
    scale, decimals = (100, 0) if written is percent else (1, 2)
    span = bracketed(scale * found.low, scale * found.high, decimals)
    return f"{written(found.value, decimals)} {span}".rstrip()
