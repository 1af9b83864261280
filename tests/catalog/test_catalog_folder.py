import os

import pytest
from sample_photos import photo

from lookalike.catalog.readers.folder import read_folder
from lookalike.core.errors import ArgumentError, CatalogError

STRANGE = [
    "with space.jpg", "it's.jpg", 'a "quote".jpg', "new\nline.jpg", "[brackets].jpg", "café 椅子.jpg",
    "100%?#&.jpg", "semi;colon, comma.jpg", "back\\slash.jpg", " leading.jpg", "UPPER.JPG", "a.b.c.jpeg",
]  # fmt: skip


def folder_of(tmp_path, *names):
    for i, name in enumerate(names):
        photo(tmp_path / name, 8, 8, seed=i, format="JPEG")
    return tmp_path


def test_flat(tmp_path):
    rows = read_folder(folder_of(tmp_path, "b.jpg", "a.png", "C.jpg"))
    assert rows.image.tolist() == rows.item.tolist() == rows.path.tolist() == ["C.jpg", "a.png", "b.jpg"]
    assert set(rows.category) == {""}
    assert set(rows.split) == {""}
    assert set(rows.role) == {"both"}
    assert rows.position.tolist() == [0, 1, 2]
    (note,) = rows.notes
    assert "3 items, 3 photos" in note
    assert rows.root == tmp_path


def test_category_and_item_folders(tmp_path):
    rows = read_folder(
        folder_of(tmp_path, "sofa/007/1.jpg", "sofa/007/2.jpg", "sofa/8.jpg", "9.jpg", "bed/x/y/1.jpg")
    )
    assert rows.image.tolist() == ["9.jpg", "bed/x/y/1.jpg", "sofa/007/1.jpg", "sofa/007/2.jpg", "sofa/8.jpg"]
    assert rows.category.tolist() == ["", "bed", "sofa", "sofa", "sofa"]
    assert rows.item.tolist() == ["9.jpg", "bed/x/y", "sofa/007", "sofa/007", "sofa/8.jpg"]
    for part in ("category/item/photo (3), photo (1), category/photo (1)", "2 categories, 4 items, 5 photos"):
        assert part in rows.notes[0], part


def test_split_folders(tmp_path):
    rows = read_folder(folder_of(tmp_path, "Train/a/1.jpg", "val/a/1.jpg", "valid/1.jpg", "test/a/i/1.jpg"))
    by_image = dict(zip(rows.image, zip(rows.split, rows.category, rows.item, strict=True), strict=True))
    assert by_image == {
        "Train/a/1.jpg": ("train", "a", "Train/a/1.jpg"),
        "val/a/1.jpg": ("validation", "a", "val/a/1.jpg"),
        "valid/1.jpg": ("validation", "", "valid/1.jpg"),
        "test/a/i/1.jpg": ("test", "a", "test/a/i"),
    }


def test_a_split_folder_beside_another_is_a_category(tmp_path):
    rows = read_folder(folder_of(tmp_path, "train/1.jpg", "sofa/1.jpg"))
    assert set(rows.category) == {"train", "sofa"}
    assert set(rows.split) == {""}


def test_a_given_layout_overrides_the_guess(tmp_path):
    folder_of(tmp_path, "train/lamp/x/7/1.jpg", "test/lamp/y/7/1.jpg", "test/lamp/y/7/2.jpg")
    rows = read_folder(tmp_path, layout="split/category/-/item/photo")
    assert rows.item.tolist() == ["test/lamp/7", "test/lamp/7", "train/lamp/7"]
    assert rows.split.tolist() == ["test", "test", "train"]
    for part in ("split/category/-/item/photo", "1 category, 2 items, 3 photos"):
        assert part in rows.notes[0], part
    assert read_folder(tmp_path, layout="-/-/-/item/photo").item.tolist() == ["7"] * 3
    assert set(read_folder(tmp_path, layout="-/-/category/-/photo").category) == {"x", "y"}


def test_a_layout_that_does_not_fit(tmp_path):
    folder_of(tmp_path, "a/1.jpg", "a/b/2.jpg", "3.jpg")
    with pytest.raises(CatalogError, match=r"2 of .*'3\.jpg' and 'a/b/2\.jpg'") as caught:
        read_folder(tmp_path, layout="category/photo")
    assert "1 folder above" in caught.value.fix
    folder_of(tmp_path / "x", "train/1.jpg", "dress/1.jpg")
    with pytest.raises(CatalogError, match=r"no split in 'dress/1\.jpg'"):
        read_folder(tmp_path / "x", layout="split/photo")


@pytest.mark.parametrize(
    "layout", ["", "category", "photo/category", "category/category/photo", "type/photo"]
)
def test_a_layout_that_is_none(tmp_path, layout):
    with pytest.raises(ArgumentError, match=f"layout is '{layout}'"):
        read_folder(folder_of(tmp_path, "a.jpg"), layout=layout)


def test_strange_names(tmp_path):
    rows = read_folder(folder_of(tmp_path, *(f"cat [1] 'x'/{name}" for name in STRANGE)))
    assert sorted(rows.image) == sorted(f"cat [1] 'x'/{name}" for name in STRANGE)
    assert rows.image.tolist() == sorted(rows.image)
    assert set(rows.category) == {"cat [1] 'x'"}


def test_a_name_that_is_not_utf8_is_left_out(tmp_path):
    data = photo(tmp_path / "z.jpg").read_bytes()
    os.mkdir(os.fsencode(tmp_path) + b"/caf\xe9")
    for name in (b"/a\xff.jpg", b"/caf\xe9/b.jpg"):
        with open(os.fsencode(tmp_path) + name, "wb") as file:
            file.write(data)
    rows = read_folder(tmp_path)
    assert rows.image.tolist() == ["z.jpg"]
    assert rows.position.tolist() == [2]
    assert [(one.image, one.position) for one in rows.left_out] == [("a\\xff.jpg", 0), ("caf\\xe9/b.jpg", 1)]
    assert rows.left_out[0].reason.startswith("name not UTF-8: ")


def test_hidden_and_other_files(tmp_path):
    folder_of(tmp_path, "a.jpg", ".hidden.jpg", ".cache/b.jpg", "x/._c.jpg")
    for name in ("list.csv", "x/list.csv", "a.psd", "b.PSD", "Makefile"):
        (tmp_path / name).write_text("x")
    rows = read_folder(tmp_path)
    assert rows.image.tolist() == ["a.jpg"]
    ignored, table = rows.notes[1:]
    assert all(part in ignored for part in ("2 .psd", "2 .csv", "1 no ending"))
    assert "'list.csv'" in table


def test_links(tmp_path):
    root, elsewhere = (
        folder_of(tmp_path / "root", "a/1.jpg"),
        folder_of(tmp_path / "elsewhere", "2.jpg", "deep/3.jpg"),
    )
    os.symlink(root, root / "a" / "loop")
    os.symlink(root / "a", root / "again")
    os.symlink(tmp_path, root / "up")
    os.symlink(elsewhere, root / "link")
    os.symlink(elsewhere / "deep", root / "z-deep")
    os.symlink(root, elsewhere / "back")
    os.symlink("self", root / "self")
    os.symlink(root / "a" / "1.jpg", root / "photo.jpg")
    assert read_folder(root).image.tolist() == ["a/1.jpg", "link/2.jpg", "link/deep/3.jpg", "photo.jpg"]


def test_a_folder_named_like_a_photo(tmp_path):
    assert read_folder(folder_of(tmp_path, "a.jpg/b.jpg")).category.tolist() == ["a.jpg"]


def test_few_photos_in_each_folder_raise_a_doubt(tmp_path):
    rows = read_folder(folder_of(tmp_path, "a/1.jpg", "a/2.jpg", "b/1.jpg"))
    assert any(warning.endswith("--layout item/photo") for warning in rows.warnings)
    assert read_folder(tmp_path, layout="item/photo").item.tolist() == ["a", "a", "b"]
    many = read_folder(folder_of(tmp_path / "x", *(f"{c}/{i}.jpg" for c in "ab" for i in range(9))))
    assert len(many.notes) == 1


def test_no_photos(tmp_path):
    with pytest.raises(CatalogError, match=r"no photos; .*no visible file"):
        read_folder(tmp_path)
    (tmp_path / "a.psd").write_text("x")
    with pytest.raises(CatalogError, match=r"it holds 1 \.psd") as caught:
        read_folder(tmp_path)
    assert ".jpg" in caught.value.fix
    with pytest.raises(CatalogError, match="does not exist"):
        read_folder(tmp_path / "none")
    with pytest.raises(CatalogError, match="not a folder"):
        read_folder(tmp_path / "a.psd")


def test_a_folder_without_permission_is_reported(tmp_path, monkeypatch):
    folder_of(tmp_path, "a.jpg", "b/c.jpg")
    scandir = os.scandir

    def guarded(path):
        if str(path).endswith("/b"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    note = read_folder(tmp_path).notes[-1]
    assert "1 folder" in note
    assert "'b'" in note
