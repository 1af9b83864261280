"""`lookalike settle`."""

import math
from dataclasses import asdict
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    finite,
    next_step,
    plural,
    print_json,
    progress,
    say,
    table,
)

WIDTH = 100

if TYPE_CHECKING:
    from lookalike.audit.settle import Standing


def settle(
    encoder: Annotated[list[str], typer.Argument(help="Two encoders or more.", metavar="ENCODER...")],
    workspace: WorkspaceOption = Path(),
    k: Annotated[int, typer.Option("-k", help="Told apart by HR@K.", min=1)] = 5,
    width: Annotated[float, typer.Option(help="Wanted width of the interval of a difference.")] = 0.1,
    margin: Annotated[float, typer.Option(help="A difference too small to matter.")] = 0.02,
    looks: Annotated[int, typer.Option(help="How often you will look before you stop.", min=1)] = 5,
    pairs: Annotated[
        Path | None, typer.Option(help="Write the pairs to label next to this file.", show_default="none")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the order of queries.", min=0, show_default="the workspace's")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Say which pairs to label so that encoders can be told apart, what that buys, and when to stop.

    Labels of pairs that encoders chose favour these encoders. Here queries stand in a random order, and on
    each every result that tells the encoders apart gets judged: what comes out favours nobody.
    """
    from lookalike.recipes.settle import settle as settled
    from lookalike.store.workspace import Workspace

    with progress("Searching", quiet=json) as bar:
        found = settled(
            Workspace(workspace),
            encoder,
            k=k,
            width=width,
            margin=margin,
            looks=looks,
            pairs=pairs,
            seed=seed,
            progress=bar,
        )
    if json:
        print_json(
            {
                "measure": f"HR@{k}",
                "queries": found.queries,
                "judged": found.judged,
                "encoders": [finite(asdict(one)) for one in found.standings],
                "steps": [finite(asdict(step)) for step in found.plan.steps],
                "wanted": None if found.plan.wanted is None else asdict(found.plan.wanted),
                "next": {"queries": found.next_queries, "pairs": len(found.next)},
                "split": found.split,
                "notes": list(found.notes),
            }
        )
        return
    say(*(fill(note, WIDTH, break_long_words=False) for note in found.notes))
    say(
        f"Judged so far: the first {found.judged:,} of {plural(found.queries, 'query', 'queries')} in "
        "random order."
    )
    for one in found.standings:
        say(fill(sentence(one, k, margin), WIDTH, break_long_words=False))
    if found.judged == 0 and found.plan.steps:
        first = found.plan.steps[0]
        say(f"The first {first.queries} queries take {plural(first.labels, 'label')}; then look again.")
    steps = [
        (f"{step.queries:,}", f"{step.labels:,}", f"± {step.half_width:.3f}") for step in found.plan.steps
    ]
    say("", "What more labels buy:")
    table(["queries judged", "labels to make", "interval to expect"], steps, left=0)
    if len(found.next) == 0:
        say("Nothing is left to label for this question.")
        return
    if found.plan.wanted is None:
        say(f"Even all queries leave the interval wider than {width:g}.")
    judged = plural(found.next_queries, "query", "queries")
    say(f"To label next: {plural(len(found.next), 'pair')}, with which the first {judged} are judged.")
    if pairs is not None:
        say(f"They are in {pairs}.")
        next_step(f"lookalike labels import {pairs}", workspace=workspace)
    else:
        next_step(f"lookalike settle {' '.join(encoder)} --pairs next.csv", workspace=workspace)


def sentence(one: "Standing", k: int, margin: float) -> str:
    """How two encoders stand, in words."""
    bounds = (
        f"Over all queries the difference lies between {one.least:+.3f} and {one.most:+.3f}, whatever the "
        "unjudged pairs are."
    )
    if math.isnan(one.low):
        return f"{one.first} and {one.second}: too few queries are judged to say anything yet. {bounds}"
    left = f", {plural(one.left_open, 'pair')} of which left open" if one.left_open else ""
    interval = f"{one.difference:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
    figures = f"HR@{k} differs by {interval} on {one.queries:,} queries{left}"
    words = {
        "better": f"{one.first} is better than {one.second}: {figures}. Stop here.",
        "worse": f"{one.second} is better than {one.first}: {figures}. Stop here.",
        "alike": f"{one.first} and {one.second} differ by less than {margin:g}: {figures}. Stop here.",
        "open": f"{one.first} and {one.second} cannot be told apart yet: {figures}. {bounds}",
    }
    return words[one.decision]
