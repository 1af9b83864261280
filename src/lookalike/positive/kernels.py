"""The compiled walks over the graph."""

import numpy as np

from lookalike.core.compiled import compiled

BEYOND = 255  # a distance that is larger than the limit, or none


@compiled
def _ball(
    start: np.ndarray,
    node: np.ndarray,
    center: int,
    radius: int,
    stamp: int,
    mark: np.ndarray,
    found: np.ndarray,
    ends: np.ndarray,
) -> int:
    """Nodes within some hops of a center, nearest first, into `found`; those within h hops are the first `ends[h]`.

    `mark` tells which nodes were met under this stamp. Returns how many there are.
    """
    found[0] = center
    mark[center] = stamp
    first, count = 0, 1
    ends[0] = 1
    for hop in range(1, radius + 1):
        last = count
        for i in range(first, last):
            a = found[i]
            for at in range(start[a], start[a + 1]):
                b = node[at]
                if mark[b] != stamp:
                    mark[b] = stamp
                    found[count] = b
                    count += 1
        first = last
        ends[hop] = count
    return count


@compiled
def meet(start: np.ndarray, node: np.ndarray, batch: np.ndarray, limit: int, hops: np.ndarray) -> None:
    """hops[i, j]: distance between nodes batch[i] and batch[j], all different; BEYOND where above the limit.

    Balls of floor(limit / 2) hops are drawn around every node of the batch and listed by the nodes in them; then the
    ball of the other hops around each: two nodes are as far as their balls' nearest common node says.
    """
    nodes, size = len(start) - 1, len(batch)
    far = limit - limit // 2
    mark = np.full(nodes, -1, np.int32)
    found = np.empty(nodes, np.int32)
    ends = np.empty(far + 1, np.int64)
    held, at_owner, at_hop = _listed(start, node, batch, limit // 2, mark, found, ends)
    hops[:] = BEYOND
    for i in range(size):
        _ball(start, node, batch[i], far, 2 * size + i, mark, found, ends)
        first = 0
        for hop in range(far + 1):
            for k in range(first, ends[hop]):
                a = found[k]
                for at in range(held[a], held[a + 1]):
                    j = at_owner[at]
                    hops[i, j] = min(hops[i, j], hop + at_hop[at])
            first = ends[hop]


@compiled
def _listed(
    start: np.ndarray,
    node: np.ndarray,
    batch: np.ndarray,
    radius: int,
    mark: np.ndarray,
    found: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The balls around a batch by the nodes they hold: those of node a are at `held[a]` to `held[a + 1]`.

    They are told by the center's place in the batch, and the node's distance from it.
    """
    nodes, size = len(start) - 1, len(batch)
    # Counts are one place further on while it is filled, so that it ends as the lists' starts.
    held = np.zeros(nodes + 2, np.int64)
    for j in range(size):
        for i in range(_ball(start, node, batch[j], radius, j, mark, found, ends)):
            held[found[i] + 2] += 1
    for a in range(nodes):
        held[a + 2] += held[a + 1]
    at_owner = np.empty(held[nodes + 1], np.int32)
    at_hop = np.empty(held[nodes + 1], np.uint8)
    for j in range(size):
        _ball(start, node, batch[j], radius, size + j, mark, found, ends)
        first = 0
        for hop in range(radius + 1):
            for i in range(first, ends[hop]):
                to = held[found[i] + 1]
                at_owner[to] = j
                at_hop[to] = hop
                held[found[i] + 1] += 1
            first = ends[hop]
    return held, at_owner, at_hop


@compiled
def mark_pairs(start: np.ndarray, node: np.ndarray, batch: np.ndarray, nodes: int, found: np.ndarray) -> None:
    """found[i, j] is True where batch[i] and batch[j], all different, are neighbours."""
    place = np.full(nodes, -1, np.int32)
    for i in range(len(batch)):
        place[batch[i]] = i
    for i in range(len(batch)):
        for at in range(start[batch[i]], start[batch[i] + 1]):
            j = place[node[at]]
            if j >= 0:
                found[i, j] = True


@compiled
def held_by_balls(start: np.ndarray, node: np.ndarray, batch: np.ndarray, radius: int, enough: int) -> int:
    """How many nodes the balls around a batch hold together; counting ends once it is more than enough."""
    nodes = len(start) - 1
    mark = np.full(nodes, -1, np.int32)
    found = np.empty(nodes, np.int32)
    ends = np.empty(radius + 1, np.int64)
    total = 0
    for j in range(len(batch)):
        total += _ball(start, node, batch[j], radius, j, mark, found, ends)
        if total > enough:
            break
    return total


@compiled
def between(
    start: np.ndarray, node: np.ndarray, a: np.ndarray, b: np.ndarray, limit: int, hops: np.ndarray
) -> None:
    """hops[p]: distance between a[p] and b[p], BEYOND where above the limit: a search from both ends of each pair.

    A hop is taken where fewer nodes wait. As long as the two balls, of i and j hops, share no node, the distance is
    above i + j; so the first node they share tells it.
    """
    nodes = len(start) - 1
    mark = np.full(nodes, -1, np.int64)  # 2p: met from a[p]; 2p + 1: met from b[p]
    near = np.empty(nodes, np.int32)
    far = np.empty(nodes, np.int32)
    for p in range(len(a)):
        hops[p] = 0 if a[p] == b[p] else BEYOND
        if a[p] == b[p]:
            continue
        near[0], far[0] = a[p], b[p]
        mark[a[p]], mark[b[p]] = 2 * p, 2 * p + 1
        near_first, near_last, far_first, far_last = 0, 1, 0, 1
        for hop in range(1, limit + 1):
            if near_last - near_first <= far_last - far_first:
                last, met = _hop(start, node, near, near_first, near_last, mark, 2 * p, 2 * p + 1)
                near_first, near_last = near_last, last
            else:
                last, met = _hop(start, node, far, far_first, far_last, mark, 2 * p + 1, 2 * p)
                far_first, far_last = far_last, last
            if met:
                hops[p] = hop
                break
            if near_first == near_last or far_first == far_last:
                break


@compiled
def _hop(
    start: np.ndarray,
    node: np.ndarray,
    found: np.ndarray,
    first: int,
    last: int,
    mark: np.ndarray,
    mine: int,
    theirs: int,
) -> tuple[int, bool]:
    """Widen a ball by one hop from its outermost nodes; where it now ends, and whether it met the other one."""
    count = last
    for i in range(first, last):
        for at in range(start[found[i]], start[found[i] + 1]):
            b = node[at]
            if mark[b] == theirs:
                return count, True
            if mark[b] != mine:
                mark[b] = mine
                found[count] = b
                count += 1
    return count, False


@compiled
def photo_pairs(
    start: np.ndarray,
    photo: np.ndarray,
    a: np.ndarray,
    b: np.ndarray,
    hops: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    photo_hops: np.ndarray,
) -> None:
    """Every photo of item a[p] with every photo of item b[p]; with a[p] = b[p] each two photos of it once."""
    to = 0
    for p in range(len(a)):
        for i in range(start[a[p]], start[a[p] + 1]):
            begin = i + 1 if a[p] == b[p] else start[b[p]]
            for j in range(begin, start[b[p] + 1]):
                one[to] = min(photo[i], photo[j])
                other[to] = max(photo[i], photo[j])
                photo_hops[to] = hops[p]
                to += 1
