"""`lookalike judge`."""

import math
import sys
from collections.abc import Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import err, next_step, print_json, progress, say, table
from lookalike.cli.label.agreement import cell
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.errors import ArgumentError
from lookalike.core.text import duration, folded, percent, plural, rough, rough_interval, value
from lookalike.judge.agreement import JudgeAgreement
from lookalike.judge.endpoint import EndpointSettings
from lookalike.store.judges import read_judgments
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.judge.endpoint import judge_by_endpoint
from lookalike.workflows.decide.judge.local import judge_by_encoder, judge_by_file
from lookalike.workflows.decide.judge.questions import JudgeScope
from lookalike.workflows.decide.judge.result import JudgePlan, JudgeResult, judge_result

ALL_OPEN, NO_ENDPOINT = JudgeScope(), EndpointSettings()
OF_LISTS = frozenset({"encoder_lists", *JudgeScope.model_fields})
OF_CALLS = frozenset({*EndpointSettings.model_fields, "dry_run", "yes"} - {"endpoint"})
UNUSED = {"endpoint": frozenset[str](), "encoder": OF_CALLS, "file": OF_LISTS | OF_CALLS}
"""The sources of judgments, and the parameters that each does not use."""


@result(JudgeResult | JudgePlan)
def judge(
    context: typer.Context,
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
    endpoint: EndpointSettings = NO_ENDPOINT,
    name: Annotated[
        str | None,
        typer.Option(help="Name of the judge.", metavar="NAME", show_default="made from its source"),
    ] = None,
    scope: JudgeScope = ALL_OPEN,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Print the number of pairs and calls, and make no call.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before the calls to an endpoint are made.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Let a machine judge pairs, so that each label tells more about the true quality of encoders.

    Judgments are kept apart from labels. They never count as labels or votes, and no encoder is evaluated or trained on
    them.
    """
    opened = Workspace(workspace, pool=pool)
    source = _source(options.given(context))
    if source == "name":
        shown = judge_result(opened, read_judgments(opened.folder, str(name)))
        print_json(shown) if json else print_result(shown)
        return
    names = encoder_lists or opened.encoders
    found: JudgeResult | JudgePlan
    if encoder is not None:
        found = judge_by_encoder(opened, name, encoder, names, scope)
    elif file is not None:
        found = judge_by_file(opened, name, file)
    else:
        found = judge_by_endpoint(
            opened,
            name,
            names,
            scope,
            endpoint,
            confirm=partial(_confirm, yes=yes, quiet=json),
            dry_run=dry_run,
            bar=partial(progress, quiet=json),
            notify=err.print,
        )
    if json:
        print_json(found)
    elif isinstance(found, JudgePlan):
        _print_plan(found)
    else:
        print_result(found)
        _next(found, names, workspace)


def _source(given: Collection[str]) -> str:
    """The source of judgments; "name" for those that are finished. Refuses parameters that it does not use."""
    sources = [one for one in UNUSED if one in given or (one == "endpoint" and "model" in given)]
    if len(sources) > 1 or not (sources or "name" in given):
        raise ArgumentError(
            f"Sources of judgments given: {len(sources)}.", fix=f"Give one of {_options(UNUSED)}."
        )
    source = sources[0] if sources else "name"
    if unused := [one for one in given if one in UNUSED.get(source, OF_LISTS | OF_CALLS)]:
        users = [one for one, others in UNUSED.items() if not others.intersection(unused)]
        raise ArgumentError(
            f"{_options([source])}{'' if sources else ' alone'} does not use {_options(unused)}.",
            fix=f"Leave out {_options(unused)}, or give one of {_options(users)}.",
        )
    return source


def _options(parameters: Iterable[str]) -> str:
    """Parameters as they are typed."""
    typed = {"encoder_lists": "ENCODER", "k": "-k"}
    return ", ".join(typed.get(one, f"--{one.replace('_', '-')}") for one in parameters)


def _next(found: JudgeResult, encoders: Sequence[str], workspace: Path) -> None:
    """The estimate that can use the judge."""
    names = (found.judge.encoders or encoders)[:2]
    if names and found.constant is None:
        command = "compare" if len(names) > 1 else "estimate"
        next_step(
            f"lookalike {command} {' '.join(names)} --covariate judge:{found.judge.name} --labels 100",
            workspace=workspace,
        )


def _confirm(plan: JudgePlan, *, yes: bool, quiet: bool) -> None:
    """Show what the calls that are left take, and ask."""
    if not quiet:
        _print_plan(plan)
    if yes or (not quiet and sys.stdin.isatty() and typer.confirm("Make these calls?")):
        return
    raise ArgumentError(
        f"{plan.calls:,} calls are not confirmed. The answers of the first calls are kept.",
        fix="Run the same command again with --yes.",
    )


def _print_plan(plan: JudgePlan) -> None:
    """What the calls take, as far as it is known."""
    judge, drawn = plan.judge, plan.judge.questions * (plan.judge.probability or 0)
    say(
        folded(
            f"{judge.model} at {plan.host} judges {plural(plan.pairs, 'pair')}: {drawn:,.0f} of "
            f"{plural(judge.questions, 'open question')}, and {plan.pairs - drawn:,.0f} with a label. "
            f"Calls, two per pair: {plan.calls:,} to make, {plan.known:,} known."
        )
    )
    if math.isfinite(plan.tokens_in):
        cost = f" Cost: {plan.cost:,.2f}." if math.isfinite(plan.cost) else " Cost: unknown without --price."
        time = f" Time: about {duration(plan.seconds)}." if math.isfinite(plan.seconds) else ""
        say(f"Tokens per call: {plan.tokens_in:,.0f} in, {plan.tokens_out:,.0f} out.{cost}{time}")
    say(*map(folded, plan.notes))


def print_result(found: JudgeResult) -> None:
    """How far the judge agrees with the experts, and what labels are worth with it."""
    judge = found.judge
    say(
        folded(
            f"Judge {judge.name} ({judge.kind} {judge.model}) has judged {found.judged:,} of "
            f"{plural(found.pairs, 'pair')}."
        )
    )
    say(*(f"  No judgment for {plural(count, 'pair')}: {reason}." for reason, count in found.failed.items()))
    if found.calls:
        one = found.calls
        cost = f", cost {one.cost:,.2f}" if math.isfinite(one.cost) else ""
        say(f"{plural(one.calls, 'call')} in {duration(one.seconds)}, {one.known:,} known before{cost}.")
    whole = found.agreement
    if not whole.correlation.count:
        say("No judged pair has a label, so the agreement with the experts is unknown.")
    else:
        say("", "Agreement with the experts' labels:")
        rows = [
            (
                one.category or "all",
                f"{one.kappa.count:,}",
                *(cell(figure, value) for figure in (one.kappa, one.correlation)),
                percent(one.flips.value, missing="-"),
            )
            for one in (whole, *found.categories)
        ]
        table(["category", "pairs", "kappa", "correlation", "order flips"], rows)
        say(folded(_worth(whole)))
    say(*map(folded, found.notes))


def _worth(whole: JudgeAgreement) -> str:
    """How many labels without the judge 100 labels with it are worth."""
    figure = whole.worth
    if math.isnan(figure.value):
        return f"What labels are worth with this judge is undefined: {figure.reason}."
    ends = (
        rough_interval(100 * figure.low, 100 * figure.high)
        if figure.is_sure
        else f"no interval: {figure.reason}"
    )
    return f"100 labels with this judge are worth {rough(100 * figure.value)} labels without it ({ends})."
