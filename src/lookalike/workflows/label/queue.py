"""The queue of questions: discovered pairs without a label, in the order in which annotators get them."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from lookalike.annotate.order import balanced, first
from lookalike.core.clock import now_ms
from lookalike.core.types import Catalog, Pool
from lookalike.discover.questions import Questions
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.queue import (
    POOL,
    RANDOM,
    SAMPLE,
    NewPair,
    add_pairs,
    add_pairs_first,
    asked_pairs,
    close_labelled,
    lowest_place,
    withdraw_missing,
)
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.discover import all_pairs, open_questions
from lookalike.workflows.label.labelled import judged_labels, labelled_ends


@dataclass(frozen=True)
class Queued:
    """Changes of the queue: pairs added; pairs removed because a photo is missing, or because they have a label now."""

    new: int
    withdrawn: int
    labelled: int = 0


def queue_pairs(workspace: Workspace) -> Queued:
    """Add the pairs of all pools and the random pairs without a label to the queue. It can be run at any time.

    Pairs that are in the queue already do not change. The order is balanced over queries, see `annotate.order`.
    """
    pool, drawn = all_pairs(workspace)
    catalog, labels = workspace.catalog, workspace.labels()
    labelled, ends = judged_labels(catalog, labels), labelled_ends(catalog, labels)
    left = open_questions(workspace, pool, drawn, labelled) if pool is not None else None
    now = now_ms()
    with workspace.database.write() as connection:
        withdrawn = withdraw_missing(connection, now)
        done = close_labelled(connection, labelled, ends, now)
        if left is None or pool is None:
            return Queued(0, withdrawn, done)
        campaign = read_campaign(connection)
        listed = [
            pair
            for pair in _pairs(workspace, left, pool, campaign.seed)
            if (min(pair.query, pair.candidate), max(pair.query, pair.candidate)) not in ends
        ]
        return Queued(add_pairs(connection, listed, campaign.protocol.votes, now), withdrawn, done)


def count_waiting(workspace: Workspace) -> int:
    """How many pairs `queue_pairs` would add now."""
    pool, drawn = all_pairs(workspace)
    if pool is None:
        return 0
    catalog, labels = workspace.catalog, workspace.labels()
    left = open_questions(workspace, pool, drawn, judged_labels(catalog, labels))
    pairs = {
        (min(q, c), max(q, c)) for q, c in zip(left.query.tolist(), left.candidate.tolist(), strict=True)
    }
    with workspace.database.read() as connection:
        return len(pairs - asked_pairs(connection) - labelled_ends(catalog, labels))


def ask_first(
    connection: Connection, catalog: Catalog, drawn: Questions, both: Sequence[bool], kind: str = SAMPLE
) -> int:
    """Put the pairs of a sample in front of all others, in their order. Returns how many are new in the queue.

    Pairs that are open in the queue move there. Those that annotators decided, or excluded, are not asked again.
    """
    category, campaign = _categories(catalog), read_campaign(connection)
    places = first(len(drawn), lowest_place(connection))
    ends = zip(drawn.query, drawn.candidate, drawn.item, places, both, strict=True)
    listed = [
        NewPair(q, c, item, category(q), kind, place, both=is_both) for q, c, item, place, is_both in ends
    ]
    return add_pairs_first(connection, listed, campaign.protocol.votes, now_ms())


def _pairs(workspace: Workspace, left: Questions, pool: Pool, seed: int) -> Iterable[NewPair]:
    """The pairs without a label, each once whatever its direction. Its kind is `POOL` if it is in the pool."""
    category = _categories(workspace.catalog)
    ends = list(zip(left.query.tolist(), left.candidate.tolist(), left.item.tolist(), strict=True))
    directed = {(q, c) for q, c, _ in ends}
    pooled = set(zip(pool.query, pool.item, strict=True))
    once = [pair for pair in ends if not ((pair[1], pair[0]) in directed and pair[1] < pair[0])]
    places = balanced([q for q, _, _ in once], [(q, c) for q, c, _ in once], seed)
    for (q, c, item), place in zip(once, places, strict=True):
        kind = POOL if (q, item) in pooled else RANDOM
        yield NewPair(q, c, item, category(q), kind, place, both=(c, q) in directed)


def _categories(catalog: Catalog) -> Callable[[str], str]:
    return lambda image: str(catalog.category[catalog.row[image]])
