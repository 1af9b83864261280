"""`lookalike discover`."""

import math
import shlex
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    next_step,
    number,
    plural,
    print_json,
    progress,
    say,
    table,
)


def discover(
    workspace: WorkspaceOption = Path(),
    generators: Annotated[
        str | None,
        typer.Option(help="Encoders that fill the pool, by commas.", show_default="all, for a new pool"),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Distinct items each generator puts forward per query.",
            show_default="the pool's, else 5",
            min=1,
            max=100_000,
        ),
    ] = None,
    queries: Annotated[
        int | None,
        typer.Option(help="How many queries to sample.", show_default="the pool's, else all", min=1),
    ] = None,
    queries_file: Annotated[
        Path | None, typer.Option(help="Text file with one query image per line.")
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(help="Write the pairs, with an empty label column, to a .csv or .parquet file."),
    ] = None,
    votes: Annotated[int, typer.Option(help="Votes per pair, for the estimate of hours.", min=1)] = 2,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sample.", show_default="the workspace's", min=0)
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Start the pool afresh instead of extending it.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Pool the pairs worth labelling: each generator's top distinct items per query, once each.

    A pool that is there already is extended by new generators, and only shown where nothing else is asked for.
    """
    from lookalike.discover.figures import expert_hours
    from lookalike.recipes.discover import discover as make
    from lookalike.recipes.discover import figures, labelled
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    with progress("Ranking", quiet=json) as bar:
        pool = make(
            opened,
            None if generators is None else [name.strip() for name in generators.split(",") if name.strip()],
            top=top,
            queries=_listed(queries_file) if queries_file else queries,
            seed=seed,
            replace=replace,
            pairs=pairs,
            progress=bar,
        )
    told = figures(opened, pool)
    labels, positives = labelled(opened, pool)
    low, high = expert_hours(told.asked, votes)
    if json:
        print_json(
            {
                "pairs": told.pairs,
                "positives": positives,
                "labelled": labels,
                "asked": told.asked,
                "queries": told.queries,
                "top": told.top,
                "most": told.most,
                "duplicates": number(told.duplicates),
                "candidates_per_query": number(told.per_query),
                "generators": list(told.generators),
                "only_by": dict(zip(told.generators, told.unique, strict=True)),
                "overlap": {
                    a: {b: number(told.overlap[i, j]) for j, b in enumerate(told.generators) if i != j}
                    for i, a in enumerate(told.generators)
                },
                "mean_overlap": number(told.mean_overlap),
                "saving_catalog": number(told.saving_catalog),
                "saving_pairs": number(told.saving_pairs),
                "hours": {"low": low, "high": high, "votes_per_pair": votes},
            }
        )
        return
    say(
        f"{plural(told.pairs, 'pair')} for {plural(told.queries, 'query', 'queries')} "
        f"({told.per_query:,.1f} candidates each); "
        f"{100 * told.duplicates:.0f} % of the {told.most:,} places were duplicates.",
        f"Labelling all pairs instead would be {told.saving_pairs:,.0f} times the work.",
        f"With {plural(votes, 'vote')} per pair, {plural(told.asked, 'pair')} to ask: "
        f"about {low:,.0f} to {high:,.0f} expert-hours.",
    )
    if labels:
        say(f"{labels:,} of these pairs are labelled, {positives:,} of them similar.")
    if len(told.generators) > 1:
        say("", "Overlap between generators (% of the places they fill):")
        cells = [["-" if math.isnan(v) else f"{v:.1f}" for v in row] for row in told.overlap]
        table(
            ["", *told.generators, "only by it"],
            [[g, *row, f"{u:,}"] for g, row, u in zip(told.generators, cells, told.unique, strict=True)],
        )
    if labels:
        next_step("lookalike evaluate", workspace=workspace)
    elif pairs is not None:
        say(f"Fill in the label column of {pairs}: 1 similar, 0 not, blank where nobody can say.")
        next_step(f"lookalike labels import {shlex.quote(str(pairs))}", workspace=workspace)
    else:
        say("To label them, write the pairs to a file with an empty label column.")
        next_step("lookalike discover --pairs pairs.csv", workspace=workspace)


def _listed(file: Path) -> list[str]:
    from lookalike.core.errors import ArgumentError

    try:
        return [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(
            f"--queries-file {file} cannot be read: {error}.",
            fix="Give a UTF-8 text file with one image id per line.",
        ) from None
