"""`audit`: can the measures be trusted on this workspace's labels?"""

from collections.abc import Mapping, Sequence

from lookalike.audit.audits import MEASURES, Audits
from lookalike.core.errors import EncoderError, LabelsError
from lookalike.core.progress import Progress
from lookalike.core.types import Embeddings, JudgedRanks, Pool, Rule
from lookalike.evaluate.measures import parse
from lookalike.rank.pairs import judged_pairs
from lookalike.recipes.trained import require_untrained, untrained
from lookalike.recipes.trust import NOTHING_RANKED, audit_measures
from lookalike.store.workspace import Workspace

ALL, GENERATORS = "all", "generators"
TOP = 5


def audit(
    workspace: Workspace,
    encoders: str | Sequence[str] = ALL,
    measures: Sequence[str] = MEASURES,
    *,
    generators: Sequence[str] = (),
    top: int | None = None,
    k: int = 5,
    rule: str = "surfaced",
    full_coverage: str = "every",
    replicates: int = 2000,
    seed: int = 0,
    ranks: Mapping[str, JudgedRanks] = NOTHING_RANKED,
    progress: Progress | None = None,
) -> Audits:
    """Leave-one-out, full coverage and the coverage sweep on the workspace's labels.

    `encoders` are "all", "generators" or names; trained ones are left out, and refused by name (`recipes/trained.py`).
    Who put a pair forward is what the pool has recorded; where there is no pool, or `top` or `generators` are given, it
    is rebuilt by rank for those generators (of no pool: all encoders but trained ones).
    """
    for name in measures:
        parse(name)
    labels = workspace.labels()
    if len(labels) == 0:
        raise LabelsError(
            "There are no labels yet, so there is nothing to audit.",
            fix="Import some: lookalike labels import labels.csv (columns query, candidate, label)",
        )
    if not workspace.encoders:
        raise LabelsError(
            "There are no encoders to audit.", fix="Make vectors first: lookalike embed ENCODER"
        )
    pool = workspace.pool()
    fed = list(generators) or [*(untrained(workspace) if pool is None else pool.generators)]
    names = _chosen(workspace, encoders, fed)
    kept: Pool | list[Embeddings]
    if pool is not None and top is None and not generators:
        kept = pool
        # a generator that is not audited still says which queries are fully covered
        ranked = [name for name in fed if name in workspace.encoders]
    else:
        kept, ranked = [workspace.embeddings(name) for name in fed], []
    return audit_measures(
        workspace.catalog,
        [workspace.embeddings(name) for name in names],
        judged_pairs(workspace.catalog, labels, Rule()),
        kept,
        measures,
        coverers=[workspace.embeddings(name) for name in ranked],
        top=top or (pool.top if pool is not None else TOP),
        k=k,
        rule=rule,
        full_coverage=full_coverage,
        replicates=replicates,
        seed=seed,
        ranks=ranks,
        progress=progress,
    )


def _chosen(workspace: Workspace, encoders: str | Sequence[str], generators: Sequence[str]) -> list[str]:
    """The names of the encoders to audit."""
    fair = untrained(workspace)
    if encoders == ALL:
        if not fair:
            raise EncoderError(
                "Every encoder here was trained on these labels, so there is nothing to audit.",
                fix="Embed an encoder that was not, such as the one they are on: lookalike embed ENCODER",
            )
        return list(fair)
    if encoders == GENERATORS:
        there = [name for name in generators if name in fair]
        if not there:
            raise EncoderError(
                "None of the generators has vectors here, so there is nothing to audit.",
                fix="Embed them again, or name encoders: lookalike audit --encoders NAME,NAME,NAME",
            )
        return there
    names = list(dict.fromkeys([encoders] if isinstance(encoders, str) else encoders))
    require_untrained(workspace, names, "the audit")
    return names
