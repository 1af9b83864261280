"""`discover`: the pool of pairs worth labelling, and its figures."""

from collections.abc import Sequence

from lookalike.core.errors import PoolError
from lookalike.core.progress import Progress
from lookalike.core.types import Pool, Rule
from lookalike.discover.figures import PoolFigures, pool_figures
from lookalike.discover.pool import extended
from lookalike.rank.pairs import judged_pairs
from lookalike.recipes import values
from lookalike.search.exact import judged_items
from lookalike.store.workspace import Workspace


def discover(
    workspace: Workspace,
    generators: Sequence[str] | None = None,
    *,
    top: int = 5,
    queries: int | Sequence[str] | None = None,
    seed: int | None = None,
    replace: bool = False,
    progress: Progress | None = None,
) -> Pool:
    """Pool the generators' top lists (all encoders by default) and keep it; an existing pool is extended."""
    names = list(dict.fromkeys(generators or workspace.encoders))
    if not names:
        raise PoolError(
            "There are no encoders to use as generators.",
            fix="Make vectors first: lookalike embed descriptor:color descriptor:hog",
        )
    new = values.make_pool(
        workspace.catalog,
        [workspace.embeddings(name) for name in names],
        top=top,
        queries=queries,
        seed=workspace.settings.seed if seed is None else seed,
        progress=progress,
    )
    old = None if replace else workspace.pool()
    pool = extended(old, new) if old is not None else new
    workspace.save_pool(pool)
    return pool


def figures(workspace: Workspace, pool: Pool) -> PoolFigures:
    """The figures of a pool over the workspace's gallery."""
    return pool_figures(pool, int(workspace.catalog.is_gallery().sum()))


def labelled(workspace: Workspace, pool: Pool) -> tuple[int, int | None]:
    """How many pairs of the pool are labelled, and how many of them similar (None while none is labelled)."""
    judged = judged_items(judged_pairs(workspace.catalog, workspace.labels(), Rule()))
    found = [judged[pair] for pair in zip(pool.query, pool.item, strict=True) if pair in judged]
    return len(found), sum(found) if found else None
