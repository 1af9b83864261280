"""VSD-Fashion as published: metadata, seeds, manifests and tags as JSON beside DeepFashion's photos."""

import json

import pytest
from tiny_photos import photo

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.store.workspace import Workspace

SIZE = (40, 60)


def shop(number):
    return f"img/WOMEN/Dresses/id_{number:08d}/01_1_front.jpg"


def consumer(number):
    return f"img/DRESSES/Dress/id_{number:08d}/comsumer_01.jpg"


def write(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def entry(path, phase, **more):
    return {
        "id": path.split("/")[-2],
        "path": path,
        "phase": phase,
        "category": "Dresses",
        "color": "red",
        **more,
    }


def tag(seed, candidate, value):
    return {"key": [seed, candidate], "value": value}


def closed(folder, entries=None, tags=None, seeds=True):
    """A closed catalog of 8 items: 4 to train, 4 to test, each half with its own files, as published."""
    paths = [shop(number) for number in range(8)]
    for number, path in enumerate(paths):
        photo(folder / path, *SIZE, seed=number)
    phases = ["train"] * 4 + ["query", "gallery"] * 2
    task = folder / "in_fashion/closed_catalog"
    write(
        task / "metadata.json",
        {"images": entries or [entry(path, phase) for path, phase in zip(paths, phases, strict=True)]},
    )
    for split, own in (("train", paths[:4]), ("test", paths[4:])):
        write(task / f"{split}_manifest.json", {"images": [{"path": path} for path in own]})
        if seeds:
            write(task / f"{split}_seeds.json", {"seeds": own[:2]})
        given = tags or [tag(own[0], own[1], 1), tag(own[1], own[2], 0)]
        write(task / f"{split}_gt_tagging.json", given if split == "train" or not tags else [])
    return task


def test_a_closed_catalog_with_its_labels_in_one_step(lookalike, tmp_path):
    closed(tmp_path / "data")
    said = lookalike("init", "fashion:data/in_fashion/closed_catalog", "--images", "data", "--json").json
    assert (said["images"], said["items"], said["labels"]) == (8, 8, 4)
    assert any(note == "Imported 2 labels of test_gt_tagging.json." for note in said["notes"])
    catalog, labels = Workspace(tmp_path).catalog, Workspace(tmp_path).labels()
    assert catalog.item.tolist() == [f"id_{number:08d}" for number in range(8)]
    assert catalog.split.tolist() == ["train"] * 4 + ["test"] * 4
    assert catalog.role.tolist() == ["both", "both", "gallery", "gallery"] * 2
    assert catalog.columns["phase"].tolist() == ["train"] * 4 + ["query", "gallery"] * 2
    assert catalog.columns["color"].tolist() == ["red"] * 8
    assert labels.query.tolist() == [shop(4), shop(5), shop(0), shop(1)]
    assert labels.label.tolist() == [1, 0, 1, 0]


def test_the_whole_folder_the_metadata_file_and_a_refresh_give_the_same(lookalike, tmp_path):
    task = closed(tmp_path / "data")
    assert lookalike("init", "fashion:data", "--json").json["labels"] == 4
    assert lookalike("init", task / "metadata.json", "--images", "data", "--workspace", "two").status == 0
    first, second = Workspace(tmp_path).catalog, Workspace(tmp_path / "two").catalog
    assert first.fingerprint == second.fingerprint
    done = lookalike("catalog", "refresh", "--workspace", "two", "--json").json
    assert (done["kept"], done["added"], done["replaced"], done["gone"]) == (8, [], [], [])


def test_wild_queries_are_never_candidates(tmp_path):
    paths = [*(consumer(number) for number in range(3)), *(shop(number) for number in range(4))]
    for number, path in enumerate(paths):
        photo(tmp_path / path, *SIZE, seed=number)
    entries = [entry(path, "search" if "comsumer" in path else "gallery") for path in paths]
    write(tmp_path / "metadata.json", {"images": entries})
    write(tmp_path / "seeds.json", {"seeds": paths[:2]})
    write(tmp_path / "tags.json", [tag(paths[0], paths[4], 1), tag(paths[1], paths[5], 0)])
    catalog = catalog_from(f"fashion:{tmp_path}").catalog
    assert catalog.role.tolist() == ["query"] * 3 + ["gallery"] * 4
    assert set(catalog.split) == {"test"}


@pytest.mark.parametrize(
    ("box", "found", "said"),
    [
        ([5, 10, 40, 20], "5,10,25,50", ""),  # documented: x, y, height, width
        ([5, 10, 20, 40], "5,10,25,50", "Boxes are read as x, y, width, height"),
        ({"x1": "5", "y1": "10", "x2": "25", "y2": "50"}, "5,10,25,50", ""),  # what the published code reads
    ],
)
def test_boxes_in_every_published_order(tmp_path, box, found, said):
    other = {"x1": 25, "y1": 2, "x2": 35, "y2": 58} if isinstance(box, dict) else [25, 2, 56, 10]
    other = [25, 2, 10, 56] if said else other
    entries = [
        entry(shop(0), "train", bbox=box),
        entry(shop(1), "train", bbox=other),
        entry(shop(2), "train"),
    ]
    closed(tmp_path, entries)
    reading = catalog_from(f"fashion:{tmp_path}")
    assert reading.catalog.box.tolist() == [found, "25,2,35,58", ""]
    assert any(said in note for note in reading.notes)
    assert said or not any("Boxes are read" in note for note in reading.notes)


def test_boxes_that_fit_in_no_order_leave_their_images_out(tmp_path):
    entries = [entry(shop(0), "train", bbox=[50, 70, 10, 10]), entry(shop(1), "train", bbox=[1, 1, 9, 9])]
    closed(tmp_path, entries)
    catalog = catalog_from(f"fashion:{tmp_path}").catalog
    assert [one.image for one in catalog.left_out] == [shop(0)]


def test_without_seeds_the_queries_of_the_tags_are_the_seeds(tmp_path):
    closed(tmp_path, seeds=False)
    reading = catalog_from(f"fashion:{tmp_path}")
    assert reading.catalog.columns["seed"].tolist() == ["yes", "yes", "no", "no"] * 2
    assert any("no file of seeds" in note for note in reading.notes)


def test_without_seeds_and_tags_all_images_are_queries(tmp_path):
    for path in closed(tmp_path, seeds=False).glob("*tagging.json"):
        path.unlink()
    reading = catalog_from(f"fashion:{tmp_path}")
    assert set(reading.catalog.role) == {"both"}
    assert any("neither seeds nor tags" in one for one in reading.warnings)


@pytest.mark.parametrize("box", [[1, 2, 3], [1, 2, 3, 4, 5], {"x1": 1, "y1": 2, "x2": 3}, [1, 2, 3, "x"], 7])
def test_a_box_that_is_not_four_numbers_is_named_with_its_image(tmp_path, box):
    closed(tmp_path, [entry(shop(0), "train"), entry(shop(1), "train", bbox=box)])
    with pytest.raises(CatalogError, match=rf"The bbox of '{shop(1)}' is not four numbers"):
        catalog_from(f"fashion:{tmp_path}")


def test_absent_photos_and_unknown_seeds_and_tags_are_reported(lookalike, tmp_path):
    task = closed(
        tmp_path / "data",
        tags=[
            tag(shop(0), shop(1), 1),
            tag(shop(0), "img/no.jpg", 1),
            tag(shop(2), shop(3), 0),
            tag(shop(1), shop(1), 1),
        ],
    )
    (tmp_path / "data" / shop(2)).unlink()
    write(task / "test_seeds.json", {"seeds": [shop(4), "img/nobody.jpg"]})
    said = lookalike("init", "fashion:data", "--json").json
    assert [one["image"] for one in said["left_out"]] == [shop(2)]
    assert said["labels"] == 1
    warned = " ".join(said["warnings"])
    assert "does not have 1 seed: 'img/nobody.jpg'" in warned
    assert "the catalog has no such image" in warned
    assert "the pair is an image and itself" in warned
    assert "1 label of train_gt_tagging.json not imported: their photos are left out." in said["notes"]


def test_what_is_absent_is_named_with_source_licence_and_place(tmp_path, monkeypatch):
    closed(tmp_path / "data")
    for path in (tmp_path / "data").rglob("*.jpg"):
        path.unlink()
    with pytest.raises(CatalogError, match="The photos of VSD-Fashion are not under") as absent:
        catalog_from(f"fashion:{tmp_path / 'data'}")
    for part in ("huggingface.co/datasets/vsd-benchmark", "mmlab.ie.cuhk.edu.hk", "non-commercial", "img"):
        assert part in absent.value.fix
    photo(tmp_path / "other/a.jpg")
    with pytest.raises(CatalogError, match="none of its 0 JSON files is metadata"):
        catalog_from(f"fashion:{tmp_path / 'other'}")
    with pytest.raises(CatalogError, match="does not exist"):
        catalog_from(f"fashion:{tmp_path / 'nowhere'}")


def test_from_hugging_face_only_json_is_downloaded(tmp_path, monkeypatch):
    import huggingface_hub

    task = closed(tmp_path / "data")
    asked = []

    def given(name, **options):
        asked.append((name, options))
        return str(task.parent.parent)

    monkeypatch.setattr(huggingface_hub, "snapshot_download", given)
    reading = catalog_from(
        "fashion:vsd-benchmark/vsd-fashion/in_fashion/closed_catalog", images=tmp_path / "data"
    )
    assert len(reading.catalog) == 8
    ((name, options),) = asked
    assert (name, options["repo_type"], options["allow_patterns"]) == (
        "vsd-benchmark/vsd-fashion",
        "dataset",
        ["*.json"],
    )

    def refused(name, **options):
        raise OSError("no network")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", refused)
    with pytest.raises(CatalogError, match="the download from Hugging Face failed: no network"):
        catalog_from("fashion:vsd-benchmark/vsd-fashion")


def test_files_that_are_cut_short_or_hold_something_else(tmp_path):
    task = closed(tmp_path, tags=[{"key": 7, "value": 1}, {"key": [shop(0), shop(1)], "value": 1}])
    assert len(catalog_from(f"fashion:{tmp_path}").catalog) == 8
    twice = [entry(shop(0), "train"), entry(shop(0), "train")]
    write(task / "metadata.json", {"images": twice})
    with pytest.raises(CatalogError, match=r"has image id .* in row"):
        catalog_from(f"fashion:{tmp_path}")
    (task / "metadata.json").write_text('{"images": [')
    with pytest.raises(CatalogError, match="cannot be read as JSON"):
        catalog_from(f"fashion:{tmp_path}")


def test_several_tasks_are_named_by_their_metadata(tmp_path):
    task = closed(tmp_path)
    write(tmp_path / "in_fashion/wild/metadata.json", json.loads((task / "metadata.json").read_text()))
    with pytest.raises(
        CatalogError, match=r"several tasks: 'in_fashion/closed_catalog/metadata\.json'"
    ) as many:
        catalog_from(f"fashion:{tmp_path}")
    fix = many.value.fix.removeprefix("Give the metadata of one: ")
    assert len(catalog_from(fix, images=tmp_path).catalog) == 8


def test_tasks_in_one_folder_keep_their_own_seeds_and_tags(tmp_path):
    """The names of the files in the code of the paper; photos of shops are in both tasks."""
    shops, consumers = [shop(n) for n in range(4)], [consumer(n) for n in range(3)]
    for number, path in enumerate([*shops, *consumers]):
        photo(tmp_path / path, *SIZE, seed=number)
    inside = [entry(path, "gallery") for path in shops]
    write(tmp_path / "dataset_metadata_closed_catalog.json", {"images": inside})
    wild = [*inside, *(entry(path, "search") for path in consumers)]
    write(tmp_path / "dataset_metadata_wild.json", {"images": wild})
    write(tmp_path / "seeds/seeds_closed_catalog.json", {"seeds": shops[:2]})
    write(tmp_path / "seeds/seeds_wild.json", {"seeds": consumers[:2]})
    write(tmp_path / "gt_tagging/in_fashion_tags_dict.json", [tag(shops[0], shops[3], 1)])
    write(tmp_path / "gt_tagging/in_fashion_outshop_tags_dict.json", [tag(consumers[0], shops[3], 1)])
    reading = catalog_from(f"fashion:{tmp_path / 'dataset_metadata_wild.json'}")
    assert reading.catalog.role.tolist() == ["gallery"] * 4 + ["query"] * 3
    assert [path.name for path in reading.labels] == ["in_fashion_outshop_tags_dict.json"]
    assert any("'in_fashion_tags_dict.json'" in note for note in reading.notes)
    reading = catalog_from(f"fashion:{tmp_path / 'dataset_metadata_closed_catalog.json'}")
    assert reading.catalog.role.tolist() == ["both", "both", "gallery", "gallery"]
    assert [path.name for path in reading.labels] == ["in_fashion_tags_dict.json"]


def test_an_unknown_layout_names_the_near_one(tmp_path):
    with pytest.raises(ArgumentError, match="Unknown layout 'fashon'") as wrong:
        catalog_from(f"fashon:{tmp_path}")
    assert "fashion:" in wrong.value.fix
    with pytest.raises(ArgumentError, match="--column cannot be given"):
        catalog_from(f"fashion:{tmp_path}", columns={"image": "path"})
