"""The folder of the photos is renamed or moved: one command finds it, and nothing is computed again."""

import shlex
import shutil
from pathlib import Path

import pytest

from lookalike.core.errors import CatalogError
from lookalike.store.thumbnails import Thumbnails, listed
from lookalike.store.workspace import Workspace


@pytest.fixture
def shop(lookalike, photos, tmp_path) -> Path:
    """A workspace with vectors and labels over a copy of the photos."""
    shutil.copytree(photos, tmp_path / "photos")
    assert lookalike("init", "photos").status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    assert lookalike("discover", "--top", 2).status == 0
    pool = Workspace(tmp_path).pool()
    Path("labels.csv").write_text(f"query,candidate,label\n{pool.query[0]},{pool.candidate[0]},1\n")
    assert lookalike("labels", "import", "labels.csv").status == 0
    return tmp_path


def follows(lookalike, *arguments: object, images: int = 36) -> None:
    """The command finds all photos again, and the rest of the workspace stays as it is."""
    before = Workspace(Path())
    pool, labels = before.pool(), before.labels()
    done = lookalike(*arguments, "--json").json
    assert (done["images"], done["kept"]) == (images, images)
    assert done["added"] == done["replaced"] == done["gone"] == done["stale"] == []
    assert (done["pairs_gone"], done["labels_gone"]) == (0, 0)
    assert lookalike("status", "--json").json["photos_missing"] == 0
    after = Workspace(Path())
    assert after.catalog.fingerprint == before.catalog.fingerprint
    assert (pool is None) == (after.pool() is None)
    assert len(after.labels()) == len(labels)
    assert lookalike("catalog", "refresh", "--json").json["kept"] == images  # from then on without the option


def test_the_advised_command_works_after_a_rename(lookalike, shop):
    (shop / "photos").rename(shop / "new name")
    advised = lookalike("status", "--json").json["next"]
    findings = {one["what"]: one for one in lookalike("doctor", "--json").json["findings"]}
    assert advised in findings["photos"]["fix"]
    for command in (("catalog", "refresh"), ("embed", "descriptor:layout")):
        refused = lookalike(*command, "--json")
        assert refused.status == 1
        assert advised in refused.json["error"]["fix"]
    typed = shlex.split(advised.replace("NEW_FOLDER", shlex.quote("new name")))
    assert typed[0] == "lookalike"
    follows(lookalike, *typed[1:])
    assert lookalike("doctor").status == 0
    assert lookalike("embed", "descriptor:layout").status == 0  # reads the photos in their new place


def test_some_missing_photos_are_no_rename(lookalike, shop):
    shutil.rmtree(shop / "photos/box")
    assert lookalike("status", "--json").json["next"] == "lookalike catalog refresh"
    assert lookalike("catalog", "refresh", "--json").json["images"] == 24


def test_a_copy_of_the_photos_outside_the_workspace_takes_their_place(lookalike, shop, tmp_path_factory):
    place = tmp_path_factory.mktemp("disk") / "photos"
    shutil.copytree(shop / "photos", place)
    follows(lookalike, "catalog", "refresh", "--photos", place)
    assert Workspace(shop).settings.photos == str(place)


def test_another_folder_changes_nothing(lookalike, shop):
    (shop / "photos").rename(shop / "elsewhere")
    (shop / "other").mkdir()
    shutil.copy(shop / "elsewhere/bowl/000/1.png", shop / "other/x.png")
    before = (shop / "lookalike.toml").read_bytes(), Workspace(shop).catalog.fingerprint
    for name in ("other", "nothing"):
        assert lookalike("catalog", "refresh", "--photos", name).status == 1
    assert ((shop / "lookalike.toml").read_bytes(), Workspace(shop).catalog.fingerprint) == before


@pytest.mark.parametrize("table", ["shop/photos/catalog.csv", "shop/catalog.csv", "catalog.csv"])
def test_a_table_is_found_inside_and_beside_the_photos_and_where_it_stayed(
    lookalike, photos, tmp_path, table
):
    shutil.copytree(photos, tmp_path / "shop/photos")
    names = [path.relative_to(photos).as_posix() for path in sorted(photos.rglob("*.png"))]
    (tmp_path / table).write_text("\n".join(["image,item", *(f"{name},{name[:7]}" for name in names)]))
    assert lookalike("init", table, "--images", "shop/photos").status == 0
    (tmp_path / "shop").rename(tmp_path / "store")
    refused = lookalike("catalog", "refresh", "--json").json["error"]
    assert refused["fix"].endswith(lookalike("status", "--json").json["next"])
    assert "--images" not in refused["fix"]
    follows(lookalike, "catalog", "refresh", "--photos", "store/photos")


def test_added_photos_move_along_or_stay(lookalike, shop):
    for name in ("photos-b", "more"):
        (shop / name).mkdir()
    shutil.copy(shop / "photos/bowl/000/1.png", shop / "more/x.png")
    shutil.copy(shop / "photos/bowl/000/2.png", shop / "photos-b/y.png")
    assert lookalike("catalog", "add", "more").status == 0
    (shop / "photos-b/table.csv").write_text("image,path\ny,y.png\n")
    assert lookalike("catalog", "add", "photos-b/table.csv").status == 0
    assert lookalike("embed", "--stale").status == 0
    (shop / "photos").rename(shop / "renamed")
    assert "--photos" in lookalike("status", "--json").json["next"]
    follows(lookalike, "catalog", "refresh", "--photos", "renamed", images=38)


def test_a_thumbnail_of_a_renamed_folder_names_the_option_for_the_new_one(shop):
    opened = Workspace(shop)
    with opened.database.read() as connection:
        one = listed(connection, "bowl/000/1.png")
    (shop / "photos" / one.path).unlink()
    with pytest.raises(CatalogError) as gone:
        Thumbnails(shop, opened.settings).make(one, 240)
    assert gone.value.fix.endswith("lookalike catalog refresh")
    (shop / "photos").rename(shop / "renamed")
    with pytest.raises(CatalogError) as moved:
        Thumbnails(shop, opened.settings).make(one, 240)
    assert moved.value.fix.endswith("lookalike catalog refresh --photos NEW_FOLDER")
