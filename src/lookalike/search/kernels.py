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

    Four images at a time: the processor waits for their vectors together.
    """
    width = rows.shape[1]
    for q in range(len(queries)):
        query = queries[q]
        for i in range(0, width, 4):
            a, b = rows[q, i], rows[q, min(i + 1, width - 1)]
            c, d = rows[q, min(i + 2, width - 1)], rows[q, min(i + 3, width - 1)]
            one, two = vectors[place[max(a, 0)]], vectors[place[max(b, 0)]]
            three, four = vectors[place[max(c, 0)]], vectors[place[max(d, 0)]]
            totals = np.zeros(4, np.float32)
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
    items: np.ndarray,
    best: np.ndarray,
    shown: np.ndarray,
) -> int:
    """Per item among the candidates, best first: its code, its best score and the row shown; returns how many.

    `order` are the places of the candidates, best first. The first row within the tolerance of the best is shown.
    """
    place = dict()
    place[np.int64(-1)] = 0
    found = 0
    for i in order:
        row, one = rows[i], np.int64(item[rows[i]])
        if one not in place:
            place[one] = found
            items[found], best[found], shown[found] = one, scores[i], row
            found += 1
        elif scores[i] >= best[place[one]] - tolerance:
            shown[place[one]] = min(shown[place[one]], row)
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
    while start < len(items) and filled < len(top_rows):
        stop = start + 1
        while stop < len(items) and best[start] - best[stop] <= tolerance:
            stop += 1
        head = best[start]
        for u in start + np.argsort(first[items[start:stop]], kind="mergesort"):
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
    """
    width = rows.shape[1]
    items, shown, best = np.empty(width, np.int64), np.empty(width, np.int64), np.empty(width, np.float32)
    for q in range(len(rows)):
        order = np.argsort(-scores[q], kind="mergesort")
        count = 0
        least = np.float32(np.inf)
        for i in order:
            row = rows[q, i]
            if row < 0:
                continue
            least = min(least, scores[q, i])
            if item[row] != own[q] and (len(allowed) == 0 or allowed[row]):
                order[count] = i
                count += 1
        found = _best_of_items(rows[q], scores[q], order[:count], item, tolerance, items, best, shown)
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
        certain[q] = least < down_to - 3 * tolerance
