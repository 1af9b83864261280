"""`lookalike judge`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.annotate.agreement.figure import Figure
from lookalike.cli import options
from lookalike.cli.console import print_json, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.errors import ArgumentError
from lookalike.core.text import coefficient, folded, interval, percent, plural, rough, rough_interval
from lookalike.judge.agreement import JudgeAgreement
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.local import judge_by_encoder, judge_by_file
from lookalike.workflows.decide.judge.questions import JudgeScope
from lookalike.workflows.decide.judge.result import JudgeResult

ALL_OPEN = JudgeScope()
SOURCES = ("--endpoint", "--encoder", "--file")


@result(JudgeResult)
def judge(
    encoder_lists: Annotated[
        list[str] | None,
        typer.Argument(help="Encoders whose result lists are judged.", metavar="ENCODER", show_default="all"),
    ] = None,
    workspace: options.Workspace = HERE,
    pool: options.Pool = MAIN_POOL,
    encoder: Annotated[
        str | None,
        typer.Option(help="Judge with the similarity of this encoder of the workspace.", metavar="NAME"),
    ] = None,
    file: Annotated[
        Path | None,
        options.file(
            "--file", "Take the scores (0 to 1) of a table with the columns query, candidate and score."
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the judge.", metavar="NAME", show_default="made from its source"),
    ] = None,
    scope: JudgeScope = ALL_OPEN,
    json: options.Json = False,
) -> None:
    """Let a machine judge pairs, so that each label tells more about the true quality of encoders.

    Judgments are kept apart from labels. They never count as labels or votes, and no encoder is evaluated or trained on
    them.
    """
    opened = Workspace(workspace, pool=pool)
    given = [
        option for option, value in zip(SOURCES, (None, encoder, file), strict=True) if value is not None
    ]
    if len(given) != 1:
        raise ArgumentError(
            f"{' and '.join(given) or 'No source of judgments'} given.",
            fix=f"Give one of {', '.join(SOURCES)}.",
        )
    names = encoder_lists or opened.encoders
    if encoder is not None:
        found = judge_by_encoder(opened, name or encoder, encoder, names, scope)
    elif file is not None:
        found = judge_by_file(opened, name, file)
    if json:
        print_json(found)
        return
    print_result(found)


def print_result(found: JudgeResult) -> None:
    """How far the judge agrees with the experts, and what labels are worth with it."""
    judge = found.judge
    say(
        folded(
            f"Judge {judge.name} ({judge.kind} {judge.model}): {found.judged:,} of {plural(found.pairs, 'pair')}."
        )
    )
    say(*(f"  No judgment for {plural(count, 'pair')}: {reason}." for reason, count in found.failed.items()))
    if found.flips.count:
        say(f"Pairs with another answer in the other order: {percent(found.flips.value)}.")
    whole = found.agreement
    if not whole.correlation.count:
        say("No judged pair has a label, so the agreement with the experts is unknown.")
    else:
        say("", "Agreement with the experts' labels:")
        rows = [_row(one) for one in (whole, *found.categories)]
        table(["category", "pairs", "kappa", "", "correlation", ""], rows)
        say(folded(_worth(whole)))
    say(*map(folded, found.notes))


def _row(one: JudgeAgreement) -> tuple[str, ...]:
    cells = (_cell(figure) for figure in (one.kappa, one.correlation))
    return (one.category or "all", f"{one.kappa.count:,}", *(text for cell in cells for text in cell))


def _cell(figure: Figure) -> tuple[str, str]:
    return coefficient(figure.value), interval(figure.low, figure.high, 2)


def _worth(whole: JudgeAgreement) -> str:
    """How many labels without the judge 100 labels with it are worth."""
    figure = whole.worth
    if whole.correlation.reason and figure.value != figure.value:
        return f"What labels are worth with this judge is undefined: {figure.reason}."
    ends = (
        rough_interval(100 * figure.low, 100 * figure.high)
        if figure.is_sure
        else f"no interval: {figure.reason}"
    )
    return f"100 labels with this judge are worth {rough(100 * figure.value)} labels without it ({ends})."
