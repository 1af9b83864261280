"""`lookalike audit`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, print_json, progress, say

LEAST_DRAWS = 500  # whether a measure's test is sure takes some draws, also where no intervals are asked for


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
    replicates: Annotated[
        int, typer.Option(help="Bootstrap draws for intervals, 100 or more; 0: none.", min=0)
    ] = 2000,
    seed: Annotated[int, typer.Option(help="Seed of the draws.", min=0)] = 0,
    json: JsonOption = False,
) -> None:
    """Check how far the measures can be trusted on these labels."""
    from lookalike.audit.audits import MEASURES, require_draws
    from lookalike.cli import audited, judged
    from lookalike.evaluate.measures import names
    from lookalike.evaluate.significance import Settings
    from lookalike.recipes.audit import ALL, GENERATORS
    from lookalike.recipes.audit import audit as check
    from lookalike.recipes.evaluate import evaluate
    from lookalike.recipes.trained import left_out, trained, untrained
    from lookalike.recipes.verdict import verdict
    from lookalike.store.workspace import Workspace

    require_draws(replicates, seed)
    opened = Workspace(workspace)
    with progress("Ranking", quiet=json) as bar:
        fair = untrained(opened)
        ranked = evaluate(opened, fair, ["coverage@1"], progress=bar).judged if fair else ()
    with progress("Auditing", quiet=json) as bar:
        found = check(
            opened,
            encoders if encoders in (ALL, GENERATORS) else _listed(encoders),
            MEASURES if measures is None else list(dict.fromkeys(names(measures))),
            generators=() if generators is None else _listed(generators),
            top=top,
            k=k,
            rule=rule,
            full_coverage=full_coverage,
            replicates=replicates,
            seed=seed,
            ranks={one.encoder: one for one in ranked},
            progress=bar,
        )
    here = [one for one in ranked if one.encoder in found.leave_one_out.encoders]
    with progress("Judging", quiet=json) as bar:
        judgement = verdict(
            opened,
            here,
            found,
            Settings(max(replicates, LEAST_DRAWS), seed),
            k=k,
            named=generators is not None,
            progress=bar,
        )
    if json:
        print_json(
            audited.as_json(found)
            | {"verdict": judged.as_json(judgement), "trained_left_out": list(trained(opened))}
        )
        return
    judged.tell(judgement, workspace)
    audited.tell(found, workspace)
    say(*left_out(trained(opened)))


def _listed(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]
