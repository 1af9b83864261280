"""What `lookalike evaluate` measures on: the options, and the table of all levels side by side."""

import math
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lookalike.cli.console import finite, next_step, number, print_json, progress, say, table
from lookalike.core.types import Score, Scores
from lookalike.report.formats import significant

if TYPE_CHECKING:
    from lookalike.evaluate.intervals import Interval
    from lookalike.evaluate.significance import Settings

NEXT = ("lookalike audit", "lookalike report")

LevelOption = Annotated[
    str,
    typer.Option(
        help="Rank distinct items (item), single images (image), as EDS did (paper: lists of items with credit for the "
        "labelled photo only, pairs of images), or all three side by side (all)."
    ),
]
TaskOption = Annotated[
    str,
    typer.Option(
        help="discovery: against the labels. identification: find the other photos of the query's item, without labels."
    ),
]
WhereOption = Annotated[
    list[str] | None,
    typer.Option(
        help="Measure only queries with this value, as column=value, e.g. domain=wild. Can be given several times."
    ),
]
PairsOption = Annotated[
    str, typer.Option(help="Labels to measure on: all, those of the pool, or those of random pairs (random).")
]


def default_measures(task: str) -> list[str]:
    """The measures of a task where none are named."""
    from lookalike.evaluate.measures import DEFAULT
    from lookalike.recipes.evaluate_pairs import FOR_IDENTIFICATION

    return list(FOR_IDENTIFICATION if task == "identification" else DEFAULT)


def require_no_files(level: str, files: bool, task: str) -> None:
    """Refuse what several levels, or one with two places for each pair, cannot give."""
    from lookalike.core.errors import ArgumentError

    if files or task != "discovery":
        raise ArgumentError(
            f"--level {level} has more than one place for a pair: it is for labels, on the screen or as --json.",
            fix="For runs, files and identification name one level: --level item or --level image.",
        )


def tell_levels(
    workspace: Path,
    encoders: Sequence[str],
    measures: Sequence[str],
    similarity: str,
    split: str | None,
    where: Sequence[tuple[str, str]],
    pairs: str,
    settings: "Settings | None",
    *,
    json: bool,
) -> None:
    """Measure at every level and print one table with intervals, or JSON by level."""
    from lookalike.core.types import Rule
    from lookalike.recipes.evaluate import evaluate_levels, levels_intervals
    from lookalike.store.workspace import Workspace

    rule = Rule(similarity=similarity, split=split)
    with progress("Ranking", quiet=json) as bar:
        found = evaluate_levels(
            Workspace(workspace), encoders, measures, rule=rule, where=where, source=pairs, progress=bar
        )
    with progress("Drawing queries", quiet=json) as bar:
        sure = None if settings is None else levels_intervals(found, settings, progress=bar)

    def around(level: str, one: Scores, name: str) -> "Interval | None":
        return None if sure is None else sure[level][one.encoder][name]

    if json:
        print_json(
            {
                "levels": {
                    level: {
                        "scores": {
                            one.encoder: {
                                name: _as_json(one[printed], around(level, one, printed))
                                for name, printed in at.printed.items()
                            }
                            for one in at.scores
                        },
                        "labels": at.labels,
                        "labels_fingerprint": at.scores[0].basis.labels,
                        "notes": list(at.notes),
                        "sources": dict(at.sources),
                        "unusable": [{"reason": u.reason, "count": u.count} for u in at.unusable],
                    }
                    for level, at in found.items()
                },
                "similarity": similarity,
                "split": next(iter(found.values())).rule.split,
                "bootstrap": None if settings is None else asdict(settings),
            }
        )
        return
    first = next(iter(found.values()))
    for name in first.measures:
        say("", f"{first.printed[name]}:")
        rows = [
            [
                f"  {one.encoder}",
                *(
                    _cell(at.scores[e][at.printed[name]], around(level, at.scores[e], at.printed[name]))
                    for level, at in found.items()
                ),
            ]
            for e, one in enumerate(first.scores)
        ]
        table(["", *found], rows)
    say("")
    if settings is not None:
        shown = significant(100 * settings.level)
        say(f"In brackets: {shown} % intervals. lookalike evaluate --level LEVEL tests the differences.")
    say("In parentheses: over how many queries. Compare encoders within a level, never across levels.")
    for level, at in found.items():
        say(f"{level}: {at.labels:,} labelled pairs.", *at.notes)
        for part in at.unusable:
            say(f"  {part.count:,} labels left out: {part.reason}.")
    next_step(*NEXT, workspace=workspace)


def _as_json(score: Score, around: "Interval | None") -> dict[str, Any]:
    """A score for programs; null with a reason where it is undefined."""
    value: dict[str, Any] = {"value": number(score.value), "queries": score.queries, "measure": score.measure}
    value |= {"reason": score.reason} if score.reason else {}
    return value | ({} if around is None else {"interval": finite(asdict(around))})


def _cell(score: Score, around: "Interval | None") -> str:
    """A score for people, with its interval and the number of its queries."""
    if math.isnan(score.value):
        return "undefined (0)"
    ends = "" if around is None or math.isnan(around.low) else f" [{around.low:.3f}, {around.high:.3f}]"
    return f"{score.value:.3f}{ends} ({score.queries:,})"
