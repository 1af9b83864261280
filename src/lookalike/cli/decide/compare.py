"""`lookalike compare`."""

import math
from typing import Annotated

import typer

from lookalike.audit.next_pairs import Standing
from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import folded, plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.compare import CompareResult, compare_encoders, compare_result


@result(CompareResult)
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
    K. The comparison does not favour the encoders that fed the pool.
    """

    with progress("Searching", quiet=json) as bar:
        found = compare_encoders(
            Workspace(workspace),
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
    _print(shown, negligible)
    if not shown.next.pairs:
        say("No pair is left to label for this comparison.")
        return
    judged = plural(shown.next.queries, "query", "queries")
    say(f"To label next: {plural(shown.next.pairs, 'pair')}. Then the first {judged} are judged.")
    if pairs is not None:
        say(f"The pairs are in {pairs}.")
    following = (
        f"labels import {pairs}" if pairs is not None else f"compare {' '.join(encoder)} --pairs next.csv"
    )
    next_step(f"lookalike {following}", workspace=workspace)


def _print(found: CompareResult, negligible: float) -> None:
    """The encoders so far, and the precision that more labels give."""
    say(*map(folded, found.notes))
    queries = plural(found.queries, "query", "queries")
    say(f"Judged so far: the first {found.judged:,} of {queries} in random order.")
    say(*(folded(sentence(one, found.measure, negligible)) for one in found.encoders))
    if found.judged == 0 and found.steps:
        first = found.steps[0]
        say(f"The first {first.queries} queries take {plural(first.labels, 'label')}. Then run this again.")
    say("", "Precision that more labels give:")
    steps = [(f"{step.queries:,}", f"{step.labels:,}", f"± {step.half_width:.3f}") for step in found.steps]
    table(["queries judged", "labels needed", "expected interval"], steps, left=0)
    if found.next.pairs and found.wanted is None:
        say("The interval stays wider than --width even if all queries are judged.")


def sentence(one: Standing, measure: str, margin: float) -> str:
    """How two encoders compare so far, in words."""
    bounds = (
        f"Over all queries the difference is between {one.least:+.3f} and {one.most:+.3f}, whatever the labels of "
        "the unjudged pairs are."
    )
    if math.isnan(one.low):
        return f"{one.first} and {one.second}: too few queries are judged to compare them. {bounds}"
    left = f", {plural(one.left_open, 'pair')} of these without a label" if one.left_open else ""
    interval = f"{one.difference:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"
    figures = f"{measure} differs by {interval} on {one.queries:,} queries{left}"
    words = {
        "better": f"{one.first} is better than {one.second}: {figures}. You can stop labelling.",
        "worse": f"{one.second} is better than {one.first}: {figures}. You can stop labelling.",
        "alike": f"{one.first} and {one.second} differ by less than {margin:g}: {figures}. You can stop labelling.",
        "open": f"{one.first} and {one.second} cannot be separated yet: {figures}. {bounds}",
    }
    return words[one.decision]
