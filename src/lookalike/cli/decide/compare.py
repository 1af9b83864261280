"""`lookalike compare`."""

import math
from dataclasses import asdict
from textwrap import fill
from typing import Annotated

import typer

from lookalike.audit.next_pairs import Standing
from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.cli.options import HERE
from lookalike.core.text import plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.compare import compare_encoders

WIDTH = 100


def compare(
    encoder: Annotated[list[str], typer.Argument(help="Names of two or more encoders.", metavar="ENCODER")],
    workspace: options.Workspace = HERE,
    k: options.K = 5,
    width: Annotated[float, typer.Option(help="Wanted width of the interval of a difference.")] = 0.1,
    negligible: Annotated[float, typer.Option(help="Largest difference that does not matter.")] = 0.02,
    interim_looks: Annotated[
        int, typer.Option(help="How often you will run this command before you stop labelling.", min=1)
    ] = 5,
    pairs: options.Pairs = None,
    seed: options.WorkspaceSeed = None,
    json: options.Json = False,
) -> None:
    """Plan which pairs to label to separate encoders, what that costs, and when to stop.

    Queries are in a random order. For each query, you label every result that only one of the encoders has in its top
    K. So the comparison does not favour the encoders that fed the pool.
    """

    with progress("Searching", quiet=json) as bar:
        found = compare_encoders(
            Workspace(workspace),
            encoder,
            k=k,
            width=width,
            margin=negligible,
            looks=interim_looks,
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
                "encoders": [asdict(one) for one in found.standings],
                "steps": [asdict(step) for step in found.plan.steps],
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
        say(fill(sentence(one, k, negligible), WIDTH, break_long_words=False))
    if found.judged == 0 and found.plan.steps:
        first = found.plan.steps[0]
        say(f"The first {first.queries} queries take {plural(first.labels, 'label')}; then look again.")
    steps = [
        (f"{step.queries:,}", f"{step.labels:,}", f"± {step.half_width:.3f}") for step in found.plan.steps
    ]
    say("", "Precision that more labels give:")
    table(["queries judged", "labels needed", "expected interval"], steps, left=0)
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
        next_step(f"lookalike compare {' '.join(encoder)} --pairs next.csv", workspace=workspace)


def sentence(one: Standing, k: int, margin: float) -> str:
    """How two encoders stand, in words."""
    bounds = (
        f"Over all queries the difference lies between {one.least:+.3f} and {one.most:+.3f}, whatever the "
        "unjudged pairs are."
    )
    if math.isnan(one.low):
        return f"{one.first} and {one.second}: too few queries are judged to compare them. {bounds}"
    left = f", {plural(one.left_open, 'pair')} of these without a label" if one.left_open else ""
    interval = f"{one.difference:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
    figures = f"HR@{k} differs by {interval} on {one.queries:,} queries{left}"
    words = {
        "better": f"{one.first} is better than {one.second}: {figures}. Stop here.",
        "worse": f"{one.second} is better than {one.first}: {figures}. Stop here.",
        "alike": f"{one.first} and {one.second} differ by less than {margin:g}: {figures}. Stop here.",
        "open": f"{one.first} and {one.second} cannot be separated yet: {figures}. {bounds}",
    }
    return words[one.decision]
