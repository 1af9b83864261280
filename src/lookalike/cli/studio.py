"""`lookalike studio`."""

import shlex
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.console import JsonOption, next_step, plural, print_json, progress, say, table
from lookalike.core.errors import ArgumentError

if TYPE_CHECKING:
    from lookalike.catalog.studio import Studio
    from lookalike.recipes.studio import Claims, Estimate


def studio(
    folder: Annotated[
        Path | None,
        typer.Argument(help="Folder to draw the photos into: new, empty, or a run that was stopped."),
    ] = None,
    images: Annotated[int, typer.Option(help="Photos in all.", min=200, max=1_000_000)] = 2000,
    photos_per_item: Annotated[int, typer.Option(help="Photos of each item.", min=1, max=99)] = 2,
    seed: Annotated[int, typer.Option(help="Another seed, another catalog.", min=0)] = 0,
    size: Annotated[
        int, typer.Option(help="Width and height of a photo, in pixels.", min=16, max=1024)
    ] = 160,
    claims: Annotated[
        bool, typer.Option("--claims", help="Count what is claimed of its truth and its experts.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Draw a catalog of furniture whose true likeness is known for every pair, or check what it claims."""
    from lookalike.catalog.studio import studio as make
    from lookalike.recipes.studio import claims as count
    from lookalike.recipes.studio import write_studio

    if folder is None and not claims:
        raise ArgumentError(
            "Neither FOLDER nor --claims is given.",
            fix="Draw photos: lookalike studio FOLDER. Count the claims: lookalike studio --claims",
        )
    drawn = make(images, photos_per_item=photos_per_item, seed=seed)
    told: dict[str, Any] = {
        "images": images,
        "items": drawn.items,
        "photos_per_item": photos_per_item,
        "seed": seed,
    }
    if folder is not None:
        with progress("Drawing photos", quiet=json) as bar:
            before = None if json else _tell_estimate
            written = write_studio(folder, drawn, size=size, before=before, progress=bar)
        told |= {"folder": str(folder), "drawn": written.drawn, "kept": written.kept}
        if not json:
            were = (
                f" {plural(written.kept, 'photo was', 'photos were')} there already." if written.kept else ""
            )
            say(f"{plural(written.drawn, 'photo')} drawn in {written.seconds:.0f} s into {folder}.{were}")
    if claims:
        with progress("Counting", quiet=json) as bar:
            counted = count(drawn, progress=bar)
        told |= {"truth": asdict(counted.truth), "experts": asdict(counted.experts)}
        if not json:
            _print_claims(drawn, counted)
    if json:
        print_json(told)
    elif folder is not None:
        workspace = shlex.quote(f"{folder}-workspace")
        next_step(f"lookalike init {shlex.quote(str(folder))} --workspace {workspace}")


def _tell_estimate(expected: "Estimate") -> None:
    from lookalike.catalog.studio.photos import cores

    say(
        f"{plural(expected.photos, 'photo')} to draw: about {_time(expected.seconds)} on "
        f"{plural(cores(), 'core')}, {expected.bytes / 1e6:,.0f} MB. Ctrl-C is safe; the same command goes on."
    )


def _time(seconds: float) -> str:
    """In seconds, minutes or hours.

    >>> _time(4.2), _time(90), _time(7_200)
    ('4 s', '1.5 min', '2.0 h')
    """
    if seconds < 60:
        return f"{max(seconds, 1):.0f} s"
    return f"{seconds / 60:.1f} min" if seconds < 3600 else f"{seconds / 3600:.1f} h"


def _print_claims(drawn: "Studio", counted: "Claims") -> None:
    from lookalike.catalog.studio.claims import FEWEST, MOST, TIMES
    from lookalike.catalog.studio.truth import THRESHOLD

    truth, people = counted.truth, counted.experts
    quantiles = " ".join(f"{number:.0f}" for number in truth.positives)
    say(
        f"The truth of {plural(len(drawn), 'image')} of {plural(drawn.items, 'item')}, seed {drawn.seed}, counted on "
        f"{plural(truth.queries, 'query', 'queries')}, {plural(truth.pairs_of_a_kind, 'pair')} of one kind and "
        f"{truth.pairs_across_kinds:,} of two:"
    )
    table(
        ["", ""],
        [
            ["similar pairs among all pairs of items", f"{100 * truth.positive_share:.4f} %"],
            ["similar items for a query, mean", f"{truth.positives_mean:.1f}"],
            ["least, 5 %, 25 %, half, 75 %, 95 %, most", quantiles],
            [f"queries with {FEWEST} to {MOST}", f"{100 * truth.within:.1f} %"],
            ["similar, but of another style family", f"{100 * truth.cross_family:.2f} %"],
            ["similar, but of another kind", f"{100 * truth.cross_kind:.2f} %"],
            [
                f"highest similarity across families (similar from {THRESHOLD:.2f})",
                f"{truth.closest_families:.2f}",
            ],
        ],
    )
    say(
        "",
        f"{people.experts} simulated experts on {plural(people.pairs, 'pair')} of a demanding pool, of which "
        f"{100 * people.positive_share:.0f} % are similar in truth:",
    )
    table(
        ["", ""],
        [
            ["two experts agree on", f"{100 * people.agreement:.1f} %"],
            ["Cohen's kappa of two", f"{people.kappa:.2f}"],
            [f"same answer at two of {TIMES} times", f"{100 * people.self_consistency:.1f} %"],
            ["votes against the truth", f"{100 * people.wrong:.1f} %"],
            ["labels against the truth, where two agree", f"{100 * people.settled_wrong:.1f} %"],
        ],
    )
