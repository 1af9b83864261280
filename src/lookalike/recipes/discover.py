"""`discover`: the pool of pairs worth labelling, and its figures."""

from collections.abc import Sequence
from pathlib import Path

from lookalike.core.errors import PoolError
from lookalike.core.progress import Progress
from lookalike.core.types import Pool, Rule
from lookalike.discover.figures import PoolFigures, pool_figures
from lookalike.discover.pool import extended
from lookalike.rank.pairs import judged_pairs
from lookalike.recipes import values
from lookalike.search.exact import judged_items
from lookalike.store.label_files import write_pair_file
from lookalike.store.workspace import Workspace

TOP = 5


def discover(
    workspace: Workspace,
    generators: Sequence[str] | None = None,
    *,
    top: int | None = None,
    queries: int | Sequence[str] | None = None,
    seed: int | None = None,
    replace: bool = False,
    pairs: Path | None = None,
    progress: Progress | None = None,
) -> Pool:
    """Pool the generators' top lists and keep the pool; `pairs` is a file to write its pairs to.

    An existing pool is extended with the generators named, on its own queries and top unless others are asked
    for; where nothing is asked for it stays as it is. A new one takes all encoders, all queries and top 5.
    """
    old = None if replace else workspace.pool()
    if old is not None and generators is None and top is None and queries is None:
        pool = old
    else:
        pool = _pooled(workspace, old, generators, top, queries, seed, progress)
    if pairs is not None:
        write_pair_file(pool, pairs)
    if pool is not old:
        workspace.save_pool(pool)
    return pool


def _pooled(
    workspace: Workspace,
    old: Pool | None,
    generators: Sequence[str] | None,
    top: int | None,
    queries: int | Sequence[str] | None,
    seed: int | None,
    progress: Progress | None,
) -> Pool:
    names = list(dict.fromkeys(workspace.encoders if generators is None else generators))
    if not names:
        raise PoolError(
            "No encoders are named to be the generators, or there are none yet.",
            fix="Make vectors with `lookalike embed descriptor:color descriptor:hog`, then name them: "
            "--generators color,hog",
        )
    if old is not None and queries is None:
        queries = old.queries.tolist()
    new = values.make_pool(
        workspace.catalog,
        [workspace.embeddings(name) for name in names],
        top=top or (old.top if old is not None else TOP),
        queries=queries,
        seed=workspace.settings.seed if seed is None else seed,
        progress=progress,
    )
    return extended(old, new) if old is not None else new


def figures(workspace: Workspace, pool: Pool) -> PoolFigures:
    """The figures of a pool over the workspace's gallery."""
    return pool_figures(pool, int(workspace.catalog.is_gallery().sum()))


def labelled(workspace: Workspace, pool: Pool) -> tuple[int, int | None]:
    """How many pairs of the pool are labelled, and how many of them similar (None while none is labelled)."""
    judged = judged_items(judged_pairs(workspace.catalog, workspace.labels(), Rule()))
    found = [judged[pair] for pair in zip(pool.query, pool.item, strict=True) if pair in judged]
    return len(found), sum(found) if found else None
