"""`lookalike bias`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.console import JsonOption, folded, number, plural, print_json, progress, say, table
from lookalike.core.errors import ArgumentError

if TYPE_CHECKING:
    from lookalike.audit.bias import Estimate
    from lookalike.recipes.bias import Bias


def bias(
    workspace: Annotated[
        Path | None,
        typer.Option(
            "--workspace", "-w", help="A workspace with complete labels.", show_default="the studio catalog"
        ),
    ] = None,
    images: Annotated[int, typer.Option(help="Photos in each studio.", min=200, max=100_000)] = 2000,
    studios: Annotated[int, typer.Option(help="Studios, each of another seed.", min=1, max=100)] = 1,
    pools: Annotated[int, typer.Option(help="Simulated pools in all.", min=1, max=100_000)] = 500,
    seed: Annotated[int, typer.Option(help="Another seed, other studios and pools.", min=0)] = 0,
    output: Annotated[
        Path | None,
        typer.Option(help="Folder for bias.csv, pools.csv and bias.svg.", show_default="none are written"),
    ] = None,
    calibration: Annotated[
        Path | None,
        typer.Option(help="File for the table behind the verdict's words.", show_default="not written"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Simulate many pools where the truth is known, and say how far each measure can be trusted on such pools."""
    from lookalike.recipes.bias import bias_on_studio, bias_on_workspace, write_calibration, write_results
    from lookalike.recipes.trained import left_out, trained
    from lookalike.store.workspace import Workspace

    if workspace is not None and calibration is not None:
        raise ArgumentError(
            "--calibration is made on the studio catalog, but a workspace is given.",
            fix="Leave out --workspace, or leave out --calibration.",
        )

    def bar(doing: str) -> Any:  # noqa: ANN401 - a context manager of progress
        return progress(doing, quiet=json)

    taught: tuple[str, ...] = ()
    if workspace is None:
        found = bias_on_studio(images, studios, pools, seed, bar)
        where = f"the studio catalog ({plural(studios, 'studio')} of {images:,} images)"
    else:
        opened = Workspace(workspace)
        found, taught = bias_on_workspace(opened, pools, seed, bar), trained(opened)
        where = "complete labels of a workspace"
    written = (
        write_results(found, output, f"Bias on {where}, {found.pools:,} pools") if output is not None else []
    )
    if calibration is not None:
        write_calibration(found, calibration)
        written.append(calibration)
    if json:
        print_json(
            _as_json(found) | {"trained_left_out": list(taught), "written": [str(path) for path in written]}
        )
        return
    _print(found, where)
    say(*left_out(taught))
    for path in written:
        say(f"Written: {path}")


def _as_json(found: "Bias") -> dict[str, Any]:
    return {
        "made": found.made,
        "pools": found.pools,
        "true_HR@5": {name: value for name, (value, _) in found.truth.items()},
        "figures": [
            {
                "measure": cell.measure,
                "figure": cell.figure,
                "where": cell.where,
                "value": number(cell.estimate.value),
                "low": number(cell.estimate.low),
                "high": number(cell.estimate.high),
                "n": cell.estimate.n,
                "pools": cell.estimate.pools,
            }
            for cell in found.cells
        ],
        "words": [
            {
                "measure": h.measure,
                "word": h.word,
                "promised": number(h.promised),
                "share": h.share,
                "pairs": h.pairs,
            }
            for h in found.held
        ],
    }


def _print(found: "Bias", where: str) -> None:
    from lookalike.audit.bias import band_name
    from lookalike.audit.trust import BANDS, KINDS

    cells = {(c.measure, c.figure, c.where): c.estimate for c in found.cells}
    measures = list(dict.fromkeys(cell.measure for cell in found.cells))
    truths = [value for value, _ in found.truth.values()]
    say(
        folded(
            f"{plural(found.pools, 'simulated pool')} on {where}; {plural(len(truths), 'encoder')} "
            f"with a true HR@5 of {min(truths):.2f} to {max(truths):.2f}."
        ),
        "In brackets: 95 % intervals, from drawing whole pools again.",
        "",
        "How often a measure orders two encoders as the true HR@5 does, in %:",
    )
    columns = [("ordered right", kind) for kind in KINDS] + [
        ("ordered right where its test separates", "one newcomer"),
        ("separated", "one newcomer"),
    ]
    heads = ["measure", "Spearman", *KINDS, "one newcomer, p < .05", "so often"]
    table(
        heads,
        [
            [
                name,
                _cell(cells.get((name, "Spearman", "all encoders"))),
                *(_cell(cells.get((name, *column)), percent=True) for column in columns),
            ]
            for name in measures
        ],
    )
    say("", "Score minus the true HR@5, for encoders that did not feed the pool:")
    wheres = [f"newcomers, {band_name(place)}" for place in range(len(BANDS) - 1)]
    scaled = [name for name in measures if (name, "bias", "newcomers") in cells]
    table(
        ["estimate", "newcomers", "root mean square", *(w.rpartition(", ")[2] for w in wheres)],
        [
            [
                name,
                _cell(cells[name, "bias", "newcomers"]),
                f"{cells[name, 'RMSE', 'newcomers'].value:.3f}",
                *(_cell(cells[name, "bias", w], short=True) for w in wheres),
            ]
            for name in scaled
        ],
    )
    gained = "Places that newcomers gain among the encoders, in % of the list (0: none, above 0: flattered):"
    say("", folded(gained))
    table(
        ["measure", "newcomers", "generators"],
        [
            [
                name,
                *(
                    _cell(cells.get((name, "places gained", w)), percent=True)
                    for w in ("newcomers", "generators")
                ),
            ]
            for name in measures
        ],
    )
    say("", "What the shipped calibration says of these pairs, and what was so (% ordered right):")
    table(
        ["measure", "word", "promised", "was", "pairs"],
        [
            [
                h.measure,
                h.word,
                "" if h.word == "unknown" else f"{100 * h.promised:.1f}",
                f"{100 * h.share:.1f}",
                f"{h.pairs:,}",
            ]
            for h in found.held
        ],
        left=2,
    )


def _cell(one: "Estimate | None", *, percent: bool = False, short: bool = False) -> str:
    if one is None or one.n == 0:
        return "-"
    if percent:
        return f"{100 * one.value:.1f} [{100 * one.low:.1f}, {100 * one.high:.1f}]"
    return f"{one.value:+.3f} ({one.n:,})" if short else f"{one.value:.3f} [{one.low:.3f}, {one.high:.3f}]"
