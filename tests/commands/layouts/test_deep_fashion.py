"""DeepFashion's list files as published: counts, names of columns, aligned fields."""

import pytest
from tiny_photos import photo

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import CatalogError
from lookalike.store.workspace import Workspace

IN_SHOP = [
    (
        "img/WOMEN/Dresses/id_00000002/02_1_front.jpg",
        "id_00000002",
        "train",
        "3        1      050 049 208 236",
    ),
    (
        "img/WOMEN/Dresses/id_00000002/02_2_side.jpg",
        "id_00000002",
        "train",
        "3        2      119 048 136 234",
    ),
    ("img/MEN/Denim/id_00000080/01_1_front.jpg", "id_00000080", "query", "2        1      066 066 182 232"),
    (
        "img/MEN/Denim/id_00000080/01_7_additional.jpg",
        "id_00000080",
        "gallery",
        "2        6      050 050 200 255",
    ),
]
DRESS, BLOUSE = "img/DRESSES/Dress/id_00000001", "img/TOPS/Blouse/id_0000000"
CONSUMER = [
    (f"{DRESS}/comsumer_01.jpg", f"{DRESS}/shop_01.jpg", "id_00000001", "train"),
    (f"{DRESS}/comsumer_02.jpg", f"{DRESS}/shop_01.jpg", "id_00000001", "train"),
    (f"{BLOUSE}2/comsumer_01.jpg", f"{BLOUSE}2/shop_01.jpg", "id_00000002", "val"),
    (f"{BLOUSE}3/comsumer_01.jpg", f"{BLOUSE}3/shop_01.jpg", "id_00000003", "test"),
]


def listed(path, names, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{len(rows)}\n{names}\n" + "\n".join(rows) + "\n")


def in_shop(folder, photos="Img"):
    listed(
        folder / "Eval/list_eval_partition.txt",
        "image_name item_id evaluation_status",
        [f"{path:<70} {item} {status}" for path, item, status, _ in IN_SHOP],
    )
    listed(
        folder / "Anno/list_bbox_inshop.txt",
        "image_name clothes_type pose_type x_1 y_1 x_2 y_2",
        [f"{path:<70} {box}" for path, _, _, box in IN_SHOP],
    )
    for number, (path, *_) in enumerate(IN_SHOP):
        photo(folder / photos / path, 256, 256, seed=number)
    return folder


def consumer(folder):
    listed(
        folder / "Eval/list_eval_partition.txt",
        "image_pair_name_1 image_pair_name_2 item_id evaluation_status",
        [f"{one:<50} {other:<50} {item} {status}" for one, other, item, status in CONSUMER],
    )
    photos = list(dict.fromkeys(path for row in CONSUMER for path in row[:2]))
    rows = [f"{path:<50} 3 {1 if 'shop' in path else 2} 010 020 110 180" for path in photos]
    listed(
        folder / "Anno/list_bbox_consumer2shop.txt",
        "image_name clothes_type source_type x_1 y_1 x_2 y_2",
        rows,
    )
    for number, path in enumerate(photos):
        photo(folder / "Img" / path, 150, 200, seed=number)
    return folder


@pytest.mark.parametrize("photos", ["Img", "."])
def test_in_shop(tmp_path, photos):
    catalog = catalog_from(f"inshop:{in_shop(tmp_path, photos)}").catalog
    assert catalog.image.tolist() == [row[0] for row in IN_SHOP]
    assert catalog.item.tolist() == ["id_00000002"] * 2 + ["id_00000080"] * 2
    assert catalog.category.tolist() == ["WOMEN/Dresses"] * 2 + ["MEN/Denim"] * 2
    assert catalog.role.tolist() == ["both", "both", "query", "gallery"]
    assert catalog.split.tolist() == ["train", "train", "test", "test"]
    assert catalog.box.tolist() == ["50,49,208,236", "119,48,136,234", "66,66,182,232", "50,50,200,255"]


def test_consumer_to_shop(tmp_path):
    catalog = catalog_from(f"consumer2shop:{consumer(tmp_path)}").catalog
    role = dict(zip(catalog.image, catalog.role, strict=True))
    assert all(found == ("gallery" if "shop_" in path else "query") for path, found in role.items())
    assert len(role) == 7
    assert dict(zip(catalog.item, catalog.split, strict=True)) == {
        "id_00000001": "train", "id_00000002": "validation", "id_00000003": "test",
    }  # fmt: skip
    assert set(catalog.box) == {"10,20,110,180"}


def test_through_the_command_and_its_refresh(lookalike, tmp_path):
    in_shop(tmp_path / "data")
    said = lookalike("init", "inshop:data")
    assert said.status == 0, said.err
    assert "Read as DeepFashion In-shop: 2 categories, 2 items, 4 photos." in said.out
    assert lookalike("catalog", "refresh", "--json").json["kept"] == 4
    assert sum(map(bool, Workspace(tmp_path).catalog.box)) == 4


def _changed(path, old, new):
    path.write_text(path.read_text().replace(old, new))


def test_lists_that_do_not_fit(tmp_path):
    in_shop(tmp_path)
    with pytest.raises(CatalogError, match="does not have 4 fields"):
        catalog_from(f"consumer2shop:{tmp_path}")
    path = tmp_path / "Eval/list_eval_partition.txt"
    path.write_text(path.read_text().replace(" query", " validation"))
    with pytest.raises(CatalogError, match="evaluation status 'validation'"):
        catalog_from(f"inshop:{tmp_path}")
    path.write_text(path.read_text().replace(" validation", " query").replace("4\n", "9\n", 1))
    assert any("announces 9 rows and has 4" in one for one in catalog_from(f"inshop:{tmp_path}").warnings)


def test_boxes_of_width_and_height_are_refused(tmp_path):
    in_shop(tmp_path)
    path = tmp_path / "Anno/list_bbox_inshop.txt"
    for box, turned in (("050 049 208 236", "050 049 158 187"), ("119 048 136 234", "119 048 017 186")):
        path.write_text(path.read_text().replace(box, turned))
    path.write_text(path.read_text().replace("182 232", "116 166").replace("200 255", "150 205"))
    with pytest.raises(CatalogError, match="do not fit their photos as x0, y0, x1, y1"):
        catalog_from(f"inshop:{tmp_path}")


def test_what_is_absent_is_named_with_source_licence_and_place(tmp_path):
    for source in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(CatalogError, match=r"has no list_eval_partition\.txt|does not exist") as absent:
            catalog_from(f"inshop:{source}")
        for part in ("mmlab.ie.cuhk.edu.hk", "non-commercial", str(source), "Anno/list_bbox_inshop.txt"):
            assert part in absent.value.fix


def test_boxes_outside_their_photos_and_images_listed_twice_are_named(tmp_path):
    in_shop(tmp_path)
    boxes, partition = tmp_path / "Anno/list_bbox_inshop.txt", tmp_path / "Eval/list_eval_partition.txt"
    _changed(boxes, "050 049 208 236", "300 300 400 400")
    (left_out,) = catalog_from(f"inshop:{tmp_path}").catalog.left_out
    assert (left_out.image, left_out.reason.split(":")[0]) == (IN_SHOP[0][0], "box outside the photo")
    _changed(boxes, "300 300 400 400", "300 300 400 x400")
    with pytest.raises(CatalogError, match="line 3 does not have 7 fields, the last four numbers"):
        catalog_from(f"inshop:{tmp_path}")
    _changed(boxes, "x400", "400")
    partition.write_text(partition.read_text() + partition.read_text().splitlines()[2] + "\n")
    with pytest.raises(CatalogError, match=rf"'{tmp_path}' has image id '{IN_SHOP[0][0]}' in rows 0 and 4"):
        catalog_from(f"inshop:{tmp_path}")
    partition.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CatalogError, match="is not a list file"):
        catalog_from(f"inshop:{tmp_path}")
    with pytest.raises(CatalogError, match=r"list_eval_partition\.txt' is a file") as wrong:
        catalog_from(f"inshop:{partition}")
    assert wrong.value.fix.startswith("Give the folder")


def test_pairs_of_a_photo_with_itself_and_photos_of_two_items_are_reported(tmp_path):
    consumer(tmp_path)
    partition = tmp_path / "Eval/list_eval_partition.txt"
    other = f"{BLOUSE}2/comsumer_01.jpg {DRESS}/shop_01.jpg id_00000002 val"
    own = f"{DRESS}/comsumer_01.jpg {DRESS}/comsumer_01.jpg id_00000001 train"
    text = partition.read_text()
    partition.write_text(f"6{text[1:]}{other}\n{own}\n")
    reading = catalog_from(f"consumer2shop:{tmp_path}")
    row = reading.catalog.row
    assert len(row) == 7
    assert reading.catalog.item[row[f"{DRESS}/shop_01.jpg"]] == "id_00000001"
    assert reading.catalog.role[row[f"{DRESS}/comsumer_01.jpg"]] == "query"
    assert f"Pairs of a photo with itself are left out: '{DRESS}/comsumer_01.jpg'." in reading.warnings
    assert any(one.endswith(f"keep the first: '{DRESS}/shop_01.jpg'.") for one in reading.warnings)
