"""`lookalike finetune`."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, plural, print_json, progress, say
from lookalike.cli.embed import duration
from lookalike.cli.finetuned import ahead_sentences, as_json, outcome_sentences
from lookalike.core.checks import one_of
from lookalike.learn.settings import KEEP, LOSSES, TRIPLETS, UNJUDGED, Settings
from lookalike.positive.graph import NODES
from lookalike.positive.positiveness import Softness

if TYPE_CHECKING:
    from lookalike.learn.state import Epoch
    from lookalike.recipes.finetune_ahead import Ahead

POSITIVES = ("soft", "full", "labels")
WORTH_TELLING = 5.0  # seconds
DEFAULT, SOFT = Settings(), Softness()


def finetune(
    encoder: Annotated[
        str, typer.Argument(help="Name of an encoder with vectors in the workspace.", metavar="ENCODER")
    ],
    name: Annotated[str, typer.Option(help="Name of the encoder that is made.")],
    workspace: WorkspaceOption = Path(),
    loss: Annotated[
        str,
        typer.Option(
            help="supcon: a similar image is to stand out among all of the batch; con: similar ones are to "
            "meet, others to keep a distance; trpl: others are to be farther off than similar ones (triplets).",
            metavar="|".join(LOSSES),
        ),
    ] = DEFAULT.loss,
    positives: Annotated[
        str,
        typer.Option(
            help="What counts as similar. labels: pairs labelled so; soft: also pairs joined by a chain of "
            "them, the less the longer it is (SPA); full: such pairs fully (NSPA).",
            metavar="|".join(POSITIVES),
        ),
    ] = "soft",
    beta: Annotated[float, typer.Option(help="Of soft: a chain of d pairs weighs exp(-beta d).")] = SOFT.beta,
    max_distance: Annotated[
        int, typer.Option(help="Of soft and full: the longest chain that counts.")
    ] = SOFT.max_distance,
    nodes: Annotated[
        str,
        typer.Option(
            help="item: a label holds for all photos of its two items; image: for its two photos alone.",
            metavar="|".join(NODES),
        ),
    ] = "item",
    unjudged: Annotated[
        str,
        typer.Option(
            help="Pairs of a batch that nobody labelled and no chain joins: negative (as in the paper) or ignore.",
            metavar="|".join(UNJUDGED),
        ),
    ] = DEFAULT.unjudged,
    temperature: Annotated[
        float, typer.Option(help="Of supcon: the lower, the more the nearest dissimilar images count.")
    ] = DEFAULT.temperature,
    margin: Annotated[
        float | None,
        typer.Option(help="Of con and trpl: the distance to keep.", show_default="1 for con, 0.2 for trpl"),
    ] = None,
    triplets: Annotated[
        str,
        typer.Option(
            help="Of trpl. hard: the dissimilar image is nearer; semihard: farther, but within the margin.",
            metavar="|".join(TRIPLETS),
        ),
    ] = DEFAULT.triplets,
    epochs: Annotated[int, typer.Option(help="Rounds over all images with a similar one.")] = DEFAULT.epochs,
    batch: Annotated[int, typer.Option(help="Images in a batch.")] = DEFAULT.batch,
    rate: Annotated[
        float, typer.Option(help="Learning rate at the beginning; it falls to a tenth.")
    ] = DEFAULT.rate,
    measure: Annotated[
        str,
        typer.Option(
            help="What chooses the epoch, on the validation split: a measure of labels alone (no drawn negatives)."
        ),
    ] = DEFAULT.measure,
    keep: Annotated[
        str,
        typer.Option(
            help="best: the epoch that --measure chooses; last: the last one, whatever few labels say.",
            metavar="|".join(KEEP),
        ),
    ] = DEFAULT.keep,
    patience: Annotated[
        int | None,
        typer.Option(help="End after so many epochs without a better one.", show_default="never"),
    ] = DEFAULT.patience,
    seed: Annotated[
        int, typer.Option(help="Seed of the head, the batches and the views.", min=0)
    ] = DEFAULT.seed,
    views: Annotated[
        int,
        typer.Option(
            help="1: the vectors that are there; more: so many augmented photos of each image are embedded first.",
            min=1,
            max=100,
        ),
    ] = 1,
    projection: Annotated[
        int, typer.Option(help="Numbers of a vector of the new encoder.", min=1, show_default="2048")
    ] = 2048,
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    onnx: Annotated[
        Path | None, typer.Option(help="Also write the new encoder to this ONNX file.", show_default="none")
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Train afresh over a run of this name.")] = False,
    json: JsonOption = False,
) -> None:
    """Train a better encoder from labels: a small head on the vectors of one you have.

    Labels of the training split teach it, those of the validation split choose the epoch; the test split is not
    touched. A run that was stopped goes on where it stood. No GPU is needed.
    """
    settings = Settings(
        loss=loss,
        soft=_soft(positives, beta, max_distance),
        unjudged=unjudged,
        temperature=temperature,
        margin=margin,
        triplets=triplets,
        epochs=epochs,
        batch=batch,
        rate=rate,
        measure=measure,
        keep=keep,
        patience=patience,
        seed=seed,
    )
    from lookalike.recipes import finetune as recipe
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    recipe.require_learning()
    from lookalike.recipes.training import Asked

    asked = Asked(settings, one_of(nodes, NODES, "nodes"), views, projection)
    with progress(f"Training {name}", quiet=json) as bar:
        pace = Pace(epochs, time.monotonic)
        watch = recipe.Watch(
            begin=None if json else pace.begin, epoch=None if json else pace.epoch, step=bar, views=bar
        )
        found = recipe.finetune(
            opened, encoder, name, asked, device=device, onnx=onnx, replace=replace, watch=watch
        )
    if json:
        print_json(as_json(found))
        return
    say(*outcome_sentences(found))
    next_step(f"lookalike evaluate {encoder} {name} --split test", workspace=workspace)


def _soft(positives: str, beta: float, max_distance: int) -> Softness | None:
    """The paper's three kinds of positives."""
    one_of(positives, POSITIVES, "positives")
    if positives == "labels":
        return None
    return Softness(0.0 if positives == "full" else beta, max_distance)


class Pace:
    """Says what lies ahead, and how long it will take once the first epoch of this command is done, if that is long."""

    def __init__(self, epochs: int, clock: Callable[[], float]) -> None:
        self.epochs, self.clock = epochs, clock
        self.started: float | None = None

    def begin(self, ahead: "Ahead", done: int) -> None:
        """What the run will see."""
        say(*ahead_sentences(ahead))
        if done:
            say(f"An earlier command did {plural(done, 'epoch')}; this one goes on from there.")
        self.started = self.clock()

    def epoch(self, epoch: "Epoch") -> None:
        """The first epoch of this command tells how long the others will take."""
        if self.started is None:
            return
        spent, self.started = self.clock() - self.started, None
        left = (self.epochs - epoch.number) * spent
        if left > WORTH_TELLING:
            say(f"An epoch takes {spent:.1f} s: about {duration(left)} more for all {self.epochs:,}.")
