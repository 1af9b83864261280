"""The pool S_k: the union over generators of each query's top k distinct items (EDS 3.3, Eq. 1)."""

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from lookalike.core.checks import strings
from lookalike.core.errors import PoolError
from lookalike.core.text import quoted
from lookalike.core.types import Catalog, Pool


def pool(
    catalog: Catalog,
    query_rows: Int[np.ndarray, " queries"],
    lists: Mapping[str, tuple[Int[np.ndarray, "queries k"], Float[np.ndarray, "queries k"]]],
    top: int,
) -> Pool:
    """Unite the generators' top lists.

    `lists[generator]` is (rows, scores), both queries x k: catalog rows best first (-1 past the end) as
    `rank.distinct.top_lists` gives them. A pair is a query image and a candidate item; of the photos the
    generators found for it, annotators see the one most of them ranked best (then the better rank, then the
    earlier photo). Every generator's rank and score stay with the pair.
    """
    if not lists:
        raise PoolError("There is no generator.", fix="Name at least one: --generators color,hog")
    item_names, item_code = catalog.item_codes
    found = [_found(rows, scores, at) for at, (rows, scores) in enumerate(lists.values())]
    query, shown, source, rank, score = (np.concatenate(parts) for parts in zip(*found, strict=True))
    key = query * len(item_names) + item_code[shown]
    keys, pair = np.unique(key, return_inverse=True)
    return Pool(
        query=catalog.image[query_rows[keys // len(item_names)]],
        item=item_names[keys % len(item_names)],
        candidate=catalog.image[_photo_shown(pair, shown, rank, len(keys))],
        pair=pair,
        source=source,
        rank=rank,
        score=score,
        generators=tuple(lists),
        top=top,
        queries=catalog.image[query_rows],
    )


def _found(rows: np.ndarray, scores: np.ndarray, generator: int) -> tuple[np.ndarray, ...]:
    """One generator's lists as columns: query place, catalog row, generator, rank, score."""
    query, rank = np.nonzero(rows >= 0)
    source = np.full(len(query), generator, np.int64)
    return query, rows[query, rank], source, rank, scores[query, rank]


def _photo_shown(pair: np.ndarray, shown: np.ndarray, rank: np.ndarray, pairs: int) -> np.ndarray:
    """For each pair the photo that most generators retrieved; of equals the better rank, then catalog order."""
    photo_of_pair, which = np.unique(np.stack([pair, shown]), axis=1, return_inverse=True)
    times = np.bincount(which)
    best_rank = np.full(len(times), np.iinfo(np.int64).max)
    np.minimum.at(best_rank, which, rank)
    order = np.lexsort((photo_of_pair[1], best_rank, -times, photo_of_pair[0]))
    first = np.searchsorted(photo_of_pair[0][order], np.arange(pairs))
    return np.asarray(photo_of_pair[1][order][first])


@runtime_checkable
class ImagePairs(Protocol):
    """Pairs of photos: of a pool, random pairs, or questions to annotators."""

    @property
    def query(self) -> np.ndarray:
        """Query images."""

    @property
    def candidate(self) -> np.ndarray:
        """Candidate photos."""


def unordered_pairs(pairs: ImagePairs) -> Int[np.ndarray, " pairs"]:
    """For each pair, the code of its unordered pair of photos: (a, b) and (b, a) are one question."""
    place: dict[tuple[str, str], int] = {}
    ends = zip(pairs.query, pairs.candidate, strict=True)
    codes = (place.setdefault((a, b) if a <= b else (b, a), len(place)) for a, b in ends)
    return np.fromiter(codes, np.int64, len(pairs.query))


def extended(old: Pool, new: Pool) -> Pool:
    """The old pool with the new one's generators and queries added: only pairs that were not there are new.

    Old pairs keep the photo that annotators saw and the provenance of generators that are not named again; a generator
    named again replaces its earlier entries. Both pools must have the same top, and the new one all queries of the
    old. If it has more, it must have all generators of the old too, because each proposes pairs for each query.
    """
    if old.top != new.top or not np.isin(old.queries, new.queries).all():
        others = " others" if len(old.queries) == len(new.queries) else ""
        raise PoolError(
            f"The pool has {len(old.queries):,} queries with top {old.top}; the new one would have "
            f"{len(new.queries):,}{others} with top {new.top}.",
            fix="A pool keeps its queries and --top: leave them out. It grows with a larger number: --queries "
            f"{2 * len(old.queries)}. Or start again with --overwrite.",
        )
    missing = [name for name in old.generators if name not in new.generators]
    if len(new.queries) > len(old.queries) and missing:
        raise PoolError(
            f"New queries need the lists of all generators of the pool, but {quoted(missing)} "
            f"{'is' if len(missing) == 1 else 'are'} not named.",
            fix=f"Name all: --generators {','.join(old.generators)}",
        )
    generators = (*(name for name in old.generators if name not in new.generators), *new.generators)
    kept = [name in generators[: len(generators) - len(new.generators)] for name in old.generators]
    rows = np.flatnonzero(np.array(kept, bool)[old.source])
    pairs: dict[tuple[str, str], str] = {}
    for source in (old, new):
        for query, item, candidate in zip(source.query, source.item, source.candidate, strict=True):
            pairs.setdefault((query, item), candidate)
    used = {(old.query[p], old.item[p]) for p in old.pair[rows]} | set(zip(new.query, new.item, strict=True))
    order = {query: i for i, query in enumerate(new.queries)}
    listed = sorted((pair for pair in pairs if pair in used), key=lambda pair: order[pair[0]])
    place = {pair: p for p, pair in enumerate(listed)}
    name_of = {name: i for i, name in enumerate(generators)}
    old_place = np.array([place.get(pair, -1) for pair in zip(old.query, old.item, strict=True)], np.int64)
    new_place = np.array([place[pair] for pair in zip(new.query, new.item, strict=True)], np.int64)
    old_source = np.array([name_of[name] for name in old.generators], np.int64)[old.source[rows]]
    new_source = np.array([name_of[name] for name in new.generators], np.int64)[new.source]
    return Pool(
        query=strings(pair[0] for pair in listed),
        item=strings(pair[1] for pair in listed),
        candidate=strings(pairs[pair] for pair in listed),
        pair=np.concatenate([old_place[old.pair[rows]], new_place[new.pair]]),
        source=np.concatenate([old_source, new_source]),
        rank=np.concatenate([old.rank[rows], new.rank]),
        score=np.concatenate([old.score[rows], new.score]),
        generators=generators,
        top=new.top,
        queries=new.queries,
    )


def united(pools: Sequence[Pool]) -> Pool:
    """The pairs, generators and queries of several pools, each once; of equals, those of the earlier pool.

    A generator that ranked a pair in two pools keeps the entry of the earlier one. `top` is the largest.
    """
    if len(pools) == 1:
        return pools[0]
    candidates: dict[tuple[str, str], str] = {}
    sources: dict[tuple[tuple[str, str], str], tuple[int, float]] = {}
    for pool in pools:
        pairs = list(zip(pool.query.tolist(), pool.item.tolist(), strict=True))
        for pair, candidate in zip(pairs, pool.candidate.tolist(), strict=True):
            candidates.setdefault(pair, candidate)
        for pair, source, rank, score in zip(pool.pair, pool.source, pool.rank, pool.score, strict=True):
            sources.setdefault((pairs[pair], pool.generators[source]), (int(rank), float(score)))
    generators = tuple(dict.fromkeys(name for pool in pools for name in pool.generators))
    place = {pair: at for at, pair in enumerate(candidates)}
    return Pool(
        query=strings(query for query, _ in candidates),
        item=strings(item for _, item in candidates),
        candidate=strings(candidates.values()),
        pair=np.array([place[pair] for pair, _ in sources], np.int64),
        source=np.array([generators.index(name) for _, name in sources], np.int64),
        rank=np.array([rank for rank, _ in sources.values()], np.int64),
        score=np.array([score for _, score in sources.values()], np.float32),
        generators=generators,
        top=max(pool.top for pool in pools),
        queries=strings(dict.fromkeys(query for pool in pools for query in pool.queries)),
    )
