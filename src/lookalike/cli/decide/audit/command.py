"""`lookalike audit`."""

from functools import partial
from typing import Annotated, Literal

import typer

from lookalike.audit.audits import MEASURES, require_replicates
from lookalike.cli import options
from lookalike.cli.console import names_of, print_json, progress, say
from lookalike.cli.decide.audit.text import print_audits
from lookalike.cli.decide.audit.verdict_text import print_verdict
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.evaluate.measures.table import names
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.audit import ALL, GENERATORS, AuditOutcome, audit_and_verdict
from lookalike.workflows.decide.trained import left_out


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
    generators: Annotated[
        str | None,
        typer.Option(
            help="Encoders that proposed the labelled pairs, separated by commas. Their lists are rebuilt.",
            metavar="ENCODERS",
            show_default="as recorded in the pool",
        ),
    ] = None,
    rule: Annotated[
        Literal["surfaced", "only"],
        typer.Option(
            help="Which labels to leave out: all pairs that a generator proposed, or those that only it proposed."
        ),
    ] = "surfaced",
    measures: options.Measures = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Distinct items that each generator proposed per query.",
            min=1,
            show_default="as recorded in the pool",
        ),
    ] = None,
    k: options.K = 5,
    full_coverage: Annotated[
        Literal["every", "each"],
        typer.Option(
            help="Use queries that are fully labelled for every generator, or for each encoder on its own."
        ),
    ] = "every",
    replicates: options.Replicates = 2000,
    seed: options.Seed = 0,
    json: options.Json = False,
) -> None:
    """Check which measures these labels support, and for which encoders."""
    require_replicates(replicates, seed)
    opened = Workspace(workspace)
    outcome = audit_and_verdict(
        opened,
        _chosen(encoder or []),
        MEASURES if measures is None else list(dict.fromkeys(names(measures))),
        generators=names_of(generators),
        top=top,
        k=k,
        rule=rule,
        full_coverage=full_coverage,
        replicates=replicates,
        seed=seed,
        bar=partial(progress, quiet=json),
    )
    if json:
        print_json(outcome)
        return
    print_verdict(outcome.verdict, workspace)
    print_audits(outcome, workspace)
    say(*left_out(outcome.trained_left_out))


def _chosen(encoders: list[str]) -> str | list[str]:
    """All encoders where none is named; those that fed the pool by one word."""
    if encoders == [GENERATORS]:
        return GENERATORS
    return encoders or ALL
