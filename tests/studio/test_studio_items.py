import itertools
from collections import Counter

import numpy as np
import pytest

from lookalike.core.errors import ArgumentError
from lookalike.studio import studio
from lookalike.studio.attributes import (
    COLOURS,
    CONTRAST,
    KINDS,
    MADE_OF,
    PAINTED,
    SILHOUETTE,
    STRONG,
    colour_distance,
    obviously,
)
from lookalike.studio.families import Cell, families
from lookalike.studio.items import MOST_ITEMS
from lookalike.studio.seeded import RandomStream, hashed, key_of, uniform


@pytest.mark.parametrize("images", [199, 1_000_001, 0, -5])
def test_sizes_out_of_range_are_refused_with_a_way_out(images):
    with pytest.raises(ArgumentError, match="images is") as refused:
        studio(images)
    assert "between 200 and 1,000,000" in refused.value.fix


def test_less_than_one_photo_of_an_item_is_refused():
    with pytest.raises(ArgumentError, match="photos_per_item is 0"):
        studio(200, photos_per_item=0)


@pytest.mark.parametrize(
    ("images", "photos", "items"), [(200, 2, 100), (201, 2, 101), (500, 3, 167), (200, 900, 1)]
)
def test_there_are_as_many_items_as_the_images_need(images, photos, items):
    small = studio(images, photos_per_item=photos)
    assert (len(small), small.items) == (images, items)
    assert len(small.catalog()) == images


def test_the_catalog_reads_as_a_folder_would():
    small = studio(1_000, photos_per_item=3, seed=4)
    catalog = small.catalog(size=96)
    assert catalog.image.tolist() == sorted(catalog.image)
    assert catalog.image is catalog.path
    assert len(set(catalog.image)) == 1_000
    kind, item, photo = catalog.image[700].split("/")
    assert catalog.category[700] == kind
    assert catalog.item[700] == f"{kind}/{item}"
    assert item == f"{kind}-{700 // 3:06d}"
    assert photo == f"{700 % 3 + 1}.png"
    assert set(catalog.role) == {"both"}
    assert set(catalog.split) == {"train"}
    assert set(catalog.width) == set(catalog.height) == {96}
    assert set(catalog.category) == set(KINDS)


def test_many_photos_keep_their_order_as_text():
    names = [studio(200, photos_per_item=12).image_name(row) for row in range(12)]
    assert names == sorted(names)


def test_equal_arguments_give_equal_studios_and_another_seed_another():
    one, same, other = studio(400, seed=1), studio(400, seed=1), studio(400, seed=2)
    assert all(np.array_equal(a, b) for a, b in zip(one.of, same.of, strict=True))
    assert not np.array_equal(one.of.silhouette, other.of.silhouette)


@pytest.mark.parametrize("items", [1, 7, 8, 9, 100, 10_007])
def test_families_own_a_cell_each_and_take_all_items(items):
    generated = families(items, seed=5)
    assert generated.size.sum() == items
    cells = {(int(kind), *cell) for kind, cell in zip(generated.kind, generated.cell.tolist(), strict=True)}
    assert len(cells) == len(generated.size)
    assert generated.size.max() <= (16 if items > 30 else 25)
    for kind, cell in zip(generated.kind, generated.cell, strict=True):
        assert Cell(*cell).material in MADE_OF[KINDS[kind]]
        assert Cell(*cell).colour < len(COLOURS[Cell(*cell).material])


def test_families_of_a_trio_differ_from_its_first_in_one_respect_and_glaringly():
    generated = families(20_000, seed=0)
    assert np.array_equal(generated.kind[generated.trio], generated.kind)
    seen = Counter()
    for family in np.flatnonzero(generated.trio != np.arange(len(generated.size))):
        one, other = (
            Cell(*generated.cell[generated.trio[family]].tolist()),
            Cell(*generated.cell[family].tolist()),
        )
        differs = tuple(name for name in Cell._fields if getattr(one, name) != getattr(other, name))
        seen[("material",) if "material" in differs else differs] += 1  # its colour is the nearest one
        if "proportion" in differs:
            shown = [(each.proportion & 1) - (each.proportion >> 1 & 1) for each in (one, other)]
            assert (
                shown[0] != shown[1] or "silhouette" in differs
            )  # width over height: a photo shows no scale
            assert (one.proportion ^ other.proportion) & 0b100  # heft
        if "silhouette" in differs:
            assert one.silhouette ^ other.silhouette == STRONG[generated.kind[family]]
        if "material" in differs:
            assert obviously(one[2:4], other[2:4])
        if "ornament" in differs:
            assert other.ornament in CONTRAST[one.ornament]
    usual = (
        ("proportion",),
        ("silhouette", "proportion"),
        ("ornament",),
        ("material",),
        ("colour",),
    )
    assert sum(seen[differs] for differs in usual) > 0.98 * seen.total()
    assert min(seen[differs] for differs in usual) > 0.05 * seen.total()


@pytest.mark.parametrize("items", [2_000, 60_000])
def test_no_two_families_contain_similar_items(items):
    """Whatever two families of a kind share, they differ in a strong outline, a proportion, an ornament or a look."""
    generated = families(items, seed=3)
    for kind, strong in enumerate(STRONG):
        cells = [Cell(*cell) for cell in generated.cell[generated.kind == kind].tolist()]
        owned = {cell._replace(silhouette=cell.silhouette & strong) for cell in cells}
        assert len(owned) == len(cells)
        if items < 10_000:  # here ornaments of one colour count as one, and so do those of two
            assert len({cell._replace(ornament=cell.ornament in PAINTED) for cell in owned}) == len(cells)
        looks = {cell[2:4] for cell in cells}
        for one, other in itertools.combinations(looks, 2):
            apart = colour_distance(COLOURS[one[0]][one[1]], COLOURS[other[0]][other[1]])
            assert apart >= 0.20 or obviously(one, other)


def test_the_largest_studio_finds_room_for_its_families():
    generated = families(MOST_ITEMS, seed=0)
    assert (
        len(np.unique(np.column_stack([generated.kind, generated.cell]), axis=0))
        == len(generated.size)
        > 35_000
    )
    assert generated.size.max() <= 16


def test_more_items_than_there_is_room_for_are_refused_with_a_way_out():
    with pytest.raises(ArgumentError, match="1,000,000 items") as refused:
        studio(1_000_000, photos_per_item=1)
    assert "photos_per_item of 2 or more" in refused.value.fix


def test_colours_of_a_material_differ_clearly():
    for colours in COLOURS:
        apart = colour_distance(colours[:, None], colours[None])
        assert apart[~np.eye(len(colours), dtype=bool)].min() >= 0.22


def test_every_kind_names_its_four_silhouette_numbers():
    assert set(SILHOUETTE) == set(MADE_OF) == set(KINDS)
    assert {len(names) for names in SILHOUETTE.values()} == {4}


def test_numbers_are_within_0_and_1():
    of = studio(4_000, seed=9).of
    for column in (of.silhouette, of.proportion, of.texture, of.body, of.frame, of.carving):
        assert column.min() >= 0.0
        assert column.max() <= 1.0


def test_random_numbers_are_uniform_and_pinned():
    assert hashed(1, "a", np.array([2, 3])).tolist() == [key_of(1, "a", 2), key_of(1, "a", 3)]
    assert key_of(0) == 16294208416658607535  # splitmix64's first output for seed 0
    sampled = uniform(3, np.arange(100_000))
    assert np.abs(np.histogram(sampled, bins=10)[0] - 10_000).max() < 400
    stream = RandomStream(1, "x")
    assert len({stream.unit() for _ in range(1_000)}) == 1_000
    assert {RandomStream(seed, "x").below(3) for seed in range(30)} == {0, 1, 2}
