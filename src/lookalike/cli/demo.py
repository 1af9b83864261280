"""`lookalike demo`."""

import time
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, next_step, number, print_json, progress, say, table

SHOWN = ("HR@5", "coverage@5", "EHR@5", "AUC_mac", "DCS(alpha=10)")


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
    scores = {
        one.encoder: {name: number(score.value) for name, score in one.scores.items()}
        for one in made.evaluation.scores
    }
    truth = {one.encoder: number(one["HR@5"].value) for one in made.truth}
    if json:
        print_json(
            {"workspace": str(output), "report": str(made.report), "scores": scores, "true_HR@5": truth}
        )
        return
    say(
        "",
        "HR@5 counts unjudged results as misses, EHR@5 leaves them out; the generated catalog knows the truth:",
    )
    rows = [
        [
            f"{name}{'' if name in made.evaluation.generators else ' (did not feed the pool)'}",
            *(f"{values[measure] or 0:.3f}" for measure in SHOWN),
            f"{truth[name] or 0:.3f}",
        ]
        for name, values in scores.items()
    ]
    table(["encoder", *SHOWN, "true HR@5"], rows)
    first = {measure: max(scores, key=lambda name: scores[name][measure] or 0.0) for measure in SHOWN}
    said = ", ".join(f"{measure} {encoder}" for measure, encoder in first.items() if measure != "coverage@5")
    say(f"Highest by {said}. In truth: {max(truth, key=lambda name: truth[name] or 0.0)}.")
    say(
        "",
        f"Done in {time.monotonic() - started:.0f} s. The report: {made.report.resolve()} (open it in a browser).",
    )
    example = made.workspace.catalog.image[0]
    next_step(
        f"lookalike search {example} --encoder hog -k 5 --workspace {output}",
        "lookalike init YOUR_PHOTOS --workspace FOLDER",
    )


def _silent(*sentences: str) -> None:
    """Say nothing: the JSON object says it all."""
