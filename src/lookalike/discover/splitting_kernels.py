"""The compiled loops of splits that are drawn from a pool."""

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.core.compiled import compiled

ROUNDS = 10


@compiled
def communities(
    start: Int64[np.ndarray, " nodes_and_end"],
    node: Int64[np.ndarray, " ends"],
    weight: Float64[np.ndarray, " ends"],
    size: Int64[np.ndarray, " nodes"],
    order: Int64[np.ndarray, " nodes"],
    most: int,
) -> Int64[np.ndarray, " nodes"]:
    """Move each node, in order, to the community that it has most weight with and that it does not make too large."""
    label, total, pull = np.arange(len(size)), size.copy(), np.zeros(len(size))
    for _ in range(ROUNDS):
        moved = 0
        for one in order:
            for end in range(start[one], start[one + 1]):
                pull[label[node[end]]] += weight[end]
            best = label[one]
            for end in range(start[one], start[one + 1]):
                other = label[node[end]]
                if pull[other] > pull[best] and total[other] + size[one] <= most:
                    best = other
            for end in range(start[one], start[one + 1]):
                pull[label[node[end]]] = 0.0
            if best != label[one]:
                total[label[one]] -= size[one]
                total[best] += size[one]
                label[one] = best
                moved += 1
        if moved == 0:
            break
    return label


@compiled
def placed(
    start: Int64[np.ndarray, " parts_and_end"],
    kind: Int64[np.ndarray, " held"],
    count: Float64[np.ndarray, " held"],
    total: Float64[np.ndarray, " kinds"],
    order: Int64[np.ndarray, " parts"],
    share: Float64[np.ndarray, " places"],
) -> Int64[np.ndarray, " parts"]:
    """Give each part, in order, to the place where the sum of (have - wanted)^2 / wanted grows least.

    The sum is over the kinds and over all kinds together; a place wants its share of each kind's total.
    """
    place = np.zeros(len(order), np.int64)
    have, filled, everything = np.zeros((len(share), len(total))), np.zeros(len(share)), total.sum()
    for part in order:
        size = count[start[part] : start[part + 1]].sum()
        best, least = 0, np.inf
        for at in range(len(share)):
            cost = size * (2 * filled[at] + size) / (share[at] * everything) - 2 * size
            for one in range(start[part], start[part + 1]):
                held = have[at, kind[one]]
                cost += count[one] * (2 * held + count[one]) / (share[at] * total[kind[one]]) - 2 * count[one]
            if cost < least:
                best, least = at, cost
        place[part] = best
        filled[best] += size
        for one in range(start[part], start[part + 1]):
            have[best, kind[one]] += count[one]
    return place
