"""The queue of questions: what was discovered and has no label yet, in the order in which it is asked."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from lookalike.annotate.order import balanced, first
from lookalike.core.types import Pool
from lookalike.discover.questions import Questions, questions
from lookalike.recipes.discover import judged_labels
from lookalike.store.campaigns import read_campaign
from lookalike.store.queue import (
    CHOSEN,
    POOL,
    RANDOM,
    Asked,
    ask,
    ask_first,
    asked_pairs,
    lowest_place,
    settled_elsewhere,
    withdraw_missing,
)
from lookalike.store.settling import now_ms
from lookalike.store.workspace import Workspace


@dataclass(frozen=True)
class Queued:
    """What became of the queue: pairs that joined it; that left it because a photo has gone, or a label came in."""

    new: int
    withdrawn: int
    labelled: int = 0


def queue_pairs(workspace: Workspace) -> Queued:
    """Put the pool's pairs and the random ones that have no label yet into the queue; it may be run at any time.

    Pairs that wait there already stay as they are. Order: balanced over queries, see `annotate.order`.
    """
    pool, drawn = workspace.pool(), workspace.random_pairs()
    labelled = judged_labels(workspace)
    left = questions(pool, drawn, labelled) if pool is not None else None
    now = now_ms()
    with workspace.database.write() as connection:
        withdrawn = withdraw_missing(connection, now)
        done = settled_elsewhere(connection, labelled, now)
        if left is None or pool is None:
            return Queued(0, withdrawn, done)
        campaign = read_campaign(connection)
        listed = list(_pairs(workspace, left, pool, campaign.seed))
        return Queued(ask(connection, listed, campaign.protocol.votes, now), withdrawn, done)


def count_waiting(workspace: Workspace) -> int:
    """How many pairs `queue_pairs` would put into the queue now."""
    pool, drawn = workspace.pool(), workspace.random_pairs()
    if pool is None:
        return 0
    left = questions(pool, drawn, judged_labels(workspace))
    pairs = {
        (min(q, c), max(q, c)) for q, c in zip(left.query.tolist(), left.candidate.tolist(), strict=True)
    }
    with workspace.database.read() as connection:
        return len(pairs - asked_pairs(connection))


def queue_first(workspace: Workspace, chosen: Questions) -> int:
    """Put pairs that an audit wants in front of all others, in its order; returns how many are new in the queue."""
    category = _categories(workspace)
    with workspace.database.write() as connection:
        campaign = read_campaign(connection)
        places = first(len(chosen), lowest_place(connection))
        ends = zip(chosen.query, chosen.candidate, chosen.item, places, strict=True)
        directed = set(zip(chosen.query, chosen.candidate, strict=True))
        listed = [
            Asked(q, c, item, category(q), CHOSEN, place, both=(c, q) in directed)
            for q, c, item, place in ends
        ]
        return ask_first(connection, listed, campaign.protocol.votes, now_ms())


def _pairs(workspace: Workspace, left: Questions, pool: Pool, seed: int) -> Iterable[Asked]:
    """The pairs that are left, each unordered one once; its kind is the pool's where it is in the pool."""
    category = _categories(workspace)
    ends = list(zip(left.query.tolist(), left.candidate.tolist(), left.item.tolist(), strict=True))
    directed = {(q, c) for q, c, _ in ends}
    pooled = set(zip(pool.query, pool.item, strict=True))
    once = [pair for pair in ends if not ((pair[1], pair[0]) in directed and pair[1] < pair[0])]
    places = balanced([q for q, _, _ in once], [(q, c) for q, c, _ in once], seed)
    for (q, c, item), place in zip(once, places, strict=True):
        kind = POOL if (q, item) in pooled else RANDOM
        yield Asked(q, c, item, category(q), kind, place, both=(c, q) in directed)


def _categories(workspace: Workspace) -> Callable[[str], str]:
    catalog = workspace.catalog
    return lambda image: str(catalog.category[catalog.row[image]])
