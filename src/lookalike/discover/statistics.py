"""The size of a pool and what labelling it costs: overlap, duplicates, savings, expert-hours (EDS 3.3, 6.2)."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64

from lookalike.core.checks import at_least
from lookalike.core.types import Pool
from lookalike.discover.pool import unordered_pairs

PAIRS_PER_HOUR = (110.0, 140.0)


@dataclass(frozen=True, eq=False)
class PoolFigures:
    """The figures of EDS 3.3 and 6.2 for one pool.

    `most` is |M||Q|k; `duplicates` the share of it that several generators retrieved again;
    `saving_catalog` is |D|/(|M|k) with |D| the images (EDS 3.3 gives about 1,400), `saving_pairs` |A|/|S_k|
    with |A| = |Q|(|D| - 1), or |Q||D| for queries that are not in D; `overlap` is |S_m and S_m'| / (|Q|k) in %
    of each generator with each other one; `only_by` counts pairs that only one generator proposed.
    """

    pairs: int
    asked: int
    queries: int
    top: int
    most: int
    duplicates: float
    candidates_per_query: float
    generators: tuple[str, ...]
    overlap: dict[str, dict[str, float]]
    mean_overlap: float
    only_by: dict[str, int]
    saving_catalog: float
    saving_pairs: float


def pool_figures(pool: Pool, images: int, outside: int = 0) -> PoolFigures:
    """Figures of a pool over a gallery of so many images; `outside` queries (wild ones) are not among them."""
    queries, generators = len(pool.queries), len(pool.generators)
    most = generators * queries * pool.top
    overlap = overlap_percent(pool)
    between = overlap[~np.eye(generators, dtype=bool)]
    times = np.bincount(pool.pair, minlength=len(pool))
    alone = np.bincount(pool.source[times[pool.pair] == 1], minlength=generators)
    return PoolFigures(
        pairs=len(pool),
        asked=len(np.unique(unordered_pairs(pool))),
        queries=queries,
        top=pool.top,
        most=most,
        duplicates=1.0 - len(pool) / most if most else float("nan"),
        candidates_per_query=len(pool) / queries if queries else float("nan"),
        generators=pool.generators,
        overlap={
            a: {b: float(overlap[i, j]) for j, b in enumerate(pool.generators) if i != j}
            for i, a in enumerate(pool.generators)
        },
        mean_overlap=float(between.mean()) if len(between) else float("nan"),
        only_by=dict(zip(pool.generators, alone.tolist(), strict=True)),
        saving_catalog=images / (generators * pool.top),
        saving_pairs=(queries * (images - 1) + outside) / len(pool) if len(pool) else float("nan"),
    )


def overlap_percent(pool: Pool) -> Float64[np.ndarray, "generators generators"]:
    """|S_m and S_m'| / (|Q| k) in % for each pair of generators (EDS Table 2); NaN on the diagonal."""
    retrieved = np.zeros((len(pool.generators), len(pool)), np.float32)
    retrieved[pool.source, pool.pair] = 1.0
    overlap = 100.0 * (retrieved @ retrieved.T).astype(np.float64) / max(len(pool.queries) * pool.top, 1)
    np.fill_diagonal(overlap, np.nan)
    return overlap


def expert_hours(
    pairs: int, votes_per_pair: int = 2, pairs_per_hour: tuple[float, float] = PAIRS_PER_HOUR
) -> tuple[float, float]:
    """Fewest and most hours: pairs x votes per pair / rate, at 140 and 110 pairs an hour (VSD B.1).

    >>> low, high = expert_hours(63_298)
    >>> round(low), round(high)
    (904, 1151)
    """
    votes = at_least(pairs, 0, "pairs") * at_least(votes_per_pair, 1, "votes_per_pair")
    return votes / max(pairs_per_hour), votes / min(pairs_per_hour)
