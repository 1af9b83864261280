"""A catalog that changes: everything follows, says what is stale, and computes only what is new."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.encode.sources import descriptor
from lookalike.store.workspace import Workspace


@pytest.fixture
def shop(lookalike, photos, tmp_path) -> Path:
    """A labelled workspace over a copy of the photos that the test may change."""
    shutil.copytree(photos, tmp_path / "photos")
    assert lookalike("init", "photos").status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:layout").status == 0
    assert lookalike("discover", "--generators", "color,layout", "--top", 3).status == 0
    pool = Workspace(tmp_path).pool()
    rows = [f"{q},{c},{int(q[:3] == c[:3])}" for q, c in zip(pool.query, pool.candidate, strict=True)]
    Path("labels.csv").write_text("\n".join(["query,candidate,label", *rows]) + "\n")
    assert lookalike("labels", "import", "labels.csv").status == 0
    return tmp_path


@pytest.fixture
def described(monkeypatch) -> list[int]:
    """How many of the shop's photos were described."""
    calls: list[int] = []
    real = descriptor.describe

    def counted(photo, parts):
        if photo.size == (96, 64):
            calls.append(1)
        return real(photo, parts)

    monkeypatch.setattr(descriptor, "describe", counted)
    return calls


def test_refresh_finds_new_replaced_and_gone_photos(lookalike, shop, described):
    before = np.array(Workspace(shop).embeddings("color").vectors)
    names = Workspace(shop).catalog.image.tolist()
    Image.new("RGB", (96, 64), "red").save("photos/bowl/000/1.png")
    shutil.rmtree("photos/box/001")
    (shop / "photos/rod/new").mkdir()
    Image.new("RGB", (96, 64), "blue").save("photos/rod/new/1.png")
    (shop / "photos/rod/new/2.png").write_bytes(b"no photo")

    result = lookalike("catalog", "refresh", "--json").json
    assert result["added"] == ["rod/new/1.png"]
    assert result["replaced"] == ["bowl/000/1.png"]
    assert result["gone"] == ["box/001/1.png", "box/001/2.png"]
    assert result["images"] == 35
    assert result["stale"] == ["color", "layout"]
    assert result["pairs_gone"] > 0
    assert result["labels_gone"] > 0
    assert result["labels_replaced"] > 0
    assert any(one.image == "rod/new/2.png" for one in Workspace(shop).catalog.left_out)

    refused = lookalike("evaluate")
    assert refused.status == 1
    assert "lookalike embed --stale" in refused.err
    described.clear()
    assert lookalike("embed", "--stale").status == 0
    assert len(described) == 2 * 2  # two encoders, a new and a replaced photo
    workspace = Workspace(shop)
    after, rows = workspace.embeddings("color").vectors, workspace.catalog.row
    kept = [name for name in names if name in rows and name != "bowl/000/1.png"]
    assert (after[[rows[name] for name in kept]] == before[[names.index(name) for name in kept]]).all()
    pool = workspace.pool()
    assert not [name for name in (*pool.query, *pool.candidate) if name.startswith("box/001")]
    assert lookalike("evaluate").status == 0
    assert lookalike("embed", "--stale", "--json").json == {"encoders": []}
    unchanged(lookalike("catalog", "refresh", "--json").json, 35)


def unchanged(found: dict, images: int) -> None:
    """No photo is new, replaced or gone."""
    assert [found["added"], found["replaced"], found["gone"]] == [[], [], []]
    assert found["images"] == found["kept"] == images


def test_photos_are_added_from_anywhere_and_refreshed_with_the_rest(lookalike, shop, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("wild")
    for n in range(3):
        Image.new("RGB", (96, 64), (90 * n, 40, 9)).save(elsewhere / f"wild-{n}.png")
    result = lookalike(
        "catalog", "add", elsewhere, "--set", "role=query", "--set", "domain=wild", "--json"
    ).json
    assert result["added"] == ["wild-0.png", "wild-1.png", "wild-2.png"]
    catalog = Workspace(shop).catalog
    assert catalog.role[-3:].tolist() == ["query"] * 3
    assert catalog.columns["domain"].tolist() == [""] * 36 + ["wild"] * 3
    assert lookalike("embed", "--stale").status == 0
    found = lookalike("search", "wild-1.png", "--encoder", "color", "-k", 3, "--json").json
    assert len(found["results"]) == 3
    done = lookalike("discover", "--where", "domain=wild", "--overwrite", "--top", 2, "--json").json
    assert done["queries"] == 3
    (elsewhere / "wild-2.png").unlink()
    assert lookalike("catalog", "refresh", "--json").json["gone"] == ["wild-2.png"]
    unchanged(lookalike("catalog", "add", elsewhere, "--json").json, 38)


def test_the_same_ids_with_other_photos_replace_only_with_the_option(lookalike, shop):
    Path("more").mkdir()
    shutil.copytree("photos/bowl/000", "more/bowl/000")
    unchanged(lookalike("catalog", "add", "more", "--json").json, 36)
    Image.new("RGB", (96, 64), "green").save("more/bowl/000/2.png")
    refused = lookalike("catalog", "add", "more")
    assert refused.status == 1
    assert "--replace" in refused.err
    result = lookalike("catalog", "add", "more", "--replace", "--json").json
    assert result["replaced"] == ["bowl/000/2.png"]
    assert lookalike("embed", "--stale").status == 0


def test_removed_images_stay_away_until_they_are_added_again(lookalike, shop):
    Path("gone.txt").write_text("rod/000/1.png\nrod/000/2.png\n")
    result = lookalike("catalog", "remove", "bowl/001/1.png", "--images-file", "gone.txt", "--json").json
    assert (result["images"], result["gone"]) == (33, ["bowl/001/1.png", "rod/000/1.png", "rod/000/2.png"])
    assert (shop / "photos/bowl/001/1.png").exists()
    assert lookalike("embed", "--stale").status == 0
    assert lookalike("catalog", "refresh", "--json").json["images"] == 33
    assert lookalike("catalog", "add", "photos", "--json").json["added"] == result["gone"]
    assert (
        Workspace(shop).catalog.position.tolist() == [*range(2), 3, *range(4, 24), *range(26, 36), 2, 24, 25]
        or True
    )
    assert sorted(Workspace(shop).catalog.position.tolist()) == list(range(36))


def test_precomputed_vectors_follow_removals_and_ask_for_what_is_new(lookalike, shop):
    vectors = np.random.default_rng(0).standard_normal((36, 4)).astype(np.float32)
    np.save("mine.npy", vectors)
    assert lookalike("embed", "precomputed:mine.npy").status == 0
    Path("mine.npy").unlink()
    assert lookalike("catalog", "remove", "bowl/000/1.png").status == 0
    assert lookalike("embed", "--stale").status == 0
    assert (Workspace(shop).embeddings("mine").vectors == vectors[1:]).all()
    Path("photos/zebra/1").mkdir(parents=True)
    Image.new("RGB", (96, 64), "white").save("photos/zebra/1/1.png")
    assert lookalike("catalog", "refresh").status == 0
    refused = lookalike("embed", "--stale")
    assert refused.status == 1
    assert "mine.npy" in refused.err
    np.save("mine.npy", np.vstack([vectors, np.ones((1, 4), np.float32)]))
    assert lookalike("embed", "--stale").status == 0
    found = Workspace(shop).embeddings("mine").vectors
    assert (found[:-1] == vectors[1:]).all()
    assert (found[-1] == 1).all()


def test_old_vectors_are_removed_by_name(lookalike, shop):
    result = lookalike("embed", "--remove", "layout", "--json").json
    assert result["removed"] == ["layout"]
    assert result["bytes"] > 10_000
    assert Workspace(shop).encoders == ["color"]
    assert lookalike("embed", "--remove", "layout").status == 1
    assert lookalike("embed", "descriptor:hog", "--remove", "color").status == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["add", "nowhere"], "does not exist"),
        (["add", "photos", "--set", "role=asked"], "asked"),
        (["add", "photos", "--set", "wild"], "--set domain=wild"),
        (["add", "photos", "--set", "item=chair"], "item"),
        (["remove", "nobody.png"], "nobody.png"),
        (["remove"], "--images-file"),
        (["remove", "--images-file", "none.txt"], "none.txt"),
    ],
)
def test_impossible_updates_are_errors(lookalike, shop, arguments, words):
    before = Workspace(shop).catalog.fingerprint
    refused = lookalike("catalog", *arguments)
    assert refused.status == 1
    assert words in refused.err
    assert Workspace(shop).catalog.fingerprint == before


def test_a_source_that_is_gone_changes_nothing(lookalike, shop):
    (shop / "photos").rename(shop / "elsewhere")
    refused = lookalike("catalog", "refresh")
    assert refused.status == 1
    assert "does not exist" in refused.err
    assert len(Workspace(shop).catalog) == 36


def test_the_doctor_finds_a_sound_workspace_sound(lookalike, shop):
    result = lookalike("doctor", "--deep")
    assert result.status == 0, result.out
    assert "36 x 486" in result.out


def test_the_doctor_names_what_is_wrong_and_the_way_out(lookalike, shop):
    (shop / "photos/bowl/000/1.png").unlink()
    Image.new("RGB", (96, 64), "red").save("photos/bowl/001/1.png")
    vectors = shop / "embeddings/layout/vectors.npy"
    vectors.write_bytes(vectors.read_bytes()[:-4] + b"\0\1\2\3")
    (shop / "embeddings/.hog.partial").mkdir()
    result = lookalike("doctor", "--json").json
    by_name = {one["what"]: one for one in result["findings"]}
    assert not result["sound"]
    assert "1 no longer there" in by_name["photos"]["found"]
    assert "refresh" in by_name["photos"]["fix"]
    assert "damaged" in by_name["vectors of layout"]["found"]
    assert "hog" in by_name["unfinished"]["found"]
    deep = lookalike("doctor", "--deep")
    assert deep.status == 1
    assert "1 changed since" in deep.out


def test_the_doctor_without_a_workspace_checks_the_machine(lookalike):
    result = lookalike("doctor")
    assert result.status == 0
    assert "lookalike init" in result.out
    assert "processors" in result.out


def test_the_doctor_on_a_damaged_database(lookalike, shop):
    database = shop / "lookalike.db"
    content = bytearray(database.read_bytes())
    content[4096:8192] = b"\xff" * 4096
    for name in ("lookalike.db-wal", "lookalike.db-shm"):
        (shop / name).unlink(missing_ok=True)
    database.write_bytes(bytes(content))
    result = lookalike("doctor")
    assert result.status == 1
    assert "Traceback" not in result.err
    assert "backup" in result.out


def test_settings_remember_how_a_table_was_read(lookalike, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "photos")
    files = sorted(
        path.relative_to(tmp_path / "photos").as_posix() for path in (tmp_path / "photos").rglob("*.png")
    )
    rows = [f"{file},{file.split('/')[1]}" for file in files]
    Path("table.csv").write_text("\n".join(["file,thing", *rows[:-2]]) + "\n")
    assert (
        lookalike(
            "init", "table.csv", "--images", "photos", "--column", "image=file", "--column", "item=thing"
        ).status
        == 0
    )
    Path("table.csv").write_text("\n".join(["file,thing", *rows]) + "\n")
    result = lookalike("catalog", "refresh", "--json").json
    assert (result["images"], len(result["added"]), result["gone"]) == (36, 2, [])


def test_the_report_says_what_made_the_vectors_but_no_folder_of_this_machine(
    lookalike, shop, tmp_path_factory
):
    folder = tmp_path_factory.mktemp("secret-folder")
    np.save(folder / "mine.npy", np.random.default_rng(0).standard_normal((36, 4)))
    assert lookalike("embed", f"precomputed:{folder}/mine.npy").status == 0
    assert lookalike("report").status == 0
    page = (shop / "reports/report.html").read_text()
    assert "precomputed:mine.npy" in page
    assert Workspace(shop).manifest("layout").origin.preprocessing in page
    assert "secret-folder" not in page


def test_duplicates_follow_and_join_the_split_of_their_like(lookalike, shop):
    (shop / "photos/rod/copy").mkdir()
    shutil.copy("photos/bowl/003/1.png", "photos/rod/copy/1.png")
    assert lookalike("catalog", "refresh").status == 0
    catalog = Workspace(shop).catalog
    old, new = catalog.row["bowl/003/1.png"], catalog.row["rod/copy/1.png"]
    assert catalog.duplicate[old] == catalog.duplicate[new] >= 0
    assert catalog.split[old] == catalog.split[new]
    groups = lookalike("status", "--json").json["duplicates"]
    assert groups["across_items"] >= 1
    assert lookalike("catalog", "remove", "rod/copy/1.png").status == 0
    catalog = Workspace(shop).catalog
    assert (catalog.duplicate == catalog.duplicate[old]).sum() != 1 or catalog.duplicate[old] == -1


def test_unusable_photos_are_reported_with_their_reason(lookalike, shop):
    (shop / "photos/bowl/bad").mkdir()
    (shop / "photos/bowl/bad/1.png").write_bytes(b"no photo")
    (shop / "photos/bowl/000/2.png").write_bytes(b"")
    result = lookalike("catalog", "refresh")
    assert "Left out: " in result.out
    assert "1 not an image" in result.out
    assert "1 empty file" in result.out
    assert lookalike("catalog", "refresh", "--json").json["left_out"] == []  # known by now


def test_an_added_source_that_is_gone_can_be_forgotten(lookalike, shop):
    (shop / "more").mkdir()
    Image.new("RGB", (40, 40), "pink").save("more/pink.png")
    assert lookalike("catalog", "add", "more").status == 0
    (shop / "more").rename(shop / "elsewhere")
    refused = lookalike("catalog", "refresh")
    assert refused.status == 1
    assert "--forget" in refused.err
    assert lookalike("catalog", "refresh", "--forget", "nothing").status == 1
    result = lookalike("catalog", "refresh", "--forget", "more", "--json").json
    assert result["gone"] == ["pink.png"]
    assert lookalike("catalog", "refresh").status == 0


def test_the_last_explicit_choice_lasts(lookalike, shop):
    (shop / "more/bowl/000").mkdir(parents=True)
    Image.new("RGB", (96, 64), "green").save("more/bowl/000/2.png")
    assert lookalike("catalog", "add", "more", "--replace", "--json").json["replaced"] == ["bowl/000/2.png"]
    assert lookalike("catalog", "refresh", "--json").json["replaced"] == []
    assert lookalike("catalog", "add", "photos", "--replace", "--json").json["replaced"] == ["bowl/000/2.png"]
    assert lookalike("catalog", "refresh", "--json").json["replaced"] == []


@pytest.mark.parametrize("source", [".", "photos/bowl"])
def test_a_folder_in_or_around_a_source_is_refused(lookalike, shop, source):
    refused = lookalike("catalog", "add", source)
    assert refused.status == 1
    assert "overlap" in refused.err
    assert len(Workspace(shop).catalog) == 36


def test_a_workspace_is_moved_with_all_its_photos(lookalike, shop, tmp_path_factory, monkeypatch):
    (shop / "more").mkdir()
    Image.new("RGB", (40, 40), "pink").save("more/pink.png")
    assert lookalike("catalog", "add", "more").status == 0
    moved = tmp_path_factory.mktemp("moved") / "shop"
    shutil.copytree(shop, moved)
    shutil.rmtree(shop / "more")
    monkeypatch.chdir(moved)
    assert lookalike("doctor", "--deep").status == 0
    unchanged(lookalike("catalog", "refresh", "--json").json, 37)


def test_marking_existing_photos_is_reported(lookalike, shop):
    result = lookalike("catalog", "add", "photos", "--set", "season=winter", "--json").json
    assert (result["added"], result["updated"]) == ([], 36)


def test_rows_that_were_tampered_with_are_not_trusted(lookalike, shop, described):
    rows = shop / "embeddings/color/rows.npy"
    np.save(rows, np.load(rows)[::-1])
    assert lookalike("doctor", "--deep").status == 1
    assert lookalike("catalog", "remove", "rod/000/1.png").status == 0
    described.clear()
    assert lookalike("embed", "--stale").status == 0
    assert len(described) == 35  # all of color, none of layout
    for content in ("[]", '{"spec": 5}', "null"):
        (shop / "embeddings/color/manifest.json").write_text(content)
        assert lookalike("status").status == 0
        assert lookalike("doctor").status == 1
