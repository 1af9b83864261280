"""`lookalike audit`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, print_json, progress


def audit(
    workspace: WorkspaceOption = Path(),
    encoders: Annotated[
        str, typer.Option(help="Encoders to audit: all, generators, or names by commas.")
    ] = "all",
    generators: Annotated[
        str | None,
        typer.Option(
            help="Who put the labelled pairs forward, by commas; rebuilt by rank.",
            show_default="as the pool recorded it",
        ),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            help="Leave out all that a generator surfaced, or only what it alone put forward (only)."
        ),
    ] = "surfaced",
    measures: Annotated[
        str | None,
        typer.Option(help="Measures by commas, e.g. 'DCS,EHR@5,AUC_mac'.", show_default="VSD's Table 1"),
    ] = None,
    top: Annotated[
        int | None,
        typer.Option(
            help="Rebuild who put a pair forward: a generator that ranks it below this.",
            min=1,
            show_default="as the pool recorded it",
        ),
    ] = None,
    k: Annotated[int, typer.Option(help="Length of the lists that must be fully labelled.", min=1)] = 5,
    full_coverage: Annotated[
        str,
        typer.Option(
            help="Queries fully labelled for every generator at once, or for each encoder by itself."
        ),
    ] = "every",
    replicates: Annotated[int, typer.Option(help="Bootstrap draws for intervals; 0: none.", min=0)] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """Check how far the measures can be trusted on these labels."""
    from lookalike.audit.audits import MEASURES
    from lookalike.cli.audited import as_json, tell
    from lookalike.evaluate.measures import names
    from lookalike.recipes.audit import ALL, GENERATORS
    from lookalike.recipes.audit import audit as check
    from lookalike.store.workspace import Workspace

    with progress("Auditing", quiet=json) as bar:
        found = check(
            Workspace(workspace),
            encoders if encoders in (ALL, GENERATORS) else _listed(encoders),
            MEASURES if measures is None else list(dict.fromkeys(names(measures))),
            generators=() if generators is None else _listed(generators),
            top=top,
            k=k,
            rule=rule,
            full_coverage=full_coverage,
            replicates=replicates,
            seed=seed,
            progress=bar,
        )
    if json:
        print_json(as_json(found))
        return
    tell(found, workspace)


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
