"""`audit`: which measures can be trusted on this workspace's labels, and the verdict that follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lookalike.api.exposure import audit_exposure, item_exposure
from lookalike.api.trust import audit_measures
from lookalike.audit.audits import MEASURES, Audits, AuditSettings
from lookalike.audit.exposure import Exposure
from lookalike.audit.verdict import Judgement
from lookalike.core.errors import EncoderError, LabelsError
from lookalike.core.progress import Bar, Progress, no_bar
from lookalike.core.types import Embeddings, Pool
from lookalike.discover.splitting import is_within_splits
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.summary import Settings
from lookalike.store.formats.tables import write_table
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.exact import with_exact
from lookalike.workflows.decide.pairs import RankedPairs, rank_on_labels
from lookalike.workflows.decide.sample_state import sampled_differences
from lookalike.workflows.decide.trained import require_untrained, trained, untrained
from lookalike.workflows.decide.verdict import verdict

ALL, GENERATORS = "all", "generators"
TOP = 5
LEAST_REPLICATES = 500  # for a measure's test, also where no intervals are requested


@dataclass(frozen=True, eq=False)
class AuditOutcome(Audits):
    """The audits, the verdict that follows, which items are shown, and the trained encoders that were left out."""

    verdict: Judgement
    exposure: tuple[Exposure, ...]
    trained_left_out: tuple[str, ...]


def audit_and_verdict(
    workspace: Workspace,
    encoders: str | Sequence[str] = ALL,
    measures: Sequence[str] = MEASURES,
    *,
    generators: Sequence[str] = (),
    ranked: RankedPairs | None = None,
    bar: Bar = no_bar,
    **options: Any,  # noqa: ANN401 - fields of AuditSettings
) -> AuditOutcome:
    """`audit`, and the verdict on the same ranks: labels are matched and encoders ranked once."""
    if ranked is None:
        require_something(workspace, encoders)
        with bar("Ranking") as progress:
            ranked = rank_on_labels(workspace, untrained(workspace), progress=progress)
    with bar("Auditing") as progress:
        found = audit(
            workspace,
            encoders,
            measures,
            generators=generators,
            ranked=ranked,
            progress=progress,
            **options,
        )
    names = dict.fromkeys([*found.leave_one_out.encoders, *found.generators])
    vectors = {name: workspace.embeddings(name) for name in names if name in workspace.encoders}
    settings = Settings(replicates=max(found.replicates, LEAST_REPLICATES), seed=found.seed)
    with bar("Judging") as progress:
        pool = workspace.pool()
        judgement = verdict(
            workspace.catalog,
            vectors,
            ranked,
            found,
            settings,
            named=bool(generators),
            within_splits=pool is not None and is_within_splits(workspace.catalog, pool),
            drawn=sampled_differences(workspace, f"HR@{found.full_coverage.k}"),
            progress=progress,
        )
        judgement = with_exact(workspace, judgement, None)
    with bar("Counting shown items") as progress:
        shown = audit_exposure(
            workspace.catalog,
            [vectors[name] for name in found.leave_one_out.encoders],
            found.full_coverage.k,
            seed=found.seed,
            progress=progress,
        )
    return AuditOutcome(**vars(found), verdict=judgement, exposure=shown, trained_left_out=trained(workspace))


def write_items(workspace: Workspace, found: AuditOutcome, path: Path) -> None:
    """Write in how many result lists each item is, a column for each encoder of the audit."""
    encoders = (workspace.embeddings(one.encoder) for one in found.exposure)
    columns = item_exposure(workspace.catalog, encoders, found.full_coverage.k, seed=found.seed)
    write_table({name: column.tolist() for name, column in columns.items()}, path, "items")


def audit(
    workspace: Workspace,
    encoders: str | Sequence[str] = ALL,
    measures: Sequence[str] = MEASURES,
    *,
    generators: Sequence[str] = (),
    ranked: RankedPairs | None = None,
    progress: Progress | None = None,
    **options: Any,  # noqa: ANN401 - fields of AuditSettings
) -> Audits:
    """Leave-one-out, full coverage and the coverage sweep on the workspace's labels.

    `encoders` are "all", "generators" or names; trained ones are left out, and refused by name (`decide/trained.py`).
    The generators of a pair are those that the pool has recorded. Without a pool, or with `top` or `generators`, they
    are rebuilt by rank for those generators (without a pool: all encoders but trained ones). Ranks in `ranked` are
    not made again.
    """
    require_something(workspace, encoders)
    for name in measures:
        parse(name)
    pool, settings = workspace.pool(), AuditSettings(**options)
    fed = list(generators) or [*(untrained(workspace) if pool is None else pool.generators)]
    names = _chosen(workspace, encoders, fed)
    ranked = ranked or rank_on_labels(workspace, ())
    kept: Pool | list[Embeddings]
    if pool is not None and settings.top is None and not generators:
        kept = pool
        # a generator that is not audited still decides which queries are fully covered
        coverers = [name for name in fed if name in workspace.encoders]
    else:
        kept, coverers = [workspace.embeddings(name) for name in fed], []
    return audit_measures(
        workspace.catalog,
        [workspace.embeddings(name) for name in names],
        ranked.pairs,
        kept,
        measures,
        coverers=[workspace.embeddings(name) for name in coverers],
        ranks=ranked.ranks,
        **{**dict(settings), "top": settings.top or (pool.top if pool is not None else TOP)},
        progress=progress,
    )


def require_something(workspace: Workspace, encoders: str | Sequence[str] = ALL) -> None:
    """Refuse an audit of unknown encoders, without labels or without encoders."""
    for name in () if isinstance(encoders, str) else encoders:
        workspace.manifest(name)
    if workspace.label_count() == 0:
        raise LabelsError(
            "There are no labels yet, so there is nothing to audit.",
            fix="Import some: lookalike labels import labels.csv (columns query, candidate, label)",
        )
    if not workspace.encoders:
        raise LabelsError(
            "There are no encoders to audit.", fix="Make vectors first: lookalike embed ENCODER"
        )


def _chosen(workspace: Workspace, encoders: str | Sequence[str], generators: Sequence[str]) -> list[str]:
    """The names of the encoders to audit."""
    comparable = untrained(workspace)
    if encoders == ALL:
        if not comparable:
            raise EncoderError(
                "Every encoder here was trained on these labels, so there is nothing to audit.",
                fix="Embed an encoder that was not, such as the one they are on: lookalike embed ENCODER",
            )
        return list(comparable)
    if encoders == GENERATORS:
        there = [name for name in generators if name in comparable]
        if not there:
            raise EncoderError(
                "None of the generators has vectors here, so there is nothing to audit.",
                fix="Embed them again, or name encoders: lookalike audit NAME NAME NAME",
            )
        return there
    names = list(dict.fromkeys([encoders] if isinstance(encoders, str) else encoders))
    require_untrained(workspace, names, "the audit")
    return names
