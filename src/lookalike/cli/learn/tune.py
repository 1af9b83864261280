"""`lookalike tune`."""

from typing import Annotated, Literal

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.learn.tune_text import outcome_sentences, preview_sentences, trial_sentence
from lookalike.cli.options import HERE
from lookalike.learn.request import TrainingRequest
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn import tune as workflow

DEFAULT = TrainingRequest()


@result(workflow.TuningOutcome)
def tune(
    context: typer.Context,
    encoder: Annotated[
        str, typer.Argument(help="Name of an encoder with vectors in the workspace.", metavar="ENCODER")
    ],
    workspace: options.Workspace = HERE,
    trials: Annotated[
        int, typer.Option(help="Number of trials, with those of earlier commands.", min=1)
    ] = 20,
    jobs: Annotated[
        int, typer.Option(help="Number of trials at once. Each has its share of the processors.", min=1)
    ] = 1,
    storage: Annotated[
        str,
        typer.Option(
            help="Keep the trials in this PostgreSQL database, so that several machines share them.",
            metavar="ADDRESS",
            show_default="the database of the workspace if it is PostgreSQL, or a file",
        ),
    ] = "",
    request: TrainingRequest = DEFAULT,
    device: Annotated[Literal["auto", "cpu", "cuda"], typer.Option(help="Where to train.")] = "auto",
    json: options.Json = False,
) -> None:
    """Find the settings with which `finetune` trains best: rate, batch, and temperature, margin or sigma.

    Each trial trains with other settings and keeps no model. Its value is the best --measure on the validation split;
    the test split is not used. The first trial has the defaults. Settings that you give are not tuned. The same command
    continues after a kill, and with more --trials.
    """
    opened = Workspace(workspace)
    with progress(f"Tuning {encoder}", quiet=json) as bar:
        found = workflow.tune(
            opened,
            encoder,
            request,
            options.given(context),
            trials=trials,
            jobs=jobs,
            storage=storage,
            device=device,
            callbacks=workflow.TuningCallbacks(
                begin=None
                if json
                else lambda preview: say(*preview_sentences(preview, encoder, request.measure)),
                trial=None if json else lambda trial: say(trial_sentence(trial)),
                step=bar,
            ),
        )
    if json:
        print_json(found)
        return
    say(*outcome_sentences(found))
    next_step(found.command, workspace=workspace)
