"""`lookalike evaluate`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, print_json, progress
from lookalike.cli.evaluate_files import (
    DepthOption,
    Files,
    GzipOption,
    JudgedOption,
    OutputOption,
    RunOption,
    RunQueriesOption,
    RunsOption,
    tell_written,
)
from lookalike.cli.evaluate_pairs import (
    NEXT,
    LevelOption,
    PairsOption,
    TaskOption,
    WhereOption,
    default_measures,
    require_no_files,
    tell_levels,
)
from lookalike.core.types import Rule


def evaluate(
    encoder: Annotated[
        list[str] | None,
        typer.Argument(help="Encoders to measure.", show_default="all", metavar="[ENCODER...]"),
    ] = None,
    workspace: WorkspaceOption = Path(),
    measures: Annotated[
        str | None,
        typer.Option(
            help="Measures by commas, e.g. 'DCS(alpha=10),EHR@5,AUC_mac'.", show_default="the papers'"
        ),
    ] = None,
    level: LevelOption = "item",
    similarity: Annotated[str, typer.Option(help="cosine, dot or euclidean.")] = "cosine",
    split: Annotated[
        str | None,
        typer.Option(
            help="Keep queries and candidates within train, validation or test.",
            show_default="no split; test where an encoder is trained on these labels",
        ),
    ] = None,
    task: TaskOption = "discovery",
    where: WhereOption = None,
    pairs: PairsOption = "all",
    replicates: Annotated[
        int, typer.Option(help="Draws of queries behind intervals and p-values; 0 for none.")
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.")] = 0,
    interval: Annotated[str, typer.Option(help="bca or percentile.")] = "bca",
    confidence: Annotated[float, typer.Option(help="Confidence of the intervals.")] = 0.95,
    per: Annotated[
        str | None,
        typer.Option(
            help="Values by a column of the catalog too, e.g. category.",
            metavar="COLUMN",
            show_default="no column",
        ),
    ] = None,
    run: RunOption = None,
    output: OutputOption = None,
    judged: JudgedOption = None,
    runs: RunsOption = None,
    depth: DepthOption = 100,
    run_queries: RunQueriesOption = "labels",
    gzip: GzipOption = False,
    json: JsonOption = False,
) -> None:
    """Measure encoders against the labels. Unjudged pairs are never counted as dissimilar."""
    from lookalike.cli.discover import condition
    from lookalike.cli.evaluated import as_json, tell
    from lookalike.cli.told import Told
    from lookalike.evaluate.measures import names
    from lookalike.evaluate.significance import Settings
    from lookalike.recipes.evaluate import Group, by_column, catalog_column, certainty
    from lookalike.recipes.evaluate import evaluate as measure
    from lookalike.recipes.trained import fair_rule
    from lookalike.store.workspace import Workspace

    asked = list(dict.fromkeys(names(measures))) if measures is not None else default_measures(task)
    conditions = [condition(text) for text in where or []]
    settings = Settings(replicates, seed, confidence, interval) if replicates else None
    if level in ("all", "paper"):
        require_no_files(level, any((run, output, judged, runs)), task)
    if level == "all":
        tell_levels(
            workspace, encoder or [], asked, similarity, split, conditions, pairs, settings, json=json
        )
        return
    rule = Rule(level=level, similarity=similarity, split=split)
    opened = Workspace(workspace)
    if per is not None:
        catalog_column(opened.catalog, per)  # refused before long work begins
    files = Files(run or [], output, judged, runs, depth, run_queries, gzip)
    files.plan(opened, fair_rule(opened, encoder or opened.encoders, rule)[0])
    with progress("Ranking", quiet=json) as bar:
        found = measure(
            opened,
            encoder or [],
            asked,
            rule=rule,
            runs=files.read,
            task=task,
            where=conditions,
            source=pairs,
            progress=bar,
        )
    with progress("Drawing queries", quiet=json) as bar:
        sure = None if settings is None else certainty(found, settings, progress=bar)
    written = files.write(opened, found, sure, found.rule, quiet=json)
    groups: tuple[Group, ...] = ()
    if per is not None:
        with progress(f"Drawing queries by {per}", quiet=json) as bar:
            groups = by_column(opened.catalog, found, per, settings, progress=bar)
    brief = per is not None and measures is None and task == "discovery"
    told = Told(found, found.rule, sure, per, groups, brief)
    if json:
        print_json(as_json(told) | {"written": [str(path) for path in written]})
        return
    tell(told)
    tell_written(written)
    next_step(*NEXT if task == "discovery" else NEXT[1:], workspace=workspace)
