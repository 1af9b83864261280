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
    near = limit // 2
    far = limit - near
    mark = np.full(nodes, -1, np.int32)
    found = np.empty(nodes, np.int32)
    ends = np.empty(far + 1, np.int64)
    # The small balls, listed by the node they hold.
    held = np.zeros(nodes + 1, np.int64)
    total = 0
    for j in range(size):
        count = _ball(start, node, batch[j], near, j, mark, found, ends)
        total += count
        for i in range(count):
            held[found[i] + 1] += 1
    for a in range(nodes):
        held[a + 1] += held[a]
    at_owner = np.empty(total, np.int32)
    at_hop = np.empty(total, np.uint8)
    for j in range(size):
        _ball(start, node, batch[j], near, size + j, mark, found, ends)
        first = 0
        for hop in range(near + 1):
            for i in range(first, ends[hop]):
                a = found[i]
                at_owner[held[a]] = j
                at_hop[held[a]] = hop
                held[a] += 1
            first = ends[hop]
    # held[a] is now where the list of a ends, and held[a - 1] where it begins.
    hops[:] = BEYOND
    for i in range(size):
        _ball(start, node, batch[i], far, 2 * size + i, mark, found, ends)
        first = 0
        for hop in range(far + 1):
            for k in range(first, ends[hop]):
                a = found[k]
                begin = held[a - 1] if a else 0
                for at in range(begin, held[a]):
                    j, d = at_owner[at], hop + at_hop[at]
                    hops[i, j] = min(hops[i, j], d)
            first = ends[hop]


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
