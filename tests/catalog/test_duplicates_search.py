"""Groups of duplicates against a search through all pairs, whatever the order of rows, and where many are alike."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.catalog.duplicates import neighbours
from lookalike.catalog.duplicates.groups import DuplicateGroups, distances, find_duplicates
from lookalike.catalog.duplicates.neighbours import NONE, cells_of, merged, near_pairs, nearest, rows_in
from lookalike.catalog.duplicates.signature import BYTES, LIGHT
from lookalike.core.checks import strings


def looks(count: int, seed: int = 0) -> np.ndarray:
    """Signatures of photos that have nothing to do with each other."""
    random = np.random.default_rng(seed)
    light = random.integers(0, 256, (count, 4, 4)).repeat(4, axis=1).repeat(4, axis=2)
    colour = random.integers(100, 156, (count, 2, 2, 2)).repeat(4, axis=2).repeat(4, axis=3)
    return np.concatenate([light.reshape(count, -1), colour.reshape(count, -1)], axis=1).astype(np.uint8)


def touched(signatures: np.ndarray, seed: int, most: int = 4) -> np.ndarray:
    """The same photos stored again: every byte a little off."""
    random = np.random.default_rng(seed)
    return (
        (signatures.astype(int) + random.integers(-most, most + 1, signatures.shape))
        .clip(1, 255)
        .astype(np.uint8)
    )


def names(count: int) -> np.ndarray:
    return strings(f"digest {i}" for i in range(count))


def partition(found: DuplicateGroups) -> set[frozenset[int]]:
    groups: dict[int, set[int]] = {}
    for row, group in enumerate(found.group.tolist()):
        if group >= 0:
            groups.setdefault(group, set()).add(row)
    return {frozenset(group) for group in groups.values()}


def by_all_pairs(digest: np.ndarray, signatures: np.ndarray) -> set[frozenset[int]]:
    """Stars from the definition: all pairs compared, centres by number of duplicates, then by signature."""
    looks = sorted({signatures[row].tobytes() for row in range(len(digest)) if digest[row]})
    table = np.array([list(look) for look in looks], np.uint8)
    pairs = [(a, b) for a in range(len(looks)) for b in range(len(looks)) if a != b]
    ends = np.array(pairs, np.int64).reshape(-1, 2)
    close = distances(table, ends[:, 0], ends[:, 1]) <= 1
    near: dict[int, list[int]] = {a: [] for a in range(len(looks))}
    for (a, b), is_close in zip(pairs, close, strict=True):
        if is_close:
            near[a].append(b)
    centre: dict[int, int] = {}
    for a in sorted(near, key=lambda a: (-len(near[a]), a)):
        if a not in centre:
            centre[a] = a
            for b in near[a]:
                centre.setdefault(b, a)
    groups: dict[int, set[int]] = {}
    for row in range(len(digest)):
        if digest[row]:
            groups.setdefault(centre[looks.index(signatures[row].tobytes())], set()).add(row)
    return {frozenset(group) for group in groups.values() if len(group) > 1}


def a_small_world(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Photos, copies of them touched more or less, exact copies, and rows without a photo."""
    random = np.random.default_rng(seed)
    first = looks(12, seed)
    made = [first]
    for most in (2, 8, 16, 30):
        made.append(touched(first[random.integers(0, 12, 6)], seed + most, most))
    signatures = np.concatenate(made)
    again = random.integers(0, len(signatures), 8)
    digest = np.concatenate([names(len(signatures)), names(len(signatures))[again], strings([""] * 2)])
    return digest, np.concatenate([signatures, signatures[again], np.zeros((2, BYTES), np.uint8)])


@given(st.integers(0, 10_000))
def test_the_groups_are_those_of_all_pairs(seed: int):
    digest, signatures = a_small_world(seed)
    assert partition(find_duplicates(digest, signatures)) == by_all_pairs(digest, signatures)


@given(st.integers(0, 10_000))
def test_the_order_of_rows_does_not_matter(seed: int):
    digest, signatures = a_small_world(seed)
    order = np.random.default_rng(seed).permutation(len(digest))
    one, other = find_duplicates(digest, signatures), find_duplicates(digest[order], signatures[order])
    assert partition(one) == {frozenset(order[list(group)].tolist()) for group in partition(other)}
    for found in (one, other):
        firsts = [row for row in range(len(digest)) if found.group[row] not in (-1, *found.group[:row])]
        assert found.group[firsts].tolist() == list(range(found.groups))


@given(st.integers(0, 10_000))
def test_every_pair_has_its_kind_and_distance(seed: int):
    digest, signatures = a_small_world(seed)
    found = find_duplicates(digest, signatures)
    assert len(found.of) == (found.group >= 0).sum() - found.groups
    assert len(set(found.copy.tolist())) == len(found.copy)
    assert (found.group[found.of] == found.group[found.copy]).all()
    assert (found.exact == (digest[found.of] == digest[found.copy])).all()
    assert (found.distance[found.exact] == 0).all()
    assert ((found.distance >= 0) & (found.distance <= 1)).all()


def test_a_photo_stored_again_is_found_and_another_is_not():
    first = looks(50)
    light = np.arange(BYTES) < LIGHT
    brighter = np.where(light, first * 1.05, first).clip(0, 255).astype(np.uint8)
    found = find_duplicates(names(150), np.concatenate([first, touched(first, 1), brighter]))
    assert partition(found) == {frozenset({row, row + 50, row + 100}) for row in range(50)}
    much = np.where(light, first * 0.8, first).astype(np.uint8)  # as a grey garment and a black one differ
    assert find_duplicates(names(100), np.concatenate([first, much])).groups == 0


def test_a_chain_joins_only_what_is_like_one_photo():
    """Photos between two others: each is like the next, and the ends are nothing like each other."""
    ends = looks(2, 7).astype(float)
    chain = (
        np.array([ends[0] + (ends[1] - ends[0]) * step / 40 for step in range(41)]).round().astype(np.uint8)
    )
    close = distances(chain, np.arange(40), np.arange(1, 41)) <= 1
    assert close.all()
    found = find_duplicates(names(41), chain)
    assert found.groups > 3
    near = ~found.exact
    assert (distances(chain, found.of[near], found.copy[near]) <= 1).all()


@pytest.mark.slow
def test_thousands_of_blank_photos_are_one_group_and_take_no_other_with_them():
    random = np.random.default_rng(0)
    blank = np.where(np.arange(BYTES) < LIGHT, 250, 128) + (random.random((3_000, BYTES)) < 0.03)
    others = looks(300)
    signatures = np.concatenate([others[:150], blank.astype(np.uint8), others[150:]])
    found = find_duplicates(names(len(signatures)), signatures)
    assert partition(found) == {frozenset(range(150, 3_150))}


def test_photos_of_a_hub_that_reaches_further_are_near_their_centre():
    """A dense cloud wider than the limit: several groups, in each of which all are like the centre."""
    cloud = np.concatenate([touched(np.repeat(looks(1, 5), 400, axis=0), most, most) for most in (6, 9)])
    found = find_duplicates(names(800), cloud)
    assert found.groups > 1
    assert (found.distance <= 1).all()
    centres = np.unique(found.of)
    assert len(centres) == found.groups


def test_what_is_not_known_is_no_duplicate_of_what_is_not_known():
    nothing = np.zeros((4, BYTES), np.uint8)
    found = find_duplicates(strings(["", "", "a", "b"]), nothing)
    assert found.group.tolist() == [-1] * 4
    assert find_duplicates(strings([]), nothing[:0]).groups == 0
    assert find_duplicates(strings(["a", "b", "a"]), nothing[:3]).group.tolist() == [0, -1, 0]


@pytest.mark.parametrize(("count", "cell"), [(1, 512), (40, 512), (1_500, 512), (1_500, 16)])
def test_near_pairs_are_those_of_all_pairs(monkeypatch, count: int, cell: int):
    """With cells of sixteen points too, where the points lie in clumps as photos do."""
    random = np.random.default_rng(count)
    middle = random.standard_normal((max(1, count // 10), 15))
    points = middle[random.integers(0, len(middle), count)] + 0.01 * random.standard_normal((count, 15))
    if cell < 512:
        monkeypatch.setattr(neighbours, "ONE_CELL", 100)
        monkeypatch.setattr(neighbours, "IN_A_CELL", cell)
    far = np.linalg.norm(points[:, None] - points[None], axis=2)
    expected = {(a, b) for a, b in np.argwhere(far <= 0.1).tolist() if a < b}
    assert {tuple(pair) for pair in near_pairs(points, 0.1, 1_000).tolist()} == expected


def test_of_many_near_ones_the_nearest_are_kept():
    points = np.arange(100, dtype=float)[:, None] ** 1.01
    pairs = near_pairs(points, 1_000, 2)
    for row in range(2, 98):
        assert {row - 1, row + 1} <= set(pairs[(pairs == row).any(axis=1)].ravel().tolist())
    assert len(pairs) < 2 * 100


@given(st.integers(0, 10_000))
def test_of_neighbours_equally_near_the_first_rows_are_kept(seed: int):
    points = np.random.default_rng(seed).integers(0, 3, (60, 3))
    square = ((points[:, None] - points[None]) ** 2).sum(axis=2)
    found = nearest(points, cells_of(points, 1.5), 1.5, 5)
    for row in range(60):
        near = sorted(
            (square[row, other], other) for other in range(60) if other != row and square[row, other] <= 2
        )
        assert rows_in(found[row][found[row] != NONE]).tolist() == [other for _, other in near[:5]]


@given(st.integers(0, 10_000))
def test_the_nearest_are_the_same_in_whatever_order_cells_are_searched(seed: int):
    """Also where large cells are cut, and where neighbours are equally near."""
    random = np.random.default_rng(seed)
    points = random.integers(0, 4, (300, 3))
    points[: random.integers(300)] = 0
    with pytest.MonkeyPatch.context() as patch:
        for limit, value in {"ONE_CELL": 50, "IN_A_CELL": 10, "MOST_IN_A_CELL": 40}.items():
            patch.setattr(neighbours, limit, value)
        cells = cells_of(points, 1.5)
    assert sorted(row for cell in cells for row in cell.inside.tolist()) == list(range(300))
    whole = nearest(points, cells, 1.5, 5)
    order = random.permutation(len(cells))
    parts = [nearest(points, [cells[at] for at in part], 1.5, 5) for part in np.array_split(order, 3)]
    assert np.array_equal(merged(merged(parts[2], parts[0]), parts[1]), whole)
