"""Duplicates in a catalog: one split, a note, signatures for later, and nothing else moved."""

import numpy as np
import pytest
from PIL import Image
from sample_photos import photo

from lookalike.catalog.duplicates.count import count_duplicates
from lookalike.catalog.duplicates.groups import kept_together
from lookalike.catalog.read import catalog_from
from lookalike.catalog.split import assign_splits, assign_together
from lookalike.core.checks import strings
from lookalike.core.types import Catalog


def shop(folder, items=40):
    """Photos that differ, one per item."""
    for i in range(items):
        path = photo(folder / f"{i:02d}.png", 40, 30, seed=i)
        coarse = Image.open(path).resize((6, 5)).resize((80, 60), Image.Resampling.BICUBIC)
        coarse.save(path)
    return folder


def copied(folder, source: str, name: str):
    (folder / name).write_bytes((folder / source).read_bytes())


def test_a_catalog_without_duplicates_is_split_as_ever(tmp_path):
    reading = catalog_from(shop(tmp_path))
    catalog = reading.catalog
    assert (catalog.duplicate == -1).all()
    assert catalog.split.tolist() == assign_splits(catalog.item, seed=0).tolist()
    assert not [note for note in reading.notes if "duplicate" in note]
    assert set(reading.signatures) == set(catalog.digest)


def test_duplicates_share_a_split_and_move_no_other_photo(tmp_path):
    before = catalog_from(shop(tmp_path), seed=4).catalog
    apart = [np.flatnonzero(before.split == name)[0] for name in ("train", "validation", "test")]
    a, b, c = (before.image[row] for row in apart)
    copied(tmp_path, a, b)
    Image.open(tmp_path / a).convert("RGB").save(tmp_path / c, "JPEG", quality=70)  # whatever its ending says
    reading = catalog_from(tmp_path, seed=4)
    catalog = reading.catalog
    group = [int(catalog.duplicate[catalog.row[name]]) for name in (a, b, c)]
    assert group == [0, 0, 0]
    assert (catalog.duplicate >= 0).sum() == 3
    assert len({catalog.split[catalog.row[name]] for name in (a, b, c)}) == 1
    others = [name for name in catalog.image if name not in (a, b, c)]
    assert [catalog.split[catalog.row[name]] for name in others] == [
        before.split[before.row[name]] for name in others
    ]
    (note,) = [note for note in reading.notes if "duplicate" in note]
    assert all(part in note for part in ("2 photos", "1 exact, 1 near", "1 group", "1 across items"))
    assert len(reading.signatures) == 39


def test_items_that_share_a_duplicate_go_together_with_all_their_photos(tmp_path):
    shop(tmp_path)
    copied(tmp_path, "00.png", "20.png")
    copied(tmp_path, "21.png", "30.png")
    rows = [f"{i:02d}.png,item {i // 2}" for i in range(40)]
    (tmp_path / "list.csv").write_text("image,item\n" + "\n".join(rows))
    for seed in range(5):
        catalog = catalog_from(tmp_path / "list.csv", seed=seed).catalog
        # items 0 and 10 share a photo, so do 10 and 15
        rows = np.isin(catalog.item, ["item 0", "item 10", "item 15"])
        assert rows.sum() == 6
        assert len(set(catalog.split[rows])) == 1


def test_given_splits_stay_and_are_reported(tmp_path):
    shop(tmp_path, 4)
    copied(tmp_path, "00.png", "01.png")
    copied(tmp_path, "00.png", "02.png")
    table = "image,split\n00.png,train\n01.png,test\n02.png,\n03.png,test\n"
    (tmp_path / "list.csv").write_text(table)
    reading = catalog_from(tmp_path / "list.csv")
    assert reading.catalog.split.tolist() == ["train", "test", "train", "test"]
    assert any(note.startswith("Groups ") and note.endswith("as given: 1.") for note in reading.notes)


def test_bad_photos_and_photos_not_looked_at_have_no_duplicates(tmp_path):
    shop(tmp_path, 4)
    for name in ("00.png", "01.png"):
        (tmp_path / name).write_bytes(b"no photo")
    reading = catalog_from(tmp_path)
    assert reading.catalog.duplicate.tolist() == [-1, -1]
    assert len(reading.catalog.left_out) == 2
    unseen = catalog_from(tmp_path, check=False)
    assert unseen.catalog.duplicate.tolist() == [-1] * 4
    assert unseen.signatures == {}


@pytest.mark.parametrize("seed", range(4))
def test_together_keeps_names_together_and_all_other_splits(seed):
    random = np.random.default_rng(seed)
    item = strings(random.integers(0, 60, 200))
    rows, group = random.permutation(200)[:30], random.integers(-1, 10, 30)
    kept = kept_together(item, rows, group)
    given = strings(random.choice(["", "", "", "test"], 200))
    split = assign_together(item, kept, seed=seed, given=given)
    assert (split[given != ""] == given[given != ""]).all()
    linked = _components(item.tolist(), rows.tolist(), group.tolist())
    for name in set(item):
        assert set(kept[item == name]) == {min(linked[name])}
    free = np.array([given[kept == name].max() == "" for name in kept])
    for name in set(kept[free]):
        assert len(set(split[kept == name])) == 1
    alone = np.array([len(linked[name]) == 1 for name in item])
    assert (split[alone] == assign_splits(item, seed=seed, given=given)[alone]).all()


def _components(item: list[str], rows: list[int], group: list[int]) -> dict[str, set[str]]:
    """Items linked by duplicates, merged pair by pair."""
    linked = {name: {name} for name in item}
    for a, one in zip(rows, group, strict=True):
        for b, other in zip(rows, group, strict=True):
            if one == other >= 0:
                whole = linked[item[a]] | linked[item[b]]
                for name in whole:
                    linked[name] = whole
    return linked


def test_a_catalog_made_without_duplicates_has_none():
    text, number = strings(["a", "b"]), np.zeros(2, np.int64)
    catalog = Catalog(*[text] * 6, number, text, number, number)
    assert catalog.duplicate.tolist() == [-1, -1]
    assert count_duplicates(catalog).photos == 0
    empty = Catalog(*[text[:0]] * 6, number[:0], text[:0], number[:0], number[:0])
    assert empty.duplicate.tolist() == []
