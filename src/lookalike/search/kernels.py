"""The inner loops of search: scores of a few candidates, and lists of distinct items. Compiled."""

import numpy as np

from lookalike.core.compiled import compiler, rising

compiled = compiler(fastmath={"reassoc", "contract"}, error_model="numpy")
exactly = compiler(error_model="numpy")


@compiled
def score_rows(
    vectors: np.ndarray,
    place: np.ndarray,
    facts: np.ndarray,
    queries: np.ndarray,
    rows: np.ndarray,
    q: int,
    start: int,
    stop: int,
    scores: np.ndarray,
) -> None:
    """scores[q, i] = cosine of query q, which has length 1, and image rows[q, i], start <= i < stop; -inf for row -1.

    The vector of a row is at its `place`; empty: at the row. Four images at a time: the processor waits for their
    vectors together.
    """
    totals = np.empty(4, np.float32)
    for i in range(start, stop, 4):
        a, b = max(rows[q, i], 0), max(rows[q, min(i + 1, stop - 1)], 0)
        c, d = max(rows[q, min(i + 2, stop - 1)], 0), max(rows[q, min(i + 3, stop - 1)], 0)
        if len(place):
            a, b, c, d = place[a], place[b], place[c], place[d]
        first, second, third, fourth = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
        for n in range(queries.shape[1]):
            x = queries[q, n]
            first += x * vectors[a, n]
            second += x * vectors[b, n]
            third += x * vectors[c, n]
            fourth += x * vectors[d, n]
        totals[0], totals[1], totals[2], totals[3] = first, second, third, fourth
        for n in range(min(4, stop - i)):
            row = rows[q, i + n]
            scores[q, i + n] = totals[n] / facts[row].length if row >= 0 else -np.inf


@compiled
def score_all(
    vectors: np.ndarray, place: np.ndarray, norm: np.ndarray, query: np.ndarray, scores: np.ndarray
) -> None:
    """scores[i] = cosine of a query, which has length 1, and vector place[i] of length norm[i].

    It reads the vectors as fast as memory delivers them; the matrix-vector product of OpenBLAS took twice as long.
    """
    for i in range(len(place)):
        vector = vectors[place[i]]
        total = np.float32(0)
        for d in range(len(query)):
            total += query[d] * vector[d]
        scores[i] = total / norm[i]


@compiled
def most_lost(vectors: np.ndarray) -> float:
    """The length of the longest vector x' - x, where x' is x rounded to bfloat16: to the nearest, ties to even."""
    bits = vectors.view(np.uint32)
    kept = np.empty(vectors.shape[1], np.uint32)
    rounded, most = kept.view(np.float32), np.float32(0)
    for i in range(len(vectors)):
        for d in range(len(kept)):
            x = bits[i, d]
            kept[d] = (x + np.uint32(0x7FFF) + ((x >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
        total = np.float32(0)
        for d in range(len(kept)):
            lost = rounded[d] - vectors[i, d]
            total += lost * lost
        most = max(most, total)
    return np.sqrt(most)


@exactly
def distinct_lists(
    rows: np.ndarray,
    scores: np.ndarray,
    error: np.float32,
    queries: np.ndarray,
    vectors: np.ndarray,
    place: np.ndarray,
    facts: np.ndarray,
    own: np.ndarray,
    allowed: np.ndarray,
    tolerance: np.float32,
    top_rows: np.ndarray,
    top_scores: np.ndarray,
    certain: np.ndarray,
) -> None:
    """The best distinct items among the images `rows` of each query, by the rules of the rank engine.

    An item counts by its best image; from the best downwards, items within the tolerance of the first that is left are
    equals, in the order of their first images; of an item, the first image within the tolerance of its best is shown;
    an image that duplicates one shown above is passed over. Not `allowed` rows (empty: all are) and the own item are
    left out. `certain[q]`: no image that scores below all of `rows[q]` can change the list, and none of them is -1.

    `scores` are best first and differ from the cosine by at most `error`. Images that could change the list are scored
    with the `queries` until none is left, so the list is that of all cosines. No queries: the scores are cosines.
    `facts` are those of `search.distinct.FACTS`, one record per image: one wait for memory instead of four.
    """
    width = rows.shape[1]
    order, shown, best = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.float32)
    size = 1
    while size < 2 * width:
        size *= 2
    table = np.empty(size, np.int64)
    for q in range(len(rows)):
        done = 0
        while True:
            count, least = _candidates(rows, scores, q, facts, own[q], allowed, order)
            found = _best_of_items(rows, scores, q, order, count, facts, tolerance, table, best, shown)
            down_to = _one_list(best, shown, found, facts, tolerance, q, top_rows, top_scores)
            until = done if len(queries) else width
            while until < width and not scores[q, until] + error < down_to - 3 * tolerance:
                until += 1
            if until == done or len(queries) == 0:
                break
            score_rows(vectors, place, facts, queries, rows, q, done, until, scores)
            done = until
        certain[q] = least < down_to - 3 * tolerance


@exactly
def _candidates(
    rows: np.ndarray,
    scores: np.ndarray,
    q: int,
    facts: np.ndarray,
    own: np.int64,
    allowed: np.ndarray,
    order: np.ndarray,
) -> tuple[int, np.float32]:
    """Put the places of the images that may be shown into `order`, best first: how many, and the least score of all.

    The least score is infinite where there are fewer images than requested. Each image is inserted from the end: scores
    are best first but for their errors.
    """
    count, least, missing = 0, np.float32(np.inf), False
    for i in range(rows.shape[1]):
        row, score = rows[q, i], scores[q, i]
        if row < 0:
            missing = True
            continue
        least = min(least, score)
        if facts[row].item != own and (len(allowed) == 0 or allowed[row]):
            at = count
            while at > 0 and scores[q, order[at - 1]] < score:
                order[at] = order[at - 1]
                at -= 1
            order[at] = i
            count += 1
    return count, np.float32(np.inf) if missing else least


@exactly
def _best_of_items(
    rows: np.ndarray,
    scores: np.ndarray,
    q: int,
    order: np.ndarray,
    count: int,
    facts: np.ndarray,
    tolerance: np.float32,
    table: np.ndarray,
    best: np.ndarray,
    shown: np.ndarray,
) -> int:
    """Per item among the candidates, best first: its best score and the row shown; returns how many items.

    `order` are the places of the candidates, best first. The first row within the tolerance of the best is shown.
    `table` is room for a hash table of items, a power of two; a dictionary took half of the time of a list.
    """
    table[:] = -1
    found = 0
    for n in range(count):
        row, score = rows[q, order[n]], scores[q, order[n]]
        item = facts[row].item
        at = item & (len(table) - 1)
        while table[at] >= 0 and facts[shown[table[at]]].item != item:
            at = (at + 1) & (len(table) - 1)
        known = table[at]
        if known < 0:
            table[at] = found
            best[found], shown[found] = score, row
            found += 1
        elif score >= best[known] - tolerance:
            shown[known] = min(shown[known], row)
    return found


@exactly
def _one_list(
    best: np.ndarray,
    shown: np.ndarray,
    found: int,
    facts: np.ndarray,
    tolerance: np.float32,
    q: int,
    top_rows: np.ndarray,
    top_scores: np.ndarray,
) -> np.float32:
    """The list of query q from its items, best first; returns the score down to which it depends on all images."""
    filled, start, head, width = 0, 0, np.float32(np.inf), top_rows.shape[1]
    while start < found and filled < width:
        stop = start + 1
        while stop < found and best[start] - best[stop] <= tolerance:
            stop += 1
        head = best[start]
        if stop > start + 1:
            _sort_by_first(best, shown, start, stop, facts)
        for u in range(start, stop):
            if filled < width and not _is_repeated(shown[u], q, filled, top_rows, facts):
                top_rows[q, filled], top_scores[q, filled] = shown[u], best[u]
                filled += 1
        start = stop
    if filled < width:
        head = np.float32(-np.inf)
    for n in range(filled, width):
        top_rows[q, n], top_scores[q, n] = -1, np.nan
    return head


@exactly
def _sort_by_first(best: np.ndarray, shown: np.ndarray, start: int, stop: int, facts: np.ndarray) -> None:
    """Put the items from start to stop in the order of their first images."""
    scores, images = best[start:stop].copy(), shown[start:stop].copy()
    first = np.empty(stop - start)
    for n in range(len(first)):
        first[n] = facts[images[n]].first
    by_first = rising(first)
    for n in range(len(first)):  # the assignment to a slice takes seconds to compile
        best[start + n], shown[start + n] = scores[by_first[n]], images[by_first[n]]


@exactly
def _is_repeated(row: np.int64, q: int, filled: int, top_rows: np.ndarray, facts: np.ndarray) -> bool:
    """Whether a row duplicates one of those above it."""
    again, group = False, facts[row].duplicate
    if group >= 0:
        for n in range(filled):
            again = again or facts[top_rows[q, n]].duplicate == group
    return again


@exactly
def rows_of_keys(
    keys: np.ndarray, scores: np.ndarray, places: np.ndarray, shift: int, rows: np.ndarray
) -> None:
    """rows[q, i] = the row of a key; -1 where there is none, then its score becomes NaN, or where the score is NaN.

    `places` has keys in ascending order with their rows. A key is at place key >> shift or at one of the next; a place
    without a key has -1. The first places of all keys are read before any is compared, so that the processor waits for
    many of them together; a binary search waited 20 times per key.
    """
    last, first = len(places) - 1, np.empty(keys.shape[1], np.int64)
    for q in range(len(keys)):
        for i in range(len(first)):
            first[i] = places[min(max(keys[q, i] >> shift, 0), last), 0]
        for i in range(len(first)):
            key, held = keys[q, i], first[i]
            at = min(max(key >> shift, 0), last)
            while at < last and 0 <= held < key:
                at += 1
                held = places[at, 0]
            rows[q, i] = places[at, 1] if held == key and not np.isnan(scores[q, i]) else -1
            if rows[q, i] < 0:
                scores[q, i] = np.nan
