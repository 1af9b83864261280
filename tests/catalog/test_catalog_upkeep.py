"""Merging what was read again: nothing moves that did not change."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.catalog.read import catalog_from
from lookalike.catalog.update import GONE, REMOVED, joined, marked, merged, rooted, without
from lookalike.core.checks import strings
from lookalike.core.errors import CatalogError, LookalikeError
from lookalike.core.types import Catalog

TEXTS = ("image", "path", "item", "category", "role", "split", "digest")


def made(photos: dict[str, str], **columns: list[str]) -> Catalog:
    """A catalog of images with these contents; the item is the part before the dash."""
    read = catalog_from(
        {"image": list(photos), "item": [name.split("-")[0] for name in photos], **columns}
    ).catalog
    return Catalog(**{**vars_of(read), "digest": strings(photos.values())})


def vars_of(catalog: Catalog) -> dict[str, object]:
    names = (*TEXTS, "position", "width", "height", "columns", "left_out")
    return {name: getattr(catalog, name) for name in names}


def test_new_images_come_last_in_the_split_of_their_item():
    old = made({"a-1": "x", "b-1": "y"})
    new, change = merged(old, made({"c-1": "z", "a-2": "w", "a-1": "x"}), seed=0, whole=False)
    assert new.image.tolist() == ["a-1", "b-1", "c-1", "a-2"]
    assert new.position.tolist() == [0, 1, 2, 3]
    assert new.split[3] == old.split[0]
    assert (new.split[:2] == old.split).all()
    assert (change.added, change.replaced, change.gone, change.kept) == (("c-1", "a-2"), (), (), 2)


def test_new_values_of_the_source_are_taken_over():
    old = made({"a-1": "x", "b-1": "y"}, category=["one", "one"], colour=["red", "blue"])
    read = made({"b-1": "new photo", "a-1": "x"}, category=["two", "one"], price=["5", "6"])
    new, change = merged(old, read, seed=0, whole=True)
    assert new.category.tolist() == ["one", "two"]
    assert new.digest.tolist() == ["x", "new photo"]
    assert {name: values.tolist() for name, values in new.columns.items()} == {
        "colour": ["red", "blue"],
        "price": ["6", "5"],
    }
    assert change.replaced == ("b-1",)
    assert change.kept == 1


def test_images_that_the_whole_source_lacks_are_gone_with_a_reason():
    old = made({"a-1": "x", "b-1": "y", "c-1": "z"})
    new, change = merged(old, made({"a-1": "x", "c-1": "z"}), seed=0, whole=True)
    assert new.image.tolist() == ["a-1", "c-1"]
    assert [(one.image, one.position, one.reason) for one in new.left_out] == [("b-1", 1, GONE)]
    assert change.gone == ("b-1",)


def test_an_image_that_comes_back_has_its_old_position():
    old = made({"a-1": "x", "b-1": "y", "c-1": "z"})
    gone, _ = merged(old, made({"a-1": "x", "c-1": "z"}), seed=0, whole=True)
    back, change = merged(gone, old, seed=0, whole=True)
    assert back.image.tolist() == ["a-1", "c-1", "b-1"]
    assert back.position.tolist() == [0, 2, 1]
    assert back.left_out == ()
    assert change.added == ("b-1",)


def test_images_removed_by_hand_stay_so_until_they_are_added():
    old = made({"a-1": "x", "b-1": "y"})
    less, change = without(old, ["a-1"])
    assert change.gone == ("a-1",)
    assert [one.reason for one in less.left_out] == [REMOVED]
    again, change = merged(less, old, seed=0, whole=True)
    assert again.image.tolist() == ["b-1"]
    assert not change
    back, _ = merged(less, old, seed=0, whole=False)
    assert back.image.tolist() == ["b-1", "a-1"]
    assert back.left_out == ()


def test_another_photo_under_a_taken_id_is_refused_unless_it_may_replace():
    old = made({"a-1": "x"})
    with pytest.raises(CatalogError, match="'a-1'"):
        merged(old, made({"a-1": "other"}), seed=0, whole=False, replacing=False)
    assert merged(old, made({"a-1": "x"}), seed=0, whole=False, replacing=False)[1].kept == 1


def test_removing_what_is_not_there_or_everything():
    old = made({"a-1": "x", "b-1": "y"})
    with pytest.raises(CatalogError, match="no image 'c-1'"):
        without(old, ["c-1"])
    with pytest.raises(CatalogError, match="every image"):
        without(old, ["a-1", "b-1"])


def test_of_two_sources_the_later_one_counts():
    both = joined([made({"a-1": "x", "b-1": "y"}), made({"b-1": "new", "c-1": "z"})])
    assert dict(zip(both.image, both.digest, strict=True)) == {"a-1": "x", "b-1": "new", "c-1": "z"}


def test_all_of_a_source_can_be_marked():
    read = marked(made({"a-1": "x"}), "query", {"domain": "wild"})
    assert (read.role.tolist(), read.columns["domain"].tolist()) == (["query"], ["wild"])
    for role, values in (("asked", {}), ("", {"split": "test"}), ("", {"role": "query"})):
        with pytest.raises(LookalikeError):
            marked(read, role, values)


def test_paths_lead_from_the_home_folder(tmp_path):
    read = made({"a-1": "x"})
    photo, other = read.path[0], tmp_path / "other"
    assert rooted(read, tmp_path, tmp_path, other) is read
    assert rooted(read, tmp_path / "more", tmp_path, other).path.tolist() == [f"more/{photo}"]
    far = rooted(read, tmp_path / "more", tmp_path / "home", other)
    assert far.path.tolist() == [f"{tmp_path}/more/{photo}"]
    along = rooted(read, tmp_path / "more", tmp_path / "home", tmp_path)
    assert along.path.tolist() == [f"../more/{photo}"]


photos = st.dictionaries(
    st.sampled_from([f"{i}-{p}" for i in "abcd" for p in "12"]), st.sampled_from("xyz"), min_size=1
)


@given(photos, photos)
def test_after_a_whole_merge_the_catalog_is_what_was_read(before, now):
    old, read = made(before), made(now)
    new, change = merged(old, read, seed=0, whole=True)
    assert dict(zip(new.image, new.digest, strict=True)) == now
    assert set(change.added) == set(now) - set(before)
    assert set(change.gone) == set(before) - set(now)
    assert set(change.replaced) == {image for image in set(now) & set(before) if now[image] != before[image]}
    assert change.kept + len(change.replaced) + len(change.added) == len(new)
    positions = [*new.position.tolist(), *(one.position for one in new.left_out)]
    assert len(set(positions)) == len(positions)
    assert not np.isin(new.split, ["train", "validation", "test"], invert=True).any()
    again, nothing = merged(new, read, seed=0, whole=True)
    assert not nothing
    assert again.fingerprint == new.fingerprint
