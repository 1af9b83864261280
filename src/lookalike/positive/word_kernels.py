"""The compiled walk from up to 64 nodes at once: a source is a bit of a word, so one step over an edge serves all.

What is met is kept as entries (node, bits): at this hop the sources of these bits met the node for the first time.
"""

import numpy as np

from lookalike.core.compiled import compiled
from lookalike.positive.kernels import BEYOND

WORD = 64
SEEN, COMING = 0, 1
NONE = np.uint64(0)
ONE = np.uint64(1)
SEQUENCE = np.uint64(0x03F79D71B4CB0A89)  # de Bruijn: its 64 windows of six bits are all different
TOP_SIX = np.uint64(58)
PLACE = np.zeros(WORD, np.int64)
for _place in range(WORD):
    PLACE[((0x03F79D71B4CB0A89 << _place) & (2**64 - 1)) >> 58] = _place


@compiled
def breadth_order(start: np.ndarray, node: np.ndarray) -> np.ndarray:
    """Nodes that have a neighbour, in breadth-first order: those near each other come to share words."""
    nodes = len(start) - 1
    order = np.empty(nodes, np.int32)
    met = np.zeros(nodes, np.bool_)
    head, count = 0, 0
    for root in range(nodes):
        if met[root] or start[root] == start[root + 1]:
            continue
        met[root] = True
        order[count] = root
        count += 1
        while head < count:
            a = order[head]
            head += 1
            for at in range(start[a], start[a + 1]):
                b = node[at]
                if not met[b]:
                    met[b] = True
                    order[count] = b
                    count += 1
    return order[:count]


@compiled
def spread(
    start: np.ndarray,
    node: np.ndarray,
    sources: np.ndarray,
    limit: int,
    word: np.ndarray,
    ends: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Entries of a breadth-first search from distinct sources; those within h hops are the first `ends[h]`.

    `word[a]` holds, side by side, who has met node a and who is coming to it: all 0, and so again afterwards, for
    only what is reached shall cost.
    """
    at_node = np.empty(4096, np.int32)
    at_bits = np.empty(4096, np.uint64)
    for s in range(len(sources)):
        at_node[s] = sources[s]
        at_bits[s] = ONE << np.uint64(s)
        word[sources[s], SEEN] = at_bits[s]
    first, count = 0, len(sources)
    ends[0] = count
    for hop in range(1, limit + 1):
        room = count
        for i in range(first, count):
            room += start[at_node[i] + 1] - start[at_node[i]]
        at_node, at_bits = _with_room(at_node, at_bits, count, min(room, count + len(word)))
        last = count
        count = _hop_in_words(start, node, at_node, at_bits, first, last, word)
        first = last
        ends[hop] = count
    for i in range(count):
        word[at_node[i], SEEN] = NONE
    return at_node[:count], at_bits[:count]


@compiled
def _with_room(
    at_node: np.ndarray, at_bits: np.ndarray, count: int, room: int
) -> tuple[np.ndarray, np.ndarray]:
    """The first `count` entries where there is room for as many as said."""
    if room <= len(at_node):
        return at_node, at_bits
    size = max(room, 2 * len(at_node))
    node, bits = np.empty(size, np.int32), np.empty(size, np.uint64)
    node[:count] = at_node[:count]
    bits[:count] = at_bits[:count]
    return node, bits


@compiled
def _hop_in_words(
    start: np.ndarray,
    node: np.ndarray,
    at_node: np.ndarray,
    at_bits: np.ndarray,
    first: int,
    last: int,
    word: np.ndarray,
) -> int:
    """One hop on from the entries of the last one; how many entries there are now. (Apart: arrays that do not move.)"""
    count = last
    for i in range(first, last):
        a = at_node[i]
        bits = at_bits[i]
        for at in range(start[a], start[a + 1]):
            b = node[at]
            fresh = bits & ~word[b, SEEN]
            if fresh != NONE:
                if word[b, COMING] == NONE:
                    at_node[count] = b
                    count += 1
                word[b, COMING] |= fresh
    for i in range(last, count):
        b = at_node[i]
        at_bits[i] = word[b, COMING]
        word[b, SEEN] |= word[b, COMING]
        word[b, COMING] = NONE
    return count


@compiled
def hide(
    start: np.ndarray,
    node: np.ndarray,
    sources: np.ndarray,
    at_node: np.ndarray,
    at_bits: np.ndarray,
    hidden: np.ndarray,
) -> None:
    """Take out of the entries every source itself and its neighbours in another graph (the labelled negatives).

    `hidden` holds a word for every node, all 0, and is so again afterwards.
    """
    for s in range(len(sources)):
        bit = ONE << np.uint64(s)
        a = sources[s]
        hidden[a] |= bit
        for at in range(start[a], start[a + 1]):
            hidden[node[at]] |= bit
    for i in range(len(at_node)):
        at_bits[i] &= ~hidden[at_node[i]]
    for s in range(len(sources)):
        a = sources[s]
        hidden[a] = NONE
        for at in range(start[a], start[a + 1]):
            hidden[node[at]] = NONE


@compiled
def keep_later(at_node: np.ndarray, at_bits: np.ndarray, first: int, size: int) -> None:
    """Of consecutive sources first, first + 1, ...: leave only nodes after the source, so that a pair is met once."""
    for i in range(len(at_node)):
        before = at_node[i] - first
        if before <= 0:
            at_bits[i] = NONE
        elif before < size:
            at_bits[i] &= (ONE << np.uint64(before)) - ONE


@compiled
def tally(at_node: np.ndarray, at_bits: np.ndarray, weight: np.ndarray, met: np.ndarray) -> None:
    """met[s]: sum of the weights of the nodes that source s met."""
    for i in range(len(at_node)):
        bits = at_bits[i]
        each = weight[at_node[i]]
        while bits != NONE:
            lowest = bits & (~bits + ONE)
            met[PLACE[(lowest * SEQUENCE) >> TOP_SIX]] += each
            bits ^= lowest


@compiled
def gather(
    at_node: np.ndarray,
    at_bits: np.ndarray,
    ends: np.ndarray,
    wanted: np.uint64,
    sources: np.ndarray,
    name: np.ndarray,
    free: np.ndarray,
    one: np.ndarray,
    other: np.ndarray,
    hops: np.ndarray,
) -> None:
    """Write the pairs of the sources in the bits `wanted`, each from its place `free[s]` on, nearest first.

    Nodes are written by their `name`, the smaller one into `one`.
    """
    first = 0
    for hop in range(len(ends)):
        for i in range(first, ends[hop]):
            bits = at_bits[i] & wanted
            if bits == NONE:
                continue
            b = name[at_node[i]]
            while bits != NONE:
                lowest = bits & (~bits + ONE)
                s = PLACE[(lowest * SEQUENCE) >> TOP_SIX]
                bits ^= lowest
                a = name[sources[s]]
                to = free[s]
                free[s] = to + 1
                one[to] = min(a, b)
                other[to] = max(a, b)
                hops[to] = hop
        first = ends[hop]


@compiled
def meet_in_words(
    start: np.ndarray, node: np.ndarray, batch: np.ndarray, limit: int, hops: np.ndarray
) -> None:
    """hops[i, j] as `kernels.meet` has it, by whole walks from 64 nodes at a time: for balls that hold the graph."""
    nodes = len(start) - 1
    place = np.full(nodes, -1, np.int32)
    for i in range(len(batch)):
        place[batch[i]] = i
    word = np.zeros((nodes, 2), np.uint64)
    ends = np.empty(limit + 1, np.int64)
    hops[:] = BEYOND
    for begin in range(0, len(batch), WORD):
        at_node, at_bits = spread(start, node, batch[begin : begin + WORD], limit, word, ends)
        first = 0
        for hop in range(limit + 1):
            for i in range(first, ends[hop]):
                j = place[at_node[i]]
                if j < 0:
                    continue
                bits = at_bits[i]
                while bits != NONE:
                    lowest = bits & (~bits + ONE)
                    hops[begin + PLACE[(lowest * SEQUENCE) >> TOP_SIX], j] = hop
                    bits ^= lowest
            first = ends[hop]
