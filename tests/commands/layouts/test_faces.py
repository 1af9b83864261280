"""The faces/objects split of Totally-Looks-Like: the rule, the Haar cascade, and the list it makes."""

import os
import sys
from pathlib import Path
from types import SimpleNamespace

import polars
import pytest
from PIL import Image
from skimage import data
from tiny_photos import photo

from lookalike.catalog.layouts.faces import face_pairs, haar_cascade
from lookalike.catalog.read import catalog_from
from lookalike.core.errors import CatalogError
from lookalike.store.workspace import Workspace
from lookalike.studio.items import studio

REAL = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[4] / "shared/data")) / "objects92"
PEOPLE = ("00002", "00005")  # pairs with a face on both sides
HALF = "00004"  # a face on the left side only


@pytest.fixture
def pairs(tmp_path):
    """12 pairs of furniture, but for two of people and one of a person and a thing."""
    shop = studio(200)
    face = Image.fromarray(data.astronaut()).crop((100, 0, 340, 240))
    for number in range(12):
        name = f"{number:05d}"
        for side in ("left", "right"):
            path = tmp_path / f"tll/{side}/{name}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            person = name in PEOPLE or (name == HALF and side == "left")
            drawn = shop.draw(2 * number + (side == "right"), 128)
            (face.resize((160 + number, 160)) if person else Image.fromarray(drawn)).save(path)
    return tmp_path / "tll"


def subsets(reading):
    catalog = reading.catalog
    return dict(zip(catalog.columns["pair"], catalog.columns["subset"], strict=True))


def test_a_pair_has_faces_if_both_photos_have_one():
    faces = {Path("left/1"), Path("right/1"), Path("left/2"), Path("right/3")}
    ends = [(Path(f"left/{n}"), Path(f"right/{n}")) for n in range(5)]
    done = []
    found = list(face_pairs(ends, faces.__contains__, lambda *step: done.append(step)))
    assert found == [False, True, False, False, False]
    assert done == [(n, 5) for n in range(1, 6)]


def test_the_split_is_made_where_the_list_is_absent_and_only_there(lookalike, pairs):
    pytest.importorskip("cv2", reason="needs opencv-python-headless")
    reading = catalog_from(f"tll-faces:{pairs}")
    assert subsets(reading) == dict.fromkeys(PEOPLE, "faces")
    (warning,) = (one for one in reading.warnings if "Haar" in one)
    assert "https://github.com/VieVie31/visual-similarity" in warning
    objects = catalog_from(f"tll-objects:{pairs}")
    assert set(subsets(objects)) == {f"{n:05d}" for n in range(12)} - set(PEOPLE)
    assert set(subsets(objects).values()) == {"objects"}
    assert len(objects.labels[0]["query"]) == 10
    assert "subset" not in catalog_from(f"tll:{pairs}").catalog.columns
    assert not list(pairs.glob("*.csv"))
    (pairs / "TLL_obj.csv").write_text(",TLL_obj\n0,00007.jpg\n1,00007.jpg\n")  # twice, as published
    assert set(subsets(catalog_from(f"tll-objects:{pairs}"))) == {"00007"}
    assert len(subsets(catalog_from(f"tll-faces:{pairs}"))) == 11
    (pairs / "TLL_obj.csv").write_text(",TLL_obj\n0,01234.jpg\n")
    with pytest.raises(CatalogError, match="is one of objects"):
        catalog_from(f"tll-objects:{pairs}")


def test_the_list_is_written_on_request_and_read_again(lookalike, pairs):
    pytest.importorskip("cv2", reason="needs opencv-python-headless")
    assert lookalike("init", "tll-objects:tll").status == 0
    said = lookalike("catalog", "export", "tll-objects:tll/TLL_obj.csv")
    assert said.status == 0, said.err
    names = [f"{n:05d}.jpg" for n in range(12) if f"{n:05d}" not in PEOPLE]
    rows = "".join(f"{at},{name}\n" for at, name in enumerate(names))
    assert (pairs / "TLL_obj.csv").read_text() == f",TLL_obj\n{rows}"
    again = lookalike("catalog", "export", "tll-objects:tll/TLL_obj.csv")
    assert (again.status, "exists already" in again.err) == (1, True)
    before = Workspace(pairs.parent).catalog
    done = lookalike("catalog", "refresh", "--json").json  # from the list now
    assert (done["kept"], done["added"], done["gone"], done["updated"]) == (20, [], [], 0)
    assert Workspace(pairs.parent).catalog.fingerprint == before.fingerprint


def test_a_catalog_without_the_split_has_no_list(lookalike, pairs):
    assert lookalike("init", "tll:tll").status == 0
    said = lookalike("catalog", "export", "tll-objects:list.csv")
    assert (said.status, Path("list.csv").exists()) == (1, False)
    assert "lookalike init tll-objects:FOLDER" in said.err


@pytest.mark.parametrize("library", [None, SimpleNamespace()], ids=["no OpenCV", "OpenCV 5"])
def test_without_the_cascade_the_error_names_the_package_and_the_list(pairs, monkeypatch, library):
    monkeypatch.setitem(sys.modules, "cv2", library)
    with pytest.raises(CatalogError, match="opencv-python-headless, version 4") as absent:
        catalog_from(f"tll-objects:{pairs}")
    for part in (r"'.[faces]'", "TLL_obj.csv", "https://github.com/VieVie31/visual-similarity"):
        assert part in absent.value.fix
    assert len(catalog_from(f"tll:{pairs}").catalog) == 24


def test_a_photo_that_cannot_be_read_shows_no_face(tmp_path):
    pytest.importorskip("cv2", reason="needs opencv-python-headless")
    photo(tmp_path / "noise.png", 64, 64)
    (tmp_path / "broken.jpg").write_bytes(b"no photo")
    has_face = haar_cascade()
    assert not has_face(tmp_path / "broken.jpg")
    assert not has_face(tmp_path / "noise.png")


@pytest.mark.real
@pytest.mark.skipif(not REAL.is_dir(), reason="needs the data pack beside the project")
def test_real_faces_are_found_and_things_are_not():
    pytest.importorskip("cv2", reason="needs opencv-python-headless")
    table = polars.read_csv(REAL / "catalog.csv", schema_overrides={"image": polars.String})
    people = table["human"].cast(bool) & table["face"].cast(bool)
    has_face = haar_cascade()
    found = polars.Series([has_face(REAL / "images" / name) for name in table["image"]])
    assert found.filter(people).all()
    assert found.filter(table["face"] == 0).mean() <= 0.05
