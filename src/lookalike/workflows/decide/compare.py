"""`compare`: which pairs to label next so that encoders can be separated, and whether they can be by now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lookalike.api.next_pairs import LabelPlan, pairs_to_label
from lookalike.audit import next_pairs as audit
from lookalike.audit.next_pairs import PrecisionStep, Standing
from lookalike.core.progress import Progress
from lookalike.core.types import Rule
from lookalike.store.formats.pair_files import earlier_rows, write_pair_file
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import comparable_rule


@dataclass(frozen=True)
class NextLabels:
    """The number of pairs to label next, and of the queries that are judged afterwards."""

    queries: int
    pairs: int


@dataclass(frozen=True)
class CompareResult:
    """The encoders on the queries judged so far, the precision that more labels give, and what to label next."""

    measure: str
    queries: int
    judged: int
    encoders: tuple[Standing, ...]
    steps: tuple[PrecisionStep, ...]
    wanted: PrecisionStep | None
    next: NextLabels
    split: str | None
    notes: tuple[str, ...]


def compare_result(found: LabelPlan) -> CompareResult:
    """A plan as published: the pairs to label by their number only."""
    return CompareResult(
        measure=f"HR@{found.k}",
        queries=found.queries,
        judged=found.judged,
        encoders=found.standings,
        steps=found.plan.steps,
        wanted=found.plan.wanted,
        next=NextLabels(found.next_queries, len(found.next)),
        split=found.split,
        notes=found.notes,
    )


def compare_encoders(
    workspace: Workspace,
    encoders: Sequence[str],
    *,
    k: int = 5,
    width: float = 0.1,
    margin: float = audit.MARGIN,
    interim_looks: int = audit.INTERIM_LOOKS,
    pairs: Path | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
) -> LabelPlan:
    """Compare two encoders or more on the pool's queries (without a pool: on all), in one seeded random order.

    `width` is the wanted width of the interval of a difference in HR@K. `pairs` is a file for the pairs to label
    to reach it; none is added if the encoders are separated already.
    """
    if pairs is not None:
        earlier_rows(pairs)  # refused before long work begins
    catalog, pool = workspace.catalog, workspace.pool()
    rule, notes = comparable_rule(workspace, encoders, Rule())
    queries = catalog.image[catalog.is_query()] if pool is None else pool.queries
    allowed = set(catalog.image[catalog.is_query(rule.split)])
    found = pairs_to_label(
        catalog,
        [workspace.embeddings(name) for name in encoders],
        workspace.labels(),
        [query for query in queries if query in allowed],
        k=k,
        width=width,
        margin=margin,
        looks=interim_looks,
        seed=workspace.settings.seed if seed is None else seed,
        rule=rule,
        progress=progress,
    )
    found = replace(found, notes=notes)
    if pairs is not None:
        write_pair_file(found.next, pairs)
    return found
