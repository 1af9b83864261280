"""Duplicates in the commands: reported by init, listed by status, shown once in a search."""

import shutil

import pytest
from PIL import Image

from lookalike.catalog.read import catalog_from
from lookalike.store.workspace import Workspace


@pytest.fixture
def doubled(lookalike, photos, tmp_path):
    """The shop with one photo copied under another item, and one stored again within its item."""
    folder = tmp_path / "photos"
    shutil.copytree(photos, folder)
    for path in sorted(folder.rglob("2.png")):
        path.unlink()  # the shop's second photos are its first ones, shifted
    shutil.copy(folder / "bowl/000/1.png", folder / "rod/003/copy.png")
    Image.open(folder / "box/001/1.png").save(folder / "box/001/again.jpg", quality=80)
    return folder


def test_init_reports_and_status_lists_them(lookalike, doubled):
    made = lookalike("init", doubled)
    assert "lookalike status --duplicates" in made.out
    for printed in (made.out, lookalike("status").out):
        for count in ("2 photos", "1 exact, 1 near", "2 groups (1 across items)"):
            assert count in printed
    result = lookalike("status", "--duplicates").out
    across, within = result.split("Within one item")
    assert "rod/003/copy.png" in across
    assert "box/001/again.jpg" in within
    listed = lookalike("status", "--duplicates", "--json").json
    assert listed["duplicates"] == lookalike("status", "--json").json["duplicates"]
    assert [
        (group["across_items"], [(photo["image"], photo["kind"]) for photo in group["photos"]])
        for group in listed["groups"]
    ] == [
        (True, [("bowl/000/1.png", "first"), ("rod/003/copy.png", "exact")]),
        (False, [("box/001/1.png", "first"), ("box/001/again.jpg", "near")]),
    ]


def test_init_counts_them_for_programs(lookalike, doubled):
    counted = lookalike("init", doubled, "--json").json["duplicates"]
    assert counted == {
        "photos": 2, "exact": 1, "near": 1, "groups": 2, "across_items": 1, "across_splits": 0,
    }  # fmt: skip


def test_a_catalog_without_any_says_so(lookalike, doubled):
    shutil.rmtree(doubled / "rod")
    (doubled / "box/001/again.jpg").unlink()
    assert "duplicate" not in lookalike("init", doubled).out
    listed = lookalike("status", "--duplicates")
    assert listed.status == 0
    assert "No photo" in listed.out
    assert lookalike("status", "--duplicates", "--json").json["groups"] == []
    assert lookalike("status", "--json").json["duplicates"]["groups"] == 0


def test_a_search_shows_one_of_them_and_still_k_items(lookalike, doubled):
    assert lookalike("init", doubled).status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    found = lookalike("search", "bowl/001/1.png", "--encoder", "color", "-k", 16, "--json").json["results"]
    images = [result["image"] for result in found]
    assert len({"bowl/000/1.png", "rod/003/copy.png"} & set(images)) == 1
    assert len(images) == 16
    everything = lookalike("search", "bowl/001/1.png", "--encoder", "color", "-k", 17, "--json").json
    assert len(everything["results"]) >= 16


def test_the_workspace_keeps_groups_and_signatures(lookalike, doubled, tmp_path):
    assert lookalike("init", doubled).status == 0
    reading, opened = catalog_from(doubled), Workspace(tmp_path)
    assert opened.catalog.duplicate.tolist() == reading.catalog.duplicate.tolist()
    assert opened.signatures() == dict(reading.signatures)
    digest = opened.catalog.digest[0]
    opened.add_signatures({digest: b"another", "new": b"new"})
    assert opened.signatures() == {**reading.signatures, "new": b"new"}
