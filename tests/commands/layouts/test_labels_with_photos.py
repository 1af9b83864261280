"""Labels that come with photos after `init`: `catalog add` and `catalog refresh` import those of pairs without any."""

import json

from tiny_photos import photo

from lookalike.store.workspace import Workspace


def labels(folder):
    found = Workspace(folder).labels()
    return dict(zip(zip(found.query, found.candidate, strict=True), found.label.tolist(), strict=True))


def furniture(folder, photos, tags):
    for number in range(photos):
        photo(folder / f"furniture/{number}.jpg", seed=number)
    entries = [{"key": [f"{a}.jpg", f"{b}.jpg"], "value": y} for a, b, y in tags]
    (folder / "tags.json").write_text(json.dumps(entries))


def test_refresh_imports_labels_of_new_pairs_and_keeps_those_that_are_there(lookalike, tmp_path):
    tags = [(0, 1, 1), (0, 2, 0), (0, 5, 1)]
    furniture(tmp_path / "data", 4, tags)  # the photo 5.jpg is yet to come
    said = lookalike("init", "furniture:data", "--json").json
    assert said["labels"] == 2
    (tmp_path / "expert.csv").write_text("query,candidate,label\n0.jpg,1.jpg,0\n")
    assert lookalike("labels", "import", "expert.csv", "--replace").status == 0

    furniture(tmp_path / "data", 6, [*tags, (3, 4, 1)])
    done = lookalike("catalog", "refresh")
    assert done.status == 0, done.err
    assert labels(tmp_path) == {
        ("0.jpg", "1.jpg"): 0,  # the expert's
        ("0.jpg", "2.jpg"): 0,
        ("0.jpg", "5.jpg"): 1,
        ("3.jpg", "4.jpg"): 1,
    }
    assert "Imported 2 labels of tags.json." in done.out
    assert "1 pair of tags.json kept a label that differs." in done.out
    command = f"lookalike labels import {tmp_path / 'data/tags.json'} --replace --skip-invalid"
    assert command in done.out
    assert lookalike(*command.split()[1:]).status == 0
    assert labels(tmp_path)[("0.jpg", "1.jpg")] == 1
    again = lookalike("catalog", "refresh", "--json").json
    assert (again["notes"], again["warnings"]) == ([], [])


def test_add_imports_the_labels_of_the_source_that_is_added(lookalike, tmp_path):
    furniture(tmp_path / "data", 3, [(0, 1, 1)])
    for number in range(4):
        for side in ("left", "right"):
            photo(tmp_path / f"tll/{side}/{number:05d}.jpg", seed=100 + 2 * number + (side == "left"))
    assert lookalike("init", "furniture:data").status == 0
    done = lookalike("catalog", "add", "tll:tll", "--json").json
    assert len(done["added"]) == 8
    assert done["notes"] == ["Imported 4 labels of tll."]
    assert labels(tmp_path)[("left/00003.jpg", "right/00003.jpg")] == 1
    assert len(labels(tmp_path)) == 5


def test_labels_that_cannot_be_used_are_reported(lookalike, tmp_path):
    furniture(tmp_path / "data", 3, [(0, 1, 1)])
    assert lookalike("init", "furniture:data").status == 0
    furniture(tmp_path / "data", 3, [(0, 1, 1), (1, 1, 1), (2, 9, 0)])
    done = lookalike("catalog", "refresh", "--json").json
    assert done["notes"] == []
    assert any("an image and itself" in one for one in done["warnings"])
    assert any("no such image" in one and "'9.jpg'" in one for one in done["warnings"])
    assert len(labels(tmp_path)) == 1
