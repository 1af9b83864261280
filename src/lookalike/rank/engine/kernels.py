"""The inner loops of ranking: counting, best of an item, top K. Compiled, without the interpreter lock.

Counts are kept in float32 within a tile (exact below 2**24), because that is what vectorises with the
comparison; `reassoc` is the only licence given to the compiler, so infinities compare as they should.
"""

import numpy as np

from lookalike.core.compiled import compiler, rising

TILE = 4096
DROP_COST = 8  # a pass that drops costs as much as counting this many thresholds
SCAN = 64
HIDDEN = np.float32(-np.inf)

compiled = compiler(fastmath={"reassoc"}, error_model="numpy")


@compiled
def take_rows(
    vectors: np.ndarray,
    rows: np.ndarray,
    center: np.ndarray,
    unit: bool,
    taken: np.ndarray,
    norm: np.ndarray,
    to: np.ndarray,
) -> None:
    """taken[to[i]] = vectors[rows[i]] - center, over its length if `unit`; norm[to[i]] is the length.

    Lengths are summed in float64.
    """
    width = vectors.shape[1]
    for i in range(len(rows)):
        row = vectors[rows[i]]
        total = 0.0
        for d in range(width):
            x = row[d] - center[d]
            total += np.float64(x) * np.float64(x)
        length = np.float32(np.sqrt(total))
        norm[to[i]] = length
        scale = np.float32(1.0) / length if unit else np.float32(1.0)
        shaped = taken[to[i]]
        for d in range(width):
            shaped[d] = (row[d] - center[d]) * scale


@compiled
def spread(part: np.ndarray, columns: np.ndarray, scores: np.ndarray) -> None:
    """scores[:, columns] = part: scores that were made in the order of the file, put where their columns are."""
    for b in range(len(part)):
        row, made = scores[b], part[b]
        for j in range(len(columns)):
            row[columns[j]] = made[j]


@compiled
def count_four(values: np.ndarray, low: np.ndarray, high: np.ndarray, counts: np.ndarray) -> None:
    """counts = #(x >= low[0]), #(x > high[0]), #(x >= low[1]), #(x > high[1]) over `values`."""
    l0, l1, h0, h1 = low[0], low[1], high[0], high[1]
    counts[:] = 0
    for start in range(0, len(values), TILE):
        tile = values[start : start + TILE]
        n0 = n1 = a0 = a1 = np.float32(0)
        for j in range(len(tile)):
            x = tile[j]
            n0 += np.float32(x >= l0)
            a0 += np.float32(x > h0)
            n1 += np.float32(x >= l1)
            a1 += np.float32(x > h1)
        counts[0] += int(n0)
        counts[1] += int(a0)
        counts[2] += int(n1)
        counts[3] += int(a1)


@compiled
def keep_from(values: np.ndarray, least: np.float32, kept: np.ndarray) -> int:
    """Move the values of at least `least` to the front of `kept` (which may be `values`); how many they are."""
    k = 0
    for j in range(len(values)):
        x = values[j]
        kept[k] = x
        k += x >= least
    return k


@compiled
def count_better(
    values: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    above: np.ndarray,
    near: np.ndarray,
    kept: np.ndarray,
) -> None:
    """Per threshold t: above[t] = #(value > high[t]) and near[t] = #(value >= low[t]).

    Thresholds ascend and their number is even. What lies under the next threshold is dropped from the row
    as soon as the passes saved outweigh the pass it takes, so labels near the top cost next to nothing.
    """
    counts = np.empty(4, np.int64)
    rest = values
    for t in range(0, len(low), 2):
        count_four(rest, low[t : t + 2], high[t : t + 2], counts)
        near[t], above[t], near[t + 1], above[t + 1] = counts[0], counts[1], counts[2], counts[3]
        left = len(low) - t - 2
        if left > 0 and 2 * left * (len(rest) - near[t + 1]) > DROP_COST * len(rest):
            rest = kept[: keep_from(rest, low[t + 2], kept)]


@compiled
def best_of_units(row: np.ndarray, classes: np.ndarray, best: np.ndarray) -> None:
    """best[u] = the best score among the images of unit u.

    Columns lie in size classes (images per unit, units, first column, first unit): within one, the first
    images of all its units are side by side, then their second images, so a maximum is one wide loop.
    """
    for c in range(len(classes)):
        size, units, column, unit = classes[c, 0], classes[c, 1], classes[c, 2], classes[c, 3]
        for u in range(units):
            best[unit + u] = row[column + u]
        for k in range(1, size):
            base = column + k * units
            for u in range(units):
                best[unit + u] = max(best[unit + u], row[base + u])


@compiled
def rank_block(
    scores: np.ndarray,
    classes: np.ndarray,
    hidden_start: np.ndarray,
    hidden: np.ndarray,
    judged_start: np.ndarray,
    target: np.ndarray,
    tolerance: np.ndarray,
    score: np.ndarray,
    above: np.ndarray,
    tied: np.ndarray,
) -> None:
    """Judged ranks of one block of finished rows: hide, take the best of each unit, read, count.

    Row b hides the columns hidden[hidden_start[b]:hidden_start[b+1]] and answers for the targets (units)
    target[judged_start[b]:judged_start[b+1]], writing score, above and tied at the same places.
    """
    units = classes[-1, 3] + classes[-1, 1]
    single = len(classes) == 1 and classes[0, 0] == 1
    best, kept = np.empty(0 if single else units, np.float32), np.empty(units, np.float32)
    for b in range(len(judged_start) - 1):
        first, last = judged_start[b], judged_start[b + 1]
        row = scores[b]
        for h in range(hidden_start[b], hidden_start[b + 1]):
            row[hidden[h]] = HIDDEN
        values = row
        if not single:
            best_of_units(row, classes, best)
            values = best
        for t in range(first, last):
            score[t] = values[target[t]]
        count_around(values, score[first:last], tolerance[b], above[first:last], tied[first:last], kept)
        for t in range(first, last):
            tied[t] -= above[t] + 1


@compiled
def count_block(
    scores: np.ndarray,
    classes: np.ndarray,
    hidden_start: np.ndarray,
    hidden: np.ndarray,
    judged_start: np.ndarray,
    tolerance: np.ndarray,
    score: np.ndarray,
    above: np.ndarray,
    near: np.ndarray,
) -> None:
    """Like `rank_block` for scores that are known: how many units of these columns are above, and above or tied."""
    units = classes[-1, 3] + classes[-1, 1]
    best, kept = np.empty(units, np.float32), np.empty(units, np.float32)
    for b in range(len(judged_start) - 1):
        first, last = judged_start[b], judged_start[b + 1]
        for h in range(hidden_start[b], hidden_start[b + 1]):
            scores[b, hidden[h]] = HIDDEN
        best_of_units(scores[b], classes, best)
        count_around(best, score[first:last], tolerance[b], above[first:last], near[first:last], kept)


@compiled
def count_around(
    values: np.ndarray,
    score: np.ndarray,
    tolerance: np.float32,
    above: np.ndarray,
    near: np.ndarray,
    kept: np.ndarray,
) -> None:
    """Per score: above = #(value > score + tolerance), near = #(value >= score - tolerance), in one pass or few."""
    order = rising(score.astype(np.float64))
    padded = len(order) + len(order) % 2
    low, high = np.empty(padded, np.float32), np.empty(padded, np.float32)
    better, close = np.empty(padded, np.int64), np.empty(padded, np.int64)
    for t in range(padded):
        s = score[order[t]] if t < len(order) else np.float32(np.inf)
        low[t], high[t] = s - tolerance, s + tolerance
    count_better(values, low, high, better, close, kept)
    for t in range(len(order)):
        above[order[t]], near[order[t]] = better[t], close[t]


@compiled
def insert(x: np.float32, filled: int, values: np.ndarray) -> int:
    """Keep the largest values in a short falling list; returns how many it holds now."""
    if filled == len(values):
        if x <= values[filled - 1]:
            return filled
        at = filled - 1
    else:
        at = filled
        filled += 1
    while at > 0 and values[at - 1] < x:
        values[at] = values[at - 1]
        at -= 1
    values[at] = x
    return filled


@compiled
def largest(values: np.ndarray, top: np.ndarray) -> int:
    """The largest values of a row, falling. A stretch is looked into only if it holds one that may enter."""
    filled = 0
    least = HIDDEN
    for start in range(0, len(values), SCAN):
        tile = values[start : start + SCAN]
        may = np.float32(0)
        for j in range(len(tile)):
            may += np.float32(tile[j] > least)
        if may == 0:
            continue
        for j in range(len(tile)):
            if tile[j] > least:
                filled = insert(tile[j], filled, top)
                if filled == len(top):
                    least = top[filled - 1]
    return filled


@compiled
def places_from(values: np.ndarray, least: np.float32, places: np.ndarray) -> int:
    """The places of the values of at least `least`; returns how many there are."""
    found = 0
    for start in range(0, len(values), SCAN):
        tile = values[start : start + SCAN]
        may = np.float32(0)
        for j in range(len(tile)):
            may += np.float32(tile[j] >= least)
        if may == 0:
            continue
        for j in range(len(tile)):
            if tile[j] >= least:
                places[found] = start + j
                found += 1
    return found


@compiled
def best_k(
    values: np.ndarray,
    order: np.ndarray,
    tolerance: np.float32,
    places: np.ndarray,
    top_values: np.ndarray,
    top_units: np.ndarray,
) -> int:
    """The best K units of a row; returns how many there are.

    From the best downwards, all within the tolerance of the first that is left are equals and stand by `order`, so
    that rounding decides nothing.
    """
    filled = largest(values, top_values)
    if filled == 0:
        return 0
    units = places[: places_from(values, top_values[filled - 1] - tolerance, places)]
    units = units[rising(-values[units].astype(np.float64))]
    start = 0
    while start < filled:
        stop = start + 1
        while stop < len(units) and values[units[start]] - values[units[stop]] <= tolerance:
            stop += 1
        if stop > start + 1:
            equals = units[start:stop].copy()
            by_order = rising(order[equals].astype(np.float64))
            for e in range(len(equals)):  # the assignment to a slice takes seconds to compile
                units[start + e] = equals[by_order[e]]
        start = stop
    for k in range(filled):
        top_units[k] = units[k]
        top_values[k] = values[units[k]]
    return filled


@compiled
def top_block(
    scores: np.ndarray,
    classes: np.ndarray,
    order: np.ndarray,
    hidden_start: np.ndarray,
    hidden: np.ndarray,
    tolerance: np.ndarray,
    top_values: np.ndarray,
    top_units: np.ndarray,
    top_columns: np.ndarray,
) -> None:
    """The K best units of each finished row, and the column of the image each stands for.

    `order[u]` is the place of unit u among equals. Where fewer than K candidates exist the rest of a row is -1.
    """
    units = classes[-1, 3] + classes[-1, 1]
    single = len(classes) == 1 and classes[0, 0] == 1
    best = np.empty(0 if single else units, np.float32)
    places = np.empty(units, np.int64)
    for b in range(len(scores)):
        row = scores[b]
        for h in range(hidden_start[b], hidden_start[b + 1]):
            row[hidden[h]] = HIDDEN
        values = row
        if not single:
            best_of_units(row, classes, best)
            values = best
        filled = best_k(values, order, tolerance[b], places, top_values[b], top_units[b])
        for k in range(filled):
            top_columns[b, k] = best_column(row, classes, top_units[b, k], tolerance[b])
        for k in range(filled, top_values.shape[1]):
            top_units[b, k] = -1
            top_columns[b, k] = -1


@compiled
def best_column(row: np.ndarray, classes: np.ndarray, unit: int, tolerance: np.float32) -> int:
    """The column of the best image of a unit; the first of those within the tolerance of it."""
    found = -1
    for c in range(len(classes)):
        size, units, column, first = classes[c, 0], classes[c, 1], classes[c, 2], classes[c, 3]
        if first <= unit < first + units:
            best = HIDDEN
            for k in range(size):
                best = max(best, row[column + k * units + unit - first])
            for k in range(size - 1, -1, -1):
                at = column + k * units + unit - first
                if row[at] >= best - tolerance and row[at] > HIDDEN:
                    found = at
    return found
