"""`lookalike evaluate`."""

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    next_step,
    number,
    print_json,
    progress,
    say,
    table,
)
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
    LevelOption,
    PairsOption,
    TaskOption,
    WhereOption,
    default_measures,
    require_no_files,
    tell_levels,
)
from lookalike.core.types import Rule, Score


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
            help="Keep queries and candidates within train, validation or test.", show_default="no split"
        ),
    ] = None,
    task: TaskOption = "discovery",
    where: WhereOption = None,
    pairs: PairsOption = "all",
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
    from lookalike.evaluate.measures import FAMILIES, names, parse
    from lookalike.recipes.evaluate import evaluate as measure
    from lookalike.store.workspace import Workspace

    asked = list(dict.fromkeys(names(measures))) if measures is not None else default_measures(task)
    conditions = [condition(text) for text in where or []]
    if level in ("all", "paper"):
        require_no_files(level, any((run, output, judged, runs)), task)
    if level == "all":
        tell_levels(workspace, encoder or [], asked, similarity, split, conditions, pairs, json=json)
        return
    rule = Rule(level=level, similarity=similarity, split=split)
    files = Files(run or [], output, judged, runs, depth, run_queries, gzip)
    opened = Workspace(workspace)
    files.plan(opened, rule)
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
    written = files.write(opened, found, rule, quiet=json)
    printed = found.printed
    level = found.scores[0].basis.rule.level
    if json:
        print_json(
            {
                "scores": {
                    one.encoder: {name: as_json(one[printed[name]]) for name in found.measures}
                    for one in found.scores
                },
                "labels": found.labels,
                "unusable": [{"reason": u.reason, "count": u.count} for u in found.unusable],
                "generators": list(found.generators),
                "level": level,
                "similarity": similarity,
                "split": split,
                "catalog": found.scores[0].basis.catalog,
                "labels_fingerprint": found.scores[0].basis.labels,
                "absences": list(found.absences),
                "notes": list(found.notes),
                "sources": dict(found.sources),
                "written": [str(path) for path in written],
            }
        )
        return
    say(f"{found.labels:,} labelled pairs, level {level}, {similarity}{f', split {split}' if split else ''}.")
    heads = [f"{one.encoder}{' *' if one.encoder in found.generators else ''}" for one in found.scores]
    rows = [[printed[name], *(cell(one[printed[name]]) for one in found.scores)] for name in found.measures]
    table(["measure", *heads], rows)
    say("In parentheses: over how many queries.")
    if found.generators:
        say("* fed the pool: HR@K and coverage@K favour it, and EHR@K can flatter the others.")
    for name in found.measures:
        say(f"  {printed[name]}: {FAMILIES[parse(name).family].meaning}.")
    for reason in sorted(
        {f"{name}: {s.reason}" for one in found.scores for name, s in one.scores.items() if s.reason}
    ):
        say(f"Undefined: {reason}.")
    for part in found.unusable:
        say(f"{part.count:,} labels left out: {part.reason}.")
    say(*found.absences)
    say(*found.notes)
    tell_written(written)
    next_step("lookalike report", workspace=workspace)


def as_json(score: Score) -> dict[str, Any]:
    """A score for programs; null with a reason where it is undefined."""
    value: dict[str, Any] = {"value": number(score.value), "queries": score.queries, "measure": score.measure}
    return value | ({"reason": score.reason} if score.reason else {})


def cell(score: Score) -> str:
    """A score for people, with the number of its queries."""
    return "undefined (0)" if math.isnan(score.value) else f"{score.value:.4f} ({score.queries:,})"
