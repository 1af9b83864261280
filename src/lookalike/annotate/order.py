"""The order in which pairs are labelled: balanced over queries, or given by an audit."""

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b

ROUND = 1 << 32


def balanced(queries: Sequence[str], pairs: Sequence[tuple[str, str]], seed: int) -> list[int]:
    """A place for each pair: first one pair of every query, then a second one of each, in a seeded random order.

    Whenever the labelling stops, the numbers of labels of two queries differ by one at most. The place of a pair
    depends on the seed, the pair, and the number of pairs of its query that come before it in the random order.

    >>> places = balanced(["a", "a", "b"], [("a", "x"), ("a", "y"), ("b", "z")], seed=0)
    >>> sorted(place // ROUND for place in places)
    [0, 0, 1]
    """
    scattered = [_scatter(pair, seed) for pair in pairs]
    turn: Counter[str] = Counter()
    places = [0] * len(pairs)
    for at in sorted(range(len(pairs)), key=scattered.__getitem__):
        places[at] = turn[queries[at]] * ROUND + scattered[at]
        turn[queries[at]] += 1
    return places


def first(count: int, before: int) -> Iterable[int]:
    """Places for pairs to label first, in the order given: all of them below `before`.

    >>> list(first(3, before=0))
    [-3, -2, -1]
    """
    return range(min(before, 0) - count, min(before, 0))


def _scatter(pair: tuple[str, str], seed: int) -> int:
    digest = blake2b(digest_size=4, key=str(seed).encode()[:64])
    for part in pair:
        digest.update(part.encode("utf-8", "surrogatepass"))
        digest.update(b"\xff")  # does not occur in UTF-8, so ("ab", "c") is not ("a", "bc")
    return int.from_bytes(digest.digest(), "big")
