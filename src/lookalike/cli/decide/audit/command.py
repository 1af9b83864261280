"""`lookalike audit`."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from lookalike.audit.audits import MEASURES, AuditSettings
from lookalike.cli import options
from lookalike.cli.console import names_of, print_json, progress, say
from lookalike.cli.decide.after_measuring import next_after_measuring
from lookalike.cli.decide.audit.exposure_text import print_exposure
from lookalike.cli.decide.audit.text import print_audits
from lookalike.cli.decide.audit.verdict_text import print_verdict
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.evaluate.measures.table import names
from lookalike.store.formats.tables import require_ending
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.audit import ALL, GENERATORS, AuditOutcome, audit_and_verdict, write_items
from lookalike.workflows.decide.next_steps import next_steps
from lookalike.workflows.decide.trained import left_out

DEFAULT = AuditSettings()


@result(AuditOutcome)
def audit(
    encoder: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names of encoders, or the word generators for those that fed the pool.",
            metavar="ENCODER",
            show_default="all",
        ),
    ] = None,
    workspace: options.Workspace = HERE,
    pool: options.Pool = MAIN_POOL,
    generators: Annotated[
        str | None,
        typer.Option(
            help="Encoders that proposed the labelled pairs, separated by commas. Their lists are rebuilt.",
            metavar="ENCODERS",
            show_default="as recorded in the pool",
        ),
    ] = None,
    measures: options.Measures = None,
    items: Annotated[
        Path | None,
        typer.Option(help="Write how often each item is shown to a file (.csv, .parquet).", metavar="FILE"),
    ] = None,
    settings: AuditSettings = DEFAULT,
    research: Annotated[
        bool, typer.Option("--research", help="Print the tables of the papers too; --json always has them.")
    ] = False,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Check which measures these labels support, and for which encoders."""
    options.require_new(items, force=force)
    if items is not None:
        require_ending(items, "items")
    opened = Workspace(workspace, pool=pool)
    outcome = audit_and_verdict(
        opened,
        _chosen(encoder or []),
        MEASURES if measures is None else list(dict.fromkeys(names(measures))),
        generators=names_of(generators),
        bar=partial(progress, quiet=json),
        **dict(settings),
    )
    if items is not None:
        write_items(opened, outcome, items)
    if json:
        print_json(outcome)
        return
    step = next_steps(opened, outcome.verdict)
    print_verdict(outcome.verdict, step)
    print_exposure(outcome.exposure, research=research)
    print_audits(outcome, research=research)
    say(*left_out(outcome.trained_left_out))
    next_after_measuring(opened, *step, "lookalike report")


def _chosen(encoders: list[str]) -> str | list[str]:
    """All encoders where none is named; those that fed the pool by one word."""
    if encoders == [GENERATORS]:
        return GENERATORS
    return encoders or ALL
