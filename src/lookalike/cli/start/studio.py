"""`lookalike studio`."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.core.errors import ArgumentError
from lookalike.core.text import megabytes, plural
from lookalike.studio import Studio
from lookalike.studio import studio as generate
from lookalike.studio.claims import FEWEST, MOST, TIMES
from lookalike.studio.truth import THRESHOLD
from lookalike.workflows.start import studio as workflow
from lookalike.workflows.start.studio import Claims, DrawingCost, StudioSummary


@result(StudioSummary)
def studio(
    folder: Annotated[
        Path | None,
        typer.Argument(
            help="Folder to draw the photos into: new, empty, or of a stopped run.", metavar="FOLDER"
        ),
    ] = None,
    photos: options.Photo = 2000,
    photos_per_item: Annotated[int, typer.Option(help="Photos of each item.", min=1, max=99)] = 2,
    seed: options.Seed = 0,
    size: Annotated[int, typer.Option(help="Width and height of a photo in pixels.", min=16, max=1024)] = 160,
    masks: Annotated[
        bool,
        typer.Option("--masks", help="Also write exact masks and boxes, and a catalog.csv that names them."),
    ] = False,
    claims: Annotated[
        bool, typer.Option("--claims", help="Measure the ground truth and the simulated experts.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Draw a catalog of furniture in which the true similarity of every pair is known.

    A stopped run is resumed by the same command.
    """
    if folder is None and not claims:
        raise ArgumentError(
            "There is nothing to do: no FOLDER and no --claims.",
            fix="To draw photos: lookalike studio FOLDER. To check the ground truth: lookalike studio --claims",
        )
    drawn = generate(photos, photos_per_item=photos_per_item, seed=seed)
    found = StudioSummary(photos, drawn.items, photos_per_item, seed)
    if folder is not None:
        with progress("Drawing photos", quiet=json) as bar:
            before = None if json else _print_estimate
            written = workflow.write_studio(folder, drawn, size=size, before=before, progress=bar)
        if masks:
            with progress("Drawing masks", quiet=json) as bar:
                workflow.write_masks(folder, drawn, size=size, progress=bar)
        found = replace(found, folder=str(folder), drawn=written.drawn, kept=written.kept)
        if not json:
            there = f" {plural(written.kept, 'photo')} already existed." if written.kept else ""
            say(f"Drew {plural(written.drawn, 'photo')} into {folder} in {written.seconds:.0f} s.{there}")
    if claims:
        with progress("Measuring", quiet=json) as bar:
            counted = workflow.claims(drawn, progress=bar)
        found = replace(found, truth=counted.truth, experts=counted.experts)
        if not json:
            _print_claims(drawn, counted)
    if json:
        print_json(found)
    elif folder is not None:
        workspace = shlex.quote(f"{folder}-workspace")
        source = folder / workflow.TABLE if masks else folder
        next_step(f"lookalike init {shlex.quote(str(source))} --workspace {workspace}")


def _print_estimate(expected: DrawingCost) -> None:
    say(
        f"Drawing {plural(expected.photos, 'photo')} takes {megabytes(expected.bytes)} on disk. You can stop with "
        "Ctrl-C and resume with the same command."
    )


def _print_claims(drawn: Studio, counted: Claims) -> None:
    truth, people = counted.truth, counted.experts
    quantiles = " ".join(f"{number:.0f}" for number in truth.positives)
    say(
        f"Ground truth of {plural(len(drawn), 'image')} of {plural(drawn.items, 'item')}, seed {drawn.seed}, "
        f"measured on {plural(truth.queries, 'query', 'queries')}, {plural(truth.pairs_of_a_kind, 'pair')} of the "
        f"same kind and {truth.pairs_across_kinds:,} of different kinds:"
    )
    table(
        ["", ""],
        [
            ["similar pairs, share of all pairs of items", f"{100 * truth.positive_share:.4f}%"],
            ["similar items per query, mean", f"{truth.positives_mean:.1f}"],
            ["  minimum, 5%, 25%, 50%, 75%, 95%, maximum", quantiles],
            [f"queries with {FEWEST} to {MOST} similar items", f"{100 * truth.within:.1f}%"],
            ["similar pairs across style families", f"{100 * truth.cross_family:.2f}%"],
            ["similar pairs across kinds", f"{100 * truth.cross_kind:.2f}%"],
            [
                f"highest similarity across families (similar: {THRESHOLD:.2f} or more)",
                f"{truth.closest_families:.2f}",
            ],
        ],
    )
    say(
        "",
        f"{people.experts} simulated experts on {plural(people.pairs, 'pair')} of a difficult pool, "
        f"{100 * people.positive_share:.0f}% of them truly similar:",
    )
    table(
        ["", ""],
        [
            ["agreement of two experts", f"{100 * people.agreement:.1f}%"],
            ["Cohen's kappa of two experts", f"{people.kappa:.2f}"],
            [f"same answer in two of {TIMES} repeats", f"{100 * people.self_consistency:.1f}%"],
            ["wrong votes", f"{100 * people.wrong:.1f}%"],
            ["wrong labels where two experts agree", f"{100 * people.resolved_wrong:.1f}%"],
        ],
    )
