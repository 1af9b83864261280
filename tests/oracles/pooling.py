"""The pool and its figures (EDS 3.3, 6.2), from top lists. Nothing here comes from src."""

from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction

from oracles.ranking import Photo

Lists = Mapping[str, Mapping[int, Sequence[int]]]  # generator -> query row -> catalog rows, best first
Pair = tuple[str, str]  # query image, candidate item


def surfaced(photos: Sequence[Photo], lists: Lists, generator: str) -> dict[Pair, tuple[int, str]]:
    """S_k^m (EDS Eq. 1): pairs of one generator, each with its rank and the photo it was found by."""
    pairs = {}
    for query, rows in lists[generator].items():
        for rank, row in enumerate(rows):
            pairs[photos[query].image, photos[row].item] = (rank, photos[row].image)
    return pairs


def pool(photos: Sequence[Photo], lists: Lists) -> dict[Pair, dict[str, int]]:
    """S_k: the union, each pair with the rank each generator gave it."""
    union: dict[Pair, dict[str, int]] = {}
    for generator in lists:
        for pair, (rank, _) in surfaced(photos, lists, generator).items():
            union.setdefault(pair, {})[generator] = rank
    return union


def photo_shown(photos: Sequence[Photo], lists: Lists, pair: Pair) -> str:
    """The photo most generators ranked best; then the better rank; then the earlier photo."""
    times: Counter[str] = Counter()
    best: dict[str, int] = {}
    for generator in lists:
        found = surfaced(photos, lists, generator)
        if pair in found:
            rank, image = found[pair]
            times[image] += 1
            best[image] = min(rank, best.get(image, rank))
    order = {photo.image: row for row, photo in enumerate(photos)}
    return min(times, key=lambda image: (-times[image], best[image], order[image]))


def overlap(photos: Sequence[Photo], lists: Lists, one: str, other: str, top: int) -> Fraction:
    """|S_m and S_m'| / (|Q| k), in % (EDS Table 2)."""
    both = surfaced(photos, lists, one).keys() & surfaced(photos, lists, other).keys()
    return Fraction(100 * len(both), len(lists[one]) * top)


def questions(photos: Sequence[Photo], lists: Lists) -> int:
    """How many questions experts get: (a, b) and (b, a) are one."""
    shown = {pair: photo_shown(photos, lists, pair) for pair in pool(photos, lists)}
    return len({frozenset((query, photo)) for (query, _), photo in shown.items()})


def only_from(photos: Sequence[Photo], lists: Lists, generator: str) -> int:
    """Pairs that no other generator proposed."""
    return sum(list(source) == [generator] for source in pool(photos, lists).values())
