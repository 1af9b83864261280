"""`lookalike demo`."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import JsonOption, finite, next_step, number, print_json, progress, say, table

if TYPE_CHECKING:
    from lookalike.recipes.demo import Demo

SAID = ("HR@5", "EHR@5", "AUC_mac")
WIDTH = 110


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the demo's workspace.")] = Path(
        "lookalike-demo"
    ),
    images: Annotated[int, typer.Option(help="Photos to draw.", min=200, max=100_000)] = 1000,
    queries: Annotated[int, typer.Option(help="Queries to label for.", min=10)] = 200,
    seed: Annotated[int, typer.Option(help="Seed of everything.", min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """The whole loop on a generated catalog: photos in, pairs out, labels in, scores out, a report."""
    from lookalike.recipes.demo import demo as run

    started = time.monotonic()
    bar = partial(progress, quiet=json)
    tell = _silent if json else say
    made = run(output, datetime.now().astimezone(), bar, tell, images=images, queries=queries, seed=seed)
    truth = {one.encoder: one["HR@5"].value for one in made.truth}
    if json:
        print_json(
            {
                "workspace": str(output),
                "report": str(made.report),
                "scores": {
                    one.encoder: {name: number(score.value) for name, score in one.scores.items()}
                    for one in made.evaluation.scores
                },
                "intervals": {
                    encoder: {name: finite(asdict(around)) for name, around in known.items()}
                    for encoder, known in made.sure.intervals.items()
                },
                "verdicts": {name: _verdict(made, name) for name in SAID},
                "true_HR@5": {encoder: number(value) for encoder, value in truth.items()},
            }
        )
        return
    say("")
    table(["encoder", "HR@5", "coverage@5", "EHR@5", "95 % interval", "true HR@5"], _rows(made, truth))
    say(
        "",
        "HR@5 counts unjudged results as misses, EHR@5 leaves them out, AUC_mac looks at labelled pairs alone:",
    )
    for name in SAID:
        for sentence in _verdict(made, name)[:1]:
            say(fill(sentence, WIDTH, initial_indent="  ", subsequent_indent="    "))
    known = [encoder for encoder, value in truth.items() if not math.isnan(value)]
    if known:
        best = max(known, key=lambda encoder: truth[encoder])
        say(f"In truth, which only a drawn catalog knows, {best} has the highest HR@5: {truth[best]:.3f}.")
    say(
        "",
        f"Done in {time.monotonic() - started:.0f} s. The report: {made.report.resolve()} (open it in a browser).",
    )
    example = made.workspace.catalog.image[0]
    next_step(
        f"lookalike audit --workspace {output}",
        f"lookalike search {example} --encoder hog -k 5 --workspace {output}",
        "lookalike init YOUR_PHOTOS --workspace FOLDER",
    )


def _rows(made: "Demo", truth: Mapping[str, float]) -> list[list[str]]:
    """Encoders as rows; EHR@5 with its interval."""
    rows = []
    for one in made.evaluation.scores:
        around = made.sure.intervals[one.encoder]["EHR@5"]
        drawn = "none" if math.isnan(around.low) else f"[{around.low:.3f}, {around.high:.3f}]"
        fed = "" if one.encoder in made.evaluation.generators else " (did not feed the pool)"
        values = [*(one[name].value for name in ("HR@5", "coverage@5", "EHR@5")), truth[one.encoder]]
        *shown, true = ("undefined" if math.isnan(value) else f"{value:.3f}" for value in values)
        rows.append([f"{one.encoder}{fed}", *shown, drawn, true])
    return rows


def _verdict(made: "Demo", name: str) -> list[str]:
    """The best encoder by one measure against the others; nothing where none has a value."""
    from lookalike.evaluate.sentence import full, verdict

    defined = [one for one in made.evaluation.scores if not math.isnan(one[name].value)]
    if not defined:
        return []
    best = max(defined, key=lambda one: one[name].value)
    return [full(said) for said in verdict(best.encoder, made.sure.comparisons[name])]


def _silent(*sentences: str) -> None:
    """Say nothing: the JSON object says it all."""
