"""Soft positives as VSD 6.1 defines them: dictionaries, a queue, one pair at a time. Nothing comes from src."""

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from itertools import combinations
from math import exp
from typing import NamedTuple

from oracles.matching import Vote, fault
from oracles.ranking import Photo

Pair = frozenset[str]


class Soft(NamedTuple):
    """The values of a pair of images: P, hops over positives (None: no path of at most L), and its label if any."""

    positiveness: float
    hops: int | None
    label: int | None


def node_labels(
    photos: Sequence[Photo], votes: Sequence[Vote], nodes: str, split: str | None
) -> tuple[dict[Pair, int], Counter[str]]:
    """The label of each pair of nodes that has one, and how many votes were left out for each reason."""
    by_name = {photo.image: photo for photo in photos}
    left_out = Counter(reason for vote in votes if (reason := fault(by_name, vote)))

    def pair(vote: Vote) -> Pair:
        ends = by_name[vote.query], by_name[vote.candidate]
        return frozenset(photo.item if nodes == "item" else photo.image for photo in ends)

    def is_inside(vote: Vote) -> bool:
        return split is None or {by_name[vote.query].split, by_name[vote.candidate].split} == {split}

    sound = [vote for vote in votes if not fault(by_name, vote)]
    collected: dict[Pair, set[int]] = {}
    for vote in filter(is_inside, sound):  # what another split says of an item is not known here
        collected.setdefault(pair(vote), set()).add(vote.label)
    label = {}
    for vote in sound:
        if not is_inside(vote):
            left_out["outside of the split"] += 1
        elif len(collected[pair(vote)]) > 1:
            left_out["both ways"] += 1
        else:
            label[pair(vote)] = vote.label
    return label, left_out


def hops_from(edges: Iterable[Pair], source: str) -> dict[str, int]:
    """How many edges each node that can be reached is away from the source."""
    beside: dict[str, set[str]] = {}
    for one, other in map(tuple, edges):
        beside.setdefault(one, set()).add(other)
        beside.setdefault(other, set()).add(one)
    away, waiting = {source: 0}, deque([source])
    while waiting:
        node = waiting.popleft()
        for neighbour in beside.get(node, ()):
            if neighbour not in away:
                away[neighbour] = away[node] + 1
                waiting.append(neighbour)
    return away


def soft_positives(
    photos: Sequence[Photo],
    votes: Sequence[Vote],
    *,
    beta: float,
    most: int,
    nodes: str = "image",
    split: str | None = "train",
) -> dict[Pair, Soft]:
    """All pairs of different images of the split."""
    label, _ = node_labels(photos, votes, nodes, split)
    positive = [pair for pair, y in label.items() if y == 1]
    inside = [photo for photo in photos if split is None or photo.split == split]
    node = {photo.image: photo.item if nodes == "item" else photo.image for photo in inside}
    away = {name: hops_from(positive, name) for name in set(node.values())}
    found = {}
    for one, other in combinations([photo.image for photo in inside], 2):
        hops = away[node[one]].get(node[other])
        hops = hops if hops is not None and hops <= most else None
        y = label.get(frozenset((node[one], node[other])))
        if node[one] == node[other]:
            p = 1.0
        elif y is not None:
            p = float(y)
        else:
            p = 0.0 if hops is None else exp(-beta * hops)
        found[frozenset((one, other))] = Soft(p, hops, y)
    return found
