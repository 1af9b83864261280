"""`lookalike demo`."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import partial
from pathlib import Path
from textwrap import fill
from typing import Annotated, Any

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.evaluate.significance.sentence import full, sentence, verdict
from lookalike.workflows.demo.demo import Demo
from lookalike.workflows.demo.demo import demo as run
from lookalike.workflows.demo.learning import Learned

SAID = ("HR@5", "EHR@5", "AUC_mac")
LEARNED, TRUE = ("DCS(alpha=10)", "EHR@5", "AUC_mac"), ("HR@5", "AUC_mac")
WIDTH = 110


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
    tell = _silent if json else say
    made = run(workspace, datetime.now().astimezone(), bar, tell, images=photos, queries=queries, seed=seed)
    truth = {one.encoder: one["HR@5"].value for one in made.truth}
    if json:
        print_json(
            {
                "workspace": str(workspace),
                "report": str(made.report),
                "scores": {
                    one.encoder: {name: score.value for name, score in one.scores.items()}
                    for one in made.evaluation.scores
                },
                "intervals": {
                    encoder: {name: asdict(around) for name, around in known.items()}
                    for encoder, known in made.sure.intervals.items()
                },
                "verdicts": {name: _verdict(made, name) for name in SAID},
                "learned": None if made.learned is None else _learned_json(made.learned),
                "true_HR@5": {encoder: value for encoder, value in truth.items()},
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
        for proven in _verdict(made, name)[:1]:
            say(fill(proven, WIDTH, initial_indent="  ", subsequent_indent="    "))
    known = [encoder for encoder, value in truth.items() if not math.isnan(value)]
    if known:
        best = max(known, key=lambda encoder: truth[encoder])
        say(f"In truth, which only a drawn catalog knows, {best} has the highest HR@5: {truth[best]:.3f}.")
    if made.learned is not None:
        _tell_learned(made.learned)
    say(
        "",
        f"Done in {time.monotonic() - started:.0f} s. The report: {made.report.resolve()} (open it in a browser).",
    )
    example = made.workspace.catalog.image[0]
    taught = made.learned and made.learned.outcome
    next_step(
        f"lookalike audit --workspace {workspace}",
        *([f"lookalike evaluate {taught.base} {taught.encoder} --workspace {workspace}"] if taught else []),
        f"lookalike search {example} --encoder hog -k 5 --workspace {workspace}",
        f"lookalike users add YOUR_NAME --role lead --workspace {workspace}",
        f"lookalike serve --workspace {workspace}",
        "lookalike init YOUR_PHOTOS --workspace FOLDER",
    )


def _rows(made: Demo, truth: Mapping[str, float]) -> list[list[str]]:
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


def _verdict(made: Demo, name: str) -> list[str]:
    """The best encoder by one measure against the others; nothing where none has a value."""

    defined = [one for one in made.evaluation.scores if not math.isnan(one[name].value)]
    if not defined:
        return []
    best = max(defined, key=lambda one: one[name].value)
    return [full(said) for said in verdict(best.encoder, made.sure.comparisons[name])]


def _tell_learned(learned: Learned) -> None:
    """Before and after, by the labels of the test split and by its truth, and what each proves."""
    by_labels, by_truth = (
        {one.encoder: one for one in scores} for scores in (learned.found.scores, learned.truth)
    )
    queries = learned.truth[0]["HR@5"].queries
    say(
        "",
        f"Learning, on the test split: {learned.found.labels:,} labels, and the truth of all its {queries:,} queries.",
    )
    table(
        ["encoder", *(f"{name}, labels" for name in LEARNED), *(f"true {name}" for name in TRUE)],
        [
            [
                encoder,
                *(_shown(by_labels[encoder][name].value) for name in LEARNED),
                *(_shown(by_truth[encoder][name].value) for name in TRUE),
            ]
            for encoder in by_labels
        ],
    )
    for where, proven in _learned_words(learned).items():
        say(fill(f"{where}: {proven}", WIDTH, initial_indent="  ", subsequent_indent="    "))


def _learned_words(learned: Learned) -> dict[str, str]:
    """What the labels of the test split prove, and what its truth does."""

    name, true = LEARNED[0], TRUE[0]
    return {
        "By the labels": full(sentence(learned.sure.comparisons[name][0].swapped)),
        "In truth": full(sentence(learned.sure_of_truth.comparisons[true][0].swapped)),
    }


def _learned_json(learned: Learned) -> dict[str, Any]:
    scores = {"labels": learned.found.scores, "truth": learned.truth}
    return {
        "encoder": learned.outcome.encoder,
        "base": learned.outcome.base,
        "epochs": len(learned.outcome.history),
        "best": learned.outcome.best,
        "split": learned.found.rule.split,
        **{
            where: {one.encoder: {name: score.value for name, score in one.scores.items()} for one in some}
            for where, some in scores.items()
        },
        "words": _learned_words(learned),
    }


def _shown(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.3f}"


def _silent(*sentences: str) -> None:
    """Say nothing: the JSON object says it all."""
