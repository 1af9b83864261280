"""Splits: 75:25 train:test, then 80:20 train:validation of the former (VSD 7.1), whole items at a time."""

from collections import Counter

import numpy as np

from lookalike.core.checks import codes
from lookalike.core.types import SPLITS

OTHER_NAMES = {"val": "validation", "valid": "validation"}


def split_name(word: str) -> str | None:
    """The split that a word of a table or a folder's name stands for, None if it is none.

    >>> split_name(" Val "), split_name("train"), split_name("dress")
    ('validation', 'train', None)
    """
    plain = word.strip().casefold()
    plain = OTHER_NAMES.get(plain, plain)
    return plain if plain in SPLITS else None


def assign_splits(item: np.ndarray, *, seed: int, given: np.ndarray | None = None) -> np.ndarray:
    """The split of every row: those of `given` kept, blank ones drawn so that no drawn item crosses splits.

    Items without a given split are sorted by name, shuffled with `seed` and laid end to end, each as long
    as it has images. An item whose middle lies in the first 25 % is `test`, in the next 15 % `validation`,
    else `train`: 60:15:25 by images, off by at most half of the largest item at either border. The draw
    depends on the names and their counts alone, not on the order of the rows. It is not stratified.

    - A blank row of an item with a given split takes it; of several, the most frequent (train first).
    - One item alone is `train`; of two of equal size one is `test`.
    - To keep more together than an item (duplicates, say), pass the group's name instead of the item's.

    >>> split = assign_splits(np.array([f"item {i}" for i in range(200)], dtype=object), seed=0).tolist()
    >>> split.count("train"), split.count("validation"), split.count("test")
    (120, 30, 50)
    >>> given = np.array(["", "test", ""], dtype=object)
    >>> assign_splits(np.array(["a", "a", "b"]), seed=0, given=given).tolist()
    ['test', 'test', 'train']
    """
    distinct, code = codes(item)
    wanted = np.full(len(item), "", dtype=object) if given is None else given
    place = _given_by_item(code, len(distinct), wanted)
    free = sorted(np.flatnonzero(place < 0), key=distinct.__getitem__)
    if free:
        shuffled = np.random.default_rng(seed).permutation(np.asarray(free))
        place[shuffled] = _cut(np.bincount(code, minlength=len(distinct))[shuffled])
    drawn = np.array(SPLITS, dtype=object)[place[code]]
    return np.where(wanted == "", drawn, wanted)


def assign_together(item: np.ndarray, kept: np.ndarray, *, seed: int, given: np.ndarray) -> np.ndarray:
    """The split of every row, where some items are to be kept in one split: those of one name in `kept`.

    Splits are drawn by item (see `assign_splits`). Then the items that share a name in `kept` with others are
    drawn anew among themselves, by that name; given splits stay. Every other row keeps its split, so that a
    duplicate found moves no photo but those it belongs to.

    >>> item = np.array(["a", "b", "c", "d"], dtype=object)
    >>> kept = np.array(["a", "b", "c", "a"], dtype=object)
    >>> split = assign_together(item, kept, seed=0, given=np.array([""] * 4, dtype=object))
    >>> split[0] == split[3], split[1:3].tolist() == assign_splits(item, seed=0)[1:3].tolist()
    (True, True)
    """
    drawn = assign_splits(item, seed=seed, given=given)
    items = Counter(name for _, name in set(zip(item, kept, strict=True)))
    merged = np.array([items[name] > 1 for name in kept], dtype=bool)
    if not merged.any():
        return drawn
    return assign_splits(kept, seed=seed, given=np.where(merged, given, drawn))


def crossing_items(item: np.ndarray, split: np.ndarray) -> int:
    """How many items have images in more than one split.

    >>> item = np.array(["a", "a", "a", "b"])
    >>> crossing_items(item, np.array(["train", "validation", "test", "test"]))
    1
    """
    splits = Counter(name for name, _ in set(zip(item, split, strict=True)))
    return sum(count > 1 for count in splits.values())


def _given_by_item(code: np.ndarray, items: int, given: np.ndarray) -> np.ndarray:
    """The place in SPLITS of each item's most frequent given split, -1 where none is given."""
    votes = np.stack([np.bincount(code[given == name], minlength=items) for name in SPLITS], axis=1)
    return np.where(votes.sum(axis=1) > 0, votes.argmax(axis=1), -1)


def _cut(sizes: np.ndarray) -> np.ndarray:
    """Places in SPLITS for items laid end to end. In integers: twice the middle, twice the border."""
    total = int(sizes.sum())
    twice_middle = 2 * np.cumsum(sizes) - sizes
    place = np.full(len(sizes), SPLITS.index("train"))
    place[5 * twice_middle <= 4 * total] = SPLITS.index("validation")
    place[2 * twice_middle <= total] = SPLITS.index("test")
    return place
