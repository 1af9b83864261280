"""The inner loops of search: scores of a few candidates, and lists of distinct items. Compiled."""

import numpy as np

from lookalike.core.compiled import compiler

compiled = compiler(fastmath={"reassoc", "contract"}, error_model="numpy")
exactly = compiler(error_model="numpy")


@compiled
def score_rows(
    vectors: np.ndarray,
    place: np.ndarray,
    norm: np.ndarray,
    queries: np.ndarray,
    rows: np.ndarray,
    scores: np.ndarray,
) -> None:
    """scores[q, i] = cosine of query q, which has length 1, and the vector of image rows[q, i]; -inf for row -1.

    The vector of a row is at its `place`; empty: at the row. Four images at a time: the processor waits for their
    vectors together.
    """
    width = rows.shape[1]
    totals = np.empty(4, np.float32)
    for q in range(len(queries)):
        query = queries[q]
        for i in range(0, width, 4):
            a, b = max(rows[q, i], 0), max(rows[q, min(i + 1, width - 1)], 0)
            c, d = max(rows[q, min(i + 2, width - 1)], 0), max(rows[q, min(i + 3, width - 1)], 0)
            if len(place):
                a, b, c, d = place[a], place[b], place[c], place[d]
            one, two, three, four = vectors[a], vectors[b], vectors[c], vectors[d]
            first, second, third, fourth = np.float32(0), np.float32(0), np.float32(0), np.float32(0)
            for n in range(len(query)):
                first += query[n] * one[n]
                second += query[n] * two[n]
                third += query[n] * three[n]
                fourth += query[n] * four[n]
            totals[0], totals[1], totals[2], totals[3] = first, second, third, fourth
            for n in range(min(4, width - i)):
                row = rows[q, i + n]
                scores[q, i + n] = totals[n] / norm[row] if row >= 0 else -np.inf


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


@exactly
def _best_of_items(
    rows: np.ndarray,
    scores: np.ndarray,
    order: np.ndarray,
    item: np.ndarray,
    tolerance: np.float32,
    table: np.ndarray,
    items: np.ndarray,
    best: np.ndarray,
    shown: np.ndarray,
) -> int:
    """Per item among the candidates, best first: its code, its best score and the row shown; returns how many.

    `order` are the places of the candidates, best first. The first row within the tolerance of the best is shown.
    `table` is room for a hash table of items, a power of two; a dictionary took half of the time of a list.
    """
    table[:] = -1
    found = 0
    for i in order:
        row, one = rows[i], item[rows[i]]
        at = one & (len(table) - 1)
        while table[at] >= 0 and items[table[at]] != one:
            at = (at + 1) & (len(table) - 1)
        known = table[at]
        if known < 0:
            table[at] = found
            items[found], best[found], shown[found] = one, scores[i], row
            found += 1
        elif scores[i] >= best[known] - tolerance:
            shown[known] = min(shown[known], row)
    return found


@exactly
def _is_repeated(row: np.int64, above: np.ndarray, duplicate: np.ndarray) -> bool:
    """Whether a row duplicates one of those above it."""
    again = False
    if duplicate[row] >= 0:
        for one in above:
            again = again or duplicate[one] == duplicate[row]
    return again


@exactly
def _one_list(
    items: np.ndarray,
    best: np.ndarray,
    shown: np.ndarray,
    first: np.ndarray,
    duplicate: np.ndarray,
    tolerance: np.float32,
    top_rows: np.ndarray,
    top_scores: np.ndarray,
) -> np.float32:
    """The list of one query from its items, best first; returns the score down to which it depends on all images."""
    filled, start, head = 0, 0, np.float32(np.inf)
    alone = np.zeros(1, np.int64)
    while start < len(items) and filled < len(top_rows):
        stop = start + 1
        while stop < len(items) and best[start] - best[stop] <= tolerance:
            stop += 1
        head = best[start]
        among = np.argsort(first[items[start:stop]], kind="mergesort") if stop > start + 1 else alone
        for u in start + among:
            if filled < len(top_rows) and not _is_repeated(shown[u], top_rows[:filled], duplicate):
                top_rows[filled], top_scores[filled] = shown[u], best[u]
                filled += 1
        start = stop
    if filled < len(top_rows):
        head = np.float32(-np.inf)
    top_rows[filled:], top_scores[filled:] = -1, np.nan
    return head


@exactly
def distinct_lists(
    rows: np.ndarray,
    scores: np.ndarray,
    error: np.float32,
    queries: np.ndarray,
    vectors: np.ndarray,
    place: np.ndarray,
    norm: np.ndarray,
    own: np.ndarray,
    item: np.ndarray,
    first: np.ndarray,
    duplicate: np.ndarray,
    allowed: np.ndarray,
    tolerance: np.float32,
    top_rows: np.ndarray,
    top_scores: np.ndarray,
    certain: np.ndarray,
) -> None:
    """The best distinct items among the images `rows` of each query, by the rules of the rank engine.

    An item counts by its best image; from the best downwards, items within the tolerance of the first that is left are
    equals, in the order of `first`; of an item, the first image within the tolerance of its best is shown; an image
    that duplicates one shown above is passed over. Not `allowed` rows (empty: all are) and the own item are left out.
    `certain[q]`: no image that scores below all of `rows[q]` can change the list.

    `scores` are best first and differ from the cosine by at most `error`. Images that could change the list are scored
    with the `queries` until none is left, so the list is that of all cosines. No queries: the scores are cosines.
    """
    width = rows.shape[1]
    items, shown, best = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.float32)
    size = 1
    while size < 2 * width:
        size *= 2
    table = np.empty(size, np.int64)
    for q in range(len(rows)):
        done = 0
        while True:
            order, least = _candidates(rows[q], scores[q], own[q], item, allowed)
            found = _best_of_items(rows[q], scores[q], order, item, tolerance, table, items, best, shown)
            down_to = _one_list(
                items[:found],
                best[:found],
                shown[:found],
                first,
                duplicate,
                tolerance,
                top_rows[q],
                top_scores[q],
            )
            until = done if len(queries) else width
            while until < width and not scores[q, until] + error < down_to - 3 * tolerance:
                until += 1
            if until == done or len(queries) == 0:
                break
            some = slice(done, until)
            score_rows(
                vectors, place, norm, queries[q : q + 1], rows[q : q + 1, some], scores[q : q + 1, some]
            )
            done = until
        certain[q] = least < down_to - 3 * tolerance


@exactly
def _candidates(
    rows: np.ndarray, scores: np.ndarray, own: np.int64, item: np.ndarray, allowed: np.ndarray
) -> tuple[np.ndarray, np.float32]:
    """The places of the images that may be shown, best first, and the least score of all images."""
    order = np.argsort(-scores, kind="mergesort")
    count, least = 0, np.float32(np.inf)
    for i in order:
        row = rows[i]
        if row < 0:
            continue
        least = min(least, scores[i])
        if item[row] != own and (len(allowed) == 0 or allowed[row]):
            order[count] = i
            count += 1
    return order[:count], least


@exactly
def rows_of_keys(keys: np.ndarray, held: np.ndarray, first: np.ndarray, shift: int, rows: np.ndarray) -> None:
    """rows[i] = the row of key i; -1 where there is none. `held` are keys in ascending order with their rows.

    Those with the same bits above `shift` begin at first[bits]. A binary search waited for memory 20 times per key;
    the beginnings are looked up before the keys, so that the processor waits for many of them together.
    """
    begins = np.empty(len(keys), np.int64)
    for i in range(len(keys)):
        begins[i] = first[min(max(keys[i] >> shift, 0), len(first) - 1)]
    for i in range(len(keys)):
        at = begins[i]
        while at < len(held) and held[at, 0] < keys[i]:
            at += 1
        rows[i] = held[at, 1] if at < len(held) and held[at, 0] == keys[i] else -1
