"""`lookalike discover`."""

import shlex
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, plural, print_json, progress, say


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
    where: Annotated[
        list[str] | None,
        typer.Option(help="Ask only images with this value, as column=value. Can be given several times."),
    ] = None,
    stratify: Annotated[
        str | None,
        typer.Option(help="Column whose values share the sample of queries as they share the catalog."),
    ] = None,
    random: Annotated[
        int | None,
        typer.Option(
            help="How many random pairs there shall be in all, to estimate the positive rate.", min=0
        ),
    ] = None,
    pairs: Annotated[
        Path | None,
        typer.Option(
            help="Write the pairs left to label, with an empty label column, to a .csv or .parquet file."
        ),
    ] = None,
    provenance: Annotated[
        Path | None,
        typer.Option(help="Write who put each pair forward, not for experts' eyes, to .csv or .parquet."),
    ] = None,
    votes: Annotated[int, typer.Option(help="Votes per pair, for the estimate of hours.", min=1)] = 2,
    precision: Annotated[
        float | None,
        typer.Option(
            help="Say how many random pairs would tell the positive rate this closely, such as .001."
        ),
    ] = None,
    confidence: Annotated[
        float, typer.Option(help="Probability of the interval and of the wished precision.")
    ] = 0.95,
    seed: Annotated[
        int | None, typer.Option(help="Seed of the sampled queries.", show_default="the workspace's", min=0)
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Start the pool afresh instead of extending it.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Pool the pairs worth labelling: each generator's top distinct items per query, once each.

    A pool that is there already is extended by new generators, and only shown where nothing else is asked for.
    """
    from lookalike.cli.discovered import as_json, require_sensible, tell, told_of
    from lookalike.recipes.discover import discover as make
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    conditions = [condition(text) for text in where or []]
    require_sensible(precision, confidence)
    with progress("Ranking", quiet=json) as bar:
        found = make(
            opened,
            None if generators is None else [name.strip() for name in generators.split(",") if name.strip()],
            top=top,
            queries=_listed(queries_file) if queries_file else queries,
            where=conditions,
            stratify=stratify,
            seed=seed,
            replace=replace,
            random=random,
            pairs=pairs,
            provenance=provenance,
            progress=bar,
        )
    told = told_of(opened, found, votes, precision, confidence)
    if json:
        print_json(as_json(told))
        return
    tell(told)
    if pairs is not None and not len(found.questions):
        say(f"Every pair is labelled, so {pairs} is empty.")
        next_step("lookalike evaluate", workspace=workspace)
    elif pairs is not None:
        rows, asked = len(found.questions), found.questions.asked
        say(
            f"{pairs} has the {plural(rows, 'pair')} left to label"
            + (
                f"; as (a, b) and (b, a) have one answer, these are {asked:,} questions."
                if asked < rows
                else "."
            )
        )
        if found.only_random_left:
            say(
                "All of them are random pairs, which experts will notice: better draw them before labelling starts."
            )
        say(f"Fill in the label column of {pairs}: 1 similar, 0 not, blank where nobody can say.")
        next_step(f"lookalike labels import {shlex.quote(str(pairs))}", workspace=workspace)
    elif told.labelled:
        next_step("lookalike evaluate", workspace=workspace)
    else:
        say(
            "To label them in the browser, alone or as a team, make a lead and serve the app; or write the pairs "
            "to a file with an empty label column."
        )
        next_step(
            "lookalike users add NAME --role lead",
            "lookalike serve",
            "lookalike discover --pairs pairs.csv",
            workspace=workspace,
        )


def condition(text: str) -> tuple[str, str]:
    """Column and value of --where column=value."""
    from lookalike.core.errors import ArgumentError

    column, sign, value = text.partition("=")
    if not (sign and column.strip()):
        raise ArgumentError(
            f"--where {text!r} is not column=value.", fix="Write for instance --where domain=wild."
        )
    return column.strip(), value


def _listed(file: Path) -> list[str]:
    from lookalike.core.errors import ArgumentError

    try:
        return [line for line in file.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ArgumentError(
            f"--queries-file {file} cannot be read: {error}.",
            fix="Give a UTF-8 text file with one image id per line.",
        ) from None
