"""`lookalike bias`."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.audit.trust import BANDS, KINDS
from lookalike.cli import options
from lookalike.cli.console import print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.core.errors import ArgumentError
from lookalike.core.text import folded, plural
from lookalike.research.bias.encoder_pairs import band_name
from lookalike.research.bias.ground_truths import Kind
from lookalike.research.bias.run import (
    FILES,
    BiasResult,
    bias_on_studio,
    bias_on_workspace,
    write_calibration,
    write_results,
)
from lookalike.research.bias.statistics import BiasFigure
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import left_out

Cells = Mapping[tuple[str, str, str], BiasFigure]  # by measure, figure and place


@result(BiasResult)
def bias(
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace",
            "-w",
            help="Folder of a workspace with complete labels.",
            metavar="DIR",
            show_default="generated catalogs",
        ),
    ] = None,
    photos: options.Photo = 2000,
    studios: Annotated[
        int, typer.Option(help="Number of generated catalogs, each with its own seed.", min=1, max=100)
    ] = 1,
    queries: Annotated[
        Kind,
        typer.Option(
            help="Queries of generated catalogs. catalog: photos of the catalog; wild: photos of another style; split: "
            "queries and candidates of a test split, pools of the whole catalog."
        ),
    ] = "catalog",
    pools: Annotated[int, typer.Option(help="Number of simulated pools in all.", min=1, max=100_000)] = 500,
    seed: options.Seed = 0,
    output: Annotated[
        Path | None,
        options.output("Write bias.csv, pools.csv and bias.svg to this folder.", metavar="DIR"),
    ] = None,
    calibration: Annotated[
        Path | None,
        options.file("--calibration", "Write the table behind the words of `audit` to this file."),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Simulate many pools with a known ground truth, and show how far each measure can be trusted on such pools."""

    if workspace is not None and calibration is not None:
        raise ArgumentError(
            "--calibration needs generated catalogs, but --workspace is given.",
            fix="Leave out --workspace or --calibration.",
        )
    if queries != "catalog" and (workspace is not None or calibration is not None):
        raise ArgumentError(
            f"--queries {queries} needs generated catalogs, and no calibration is made from them.",
            fix="Leave out --queries, or --workspace and --calibration.",
        )
    files = [output / name for name in FILES] if output is not None else []
    options.require_new(*files, calibration, force=force)

    def bar(doing: str) -> Any:  # noqa: ANN401 - a context manager of progress
        return progress(doing, quiet=json)

    if workspace is None:
        outcomes, found = bias_on_studio(photos, studios, pools, seed, bar, kind=queries)
        of_kind = "" if queries == "catalog" else f", {queries} queries"
        where = f"generated catalogs ({plural(studios, 'catalog')} of {photos:,} photos{of_kind})"
    else:
        outcomes, found = bias_on_workspace(Workspace(workspace), pools, seed, bar)
        where = "the complete labels of a workspace"
    written = []
    if output is not None:
        written += write_results(outcomes, found, output, f"Bias on {where}, {found.pools:,} pools")
    if calibration is not None:
        write_calibration(outcomes, found, calibration, bar)
        written.append(calibration)
    if json:
        print_json(replace(found, written=tuple(map(str, written))))
        return
    _print(found, where)
    say(*left_out(found.trained_left_out))
    for path in written:
        say(f"Wrote {path}.")


def _print(found: BiasResult, where: str) -> None:
    measures = list(dict.fromkeys(cell.measure for cell in found.figures))
    truths = list(found.true_hr5.values())
    say(
        folded(
            f"{plural(found.pools, 'simulated pool')} on {where}; {plural(len(truths), 'encoder')} with a true HR@5 of "
            f"{min(truths):.2f} to {max(truths):.2f}. In brackets: 95% intervals over pools."
        )
    )
    cells = {(one.measure, one.figure, one.where): one for one in found.figures}
    _print_orders(cells, measures)
    _print_errors(cells, measures)
    _print_intervals(cells)
    _print_places(cells, measures)
    say("", "Words of the shipped calibration for these pairs, and what was true (% ordered correctly):")
    rows = [
        [
            one.measure,
            one.word,
            "" if one.word == "unknown" else f"{100 * one.promised:.1f}",
            f"{100 * one.share:.1f}",
            f"{one.pairs:,}",
        ]
        for one in found.words
    ]
    table(["measure", "word", "expected", "true", "pairs"], rows, left=2)


def _print_orders(cells: Cells, measures: Sequence[str]) -> None:
    say("", "How often a measure orders two encoders as the true HR@5 does, in %:")
    columns = [("ordered right", kind) for kind in KINDS] + [
        ("ordered right where its test separates", "one outside"),
        ("separated", "one outside"),
    ]
    table(
        ["measure", "Spearman", *KINDS, "one outside, p < .05", "how often"],
        [
            [
                name,
                _cell(cells.get((name, "Spearman", "all encoders"))),
                *(_cell(cells.get((name, *column)), percent=True) for column in columns),
            ]
            for name in measures
        ],
    )


def _print_errors(cells: Cells, measures: Sequence[str]) -> None:
    say("", "Score minus the true HR@5, for encoders outside the pool:")
    bands = [f"outside, {band_name(place)}" for place in range(len(BANDS) - 1)]
    table(
        ["estimate", "encoders outside", "root mean square", *(band.rpartition(", ")[2] for band in bands)],
        [
            [
                name,
                _cell(cells[name, "bias", "outside"]),
                f"{cells[name, 'RMSE', 'outside'].value:.3f}",
                *(_cell(cells[name, "bias", band], short=True) for band in bands),
            ]
            for name in measures
            if (name, "bias", "outside") in cells
        ],
    )


def _print_intervals(cells: Cells) -> None:
    say("", "How often the 95% interval of HR@5 corrected contains the true HR@5 of all queries, in %:")
    bands = [f"outside, {band_name(place)}" for place in range(len(BANDS) - 1)]
    wheres = ["generators", "outside", *bands]
    rows = [
        [name, *(_cell(cells.get(("HR@5 corrected", figure, where)), percent=percent) for where in wheres)]
        for name, figure, percent in (
            ("with the error of the curve", "interval holds the truth", True),
            ("of the queries alone", "interval of the draw of queries holds the truth", True),
            ("mean width", "width of the interval", False),
        )
    ]
    table(["interval", *(where.removeprefix("outside, ") for where in wheres)], rows)
    say("", "The same of the difference of two encoders, with the error of the curve:")
    of_pairs = [
        _cell(cells.get(("HR@5 corrected", "interval of a difference holds the truth", kind)), percent=True)
        for kind in KINDS
    ]
    table(["", *KINDS], [["with the error of the curve", *of_pairs]])


def _print_places(cells: Cells, measures: Sequence[str]) -> None:
    heading = (
        "Places gained in the ranking of encoders, in % of its length (above 0: the measure favours them):"
    )
    say("", folded(heading))
    rows = [
        [
            name,
            *(
                _cell(cells.get((name, "places gained", who)), percent=True)
                for who in ("outside", "generators")
            ),
        ]
        for name in measures
    ]
    table(["measure", "encoders outside", "generators"], rows)


def _cell(one: BiasFigure | None, *, percent: bool = False, short: bool = False) -> str:
    if one is None or one.n == 0:
        return "-"
    if percent:
        return f"{100 * one.value:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]"
    return f"{one.value:+.3f} ({one.n:,})" if short else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"
