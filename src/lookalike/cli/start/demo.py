"""`lookalike demo`."""

import math
import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.core.text import bracketed, folded, value
from lookalike.workflows.demo.demo import Demo
from lookalike.workflows.demo.demo import demo as run
from lookalike.workflows.demo.result import LEARNED, TRUE, DemoResult, LearnedResult, demo_result


@result(DemoResult)
def demo(
    workspace: Annotated[
        Path, typer.Option("--workspace", "-w", help="Folder of the demo's workspace.", metavar="DIR")
    ] = Path("lookalike-demo"),
    photos: options.Photo = 1000,
    queries: Annotated[int, typer.Option(help="Number of queries to label for.", min=10)] = 200,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Try the whole workflow on a generated catalog: pool, labels, scores, a trained encoder and a report."""
    started = time.monotonic()
    bar = partial(progress, quiet=json)
    now = datetime.now().astimezone()
    made = run(workspace, now, bar, _silent if json else say, images=photos, queries=queries, seed=seed)
    found = demo_result(made)
    if json:
        print_json(found)
        return
    _print_scores(made, found)
    if made.learned is not None and found["learned"] is not None:
        queries = made.learned.truth[0]["HR@5"].queries
        _print_learned(found["learned"], made.learned.found.labels, queries)
    spent = time.monotonic() - started
    say("", f"Done in {spent:.0f} s. Open the report in a browser: {made.report.resolve()}")
    trained = found["learned"]
    next_step(
        f"lookalike audit --workspace {workspace}",
        *(
            [f"lookalike evaluate {trained.base} {trained.encoder} --workspace {workspace}"]
            if trained
            else []
        ),
        f"lookalike search {made.workspace.catalog.image[0]} --encoder hog -k 5 --workspace {workspace}",
        f"lookalike users add YOUR_NAME --role lead --workspace {workspace}",
        f"lookalike serve --workspace {workspace}",
        "lookalike init YOUR_PHOTOS --workspace FOLDER",
    )


def _print_scores(made: Demo, found: DemoResult) -> None:
    """Encoders as rows, EHR@5 with its interval; then the verdicts."""
    truth, rows = found["true_HR@5"], []
    for encoder, scores in found["scores"].items():
        around = found["intervals"][encoder]["EHR@5"]
        outside = "" if encoder in made.evaluation.generators else " (did not feed the pool)"
        shown = [value(scores[name]) for name in ("HR@5", "coverage@5", "EHR@5")]
        span = bracketed(around.low, around.high) or "none"
        rows.append([f"{encoder}{outside}", *shown, span, value(truth[encoder])])
    say("")
    table(["encoder", "HR@5", "coverage@5", "EHR@5", "95% interval", "true HR@5"], rows)
    say(
        "", "HR@5 counts unjudged results as misses. EHR@5 leaves them out. AUC_mac uses labelled pairs only."
    )
    say(*(folded(words, "  ") for verdict in found["verdicts"].values() for words in verdict[:1]))
    known = [encoder for encoder in truth if not math.isnan(truth[encoder])]
    if known:
        best = max(known, key=lambda encoder: truth[encoder])
        say(f"By the ground truth, {best} has the highest HR@5: {value(truth[best])}.")


def _print_learned(learned: LearnedResult, labels: int, queries: int) -> None:
    """Values before and after training, by the labels and by the truth, and what each shows."""
    say(
        "",
        f"Training, on the test split: {labels:,} labels, and the ground truth of all its {queries:,} queries.",
    )
    table(
        ["encoder", *(f"{name}, labels" for name in LEARNED), *(f"true {name}" for name in TRUE)],
        [
            [
                encoder,
                *(_by_labels(learned, encoder, name) for name in LEARNED),
                *(value(learned.truth[encoder][name]) for name in TRUE),
            ]
            for encoder in learned.labels
        ],
    )
    say(*(folded(f"{where}: {words}", "  ") for where, words in learned.words.items()))


def _by_labels(learned: LearnedResult, encoder: str, name: str) -> str:
    """A value with its interval, if it has any."""
    around = learned.intervals[encoder].get(name)
    shown = value(learned.labels[encoder].get(name, math.nan))
    return shown if around is None else f"{shown} {bracketed(around.low, around.high)}".rstrip()


def _silent(*sentences: str) -> None:
    """Print nothing: the JSON object holds everything."""
