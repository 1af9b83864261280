"""`lookalike compare`."""

import math
from typing import Annotated

import typer

from lookalike.audit.next_pairs import Standing
from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import bracketed, folded, plural
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.compare import CompareResult, compare_encoders, compare_result


@result(CompareResult)
def compare(
    encoder: Annotated[list[str], typer.Argument(help="Names of two or more encoders.", metavar="ENCODER")],
    workspace: options.Workspace = HERE,
    pool: options.Pool = MAIN_POOL,
    k: options.K = 5,
    width: Annotated[
        float, typer.Option(help="Wanted width of the interval of a difference.", min=0.001, max=1.999)
    ] = 0.1,
    negligible: Annotated[
        float, typer.Option(help="Largest difference that does not matter.", min=0.0, max=0.999)
    ] = 0.02,
    interim_looks: Annotated[
        int, typer.Option(help="How often you will run this command before you stop labelling.", min=1)
    ] = 5,
    pairs: options.Pairs = None,
    seed: options.WorkspaceSeed = None,
    json: options.Json = False,
) -> None:
    """Plan which pairs to label to separate encoders, what that costs, and when to stop.

    Queries are in a random order. For each query, you label every result that only one of the encoders has in its top
    K. The comparison does not favour the encoders that fed the pool.
    """

    with progress("Searching", quiet=json) as bar:
        found = compare_encoders(
            Workspace(workspace, pool=pool),
            encoder,
            k=k,
            width=width,
            margin=negligible,
            interim_looks=interim_looks,
            pairs=pairs,
            seed=seed,
            progress=bar,
        )
    shown = compare_result(found)
    if json:
        print_json(shown)
        return
    say(*map(folded, shown.notes))
    is_done = not shown.next.pairs
    say(*(folded(sentence(one, shown.measure, negligible, is_done=is_done)) for one in shown.encoders))
    if is_done:
        return
    _print_forecast(shown)
    judged = plural(shown.next.queries, "query", "queries")
    say(f"To label next: {plural(shown.next.pairs, 'pair')}. Then the first {judged} are judged.")
    if pairs is not None:
        say(f"The pairs are in {pairs}.")
    following = (
        f"labels import {pairs}" if pairs is not None else f"compare {' '.join(encoder)} --pairs next.csv"
    )
    next_step(f"lookalike {following}", workspace=workspace)


def _print_forecast(found: CompareResult) -> None:
    """The precision that more labels give."""
    queries = plural(found.queries, "query", "queries")
    say(f"Judged so far: the first {found.judged:,} of {queries} in random order.")
    if found.judged == 0 and found.steps:
        first = found.steps[0]
        say(f"The first {first.queries} queries take {plural(first.labels, 'label')}. Then run this again.")
    say("", "Precision that more labels give:")
    steps = [(f"{step.queries:,}", f"{step.labels:,}", f"± {step.half_width:.3f}") for step in found.steps]
    table(["queries judged", "labels needed", "expected interval"], steps, left=0)
    if found.wanted is None:
        say("The interval stays wider than --width even if all queries are judged.")


def sentence(one: Standing, measure: str, margin: float, *, is_done: bool) -> str:
    """How two encoders compare so far, in words. A difference is that of the better encoder, so it is above 0."""
    sign = -1 if one.decision == "worse" else 1
    better, other = (one.first, one.second)[::sign]
    both = f"{one.first} and {one.second}"
    low, high = sorted((sign * one.low, sign * one.high))
    unlabelled = f", {plural(one.left_open, 'pair')} of these without a label" if one.left_open else ""
    where = f"on {plural(one.queries, 'query', 'queries')}{unlabelled}"
    figures = f"{sign * one.difference:+.3f} {bracketed(low, high)} {where}"
    if one.decision in ("better", "worse"):
        return f"{better} is better than {other}, so you can stop labelling: its {measure} is higher by {figures[1:]}."
    if one.decision == "alike":
        return f"{both} differ by less than {margin:g}, so you can stop labelling: {measure} differs by {figures}."
    is_unknown = math.isnan(one.low)
    if is_done:
        why = "too few queries are judged" if is_unknown else f"{measure} differs by {figures}"
        return f"{both} cannot be separated, and no pair is left to label: {why}."
    problem = (
        "too few queries are judged to compare them" if is_unknown else f"{measure} differs by {figures}"
    )
    return (
        f"{both} cannot be separated yet: {problem}. Over all queries the difference is between {one.least:+.3f} and "
        f"{one.most:+.3f}, whatever the labels of the unjudged pairs are."
    )
