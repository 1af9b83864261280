"""Photos at an address of an object store: copied once, brought up to date by `catalog refresh`, never mixed up."""

import io
from pathlib import Path

import numpy as np
import pytest
from object_store import SECRET, object_store, upload

from lookalike.core.errors import StorageError
from lookalike.core.object_store import ObjectStore
from lookalike.store.thumbnails import Thumbnails, listed
from lookalike.store.workspace import Workspace
from lookalike.workflows.start import photo_copy


@pytest.fixture
def bucket(monkeypatch, photos):
    """The address of a bucket with the shop's photos, a text and hidden files."""
    with object_store(monkeypatch) as address:
        upload(photos, f"{address}/shop")
        import s3fs

        for name in ("readme.txt", ".hidden.jpg", ".cache/x.jpg"):
            s3fs.S3FileSystem().pipe_file(f"{address}/shop/{name}", b"other")
        yield address


def copied(workspace: Path) -> list[str]:
    """The names of all copies."""
    (folder,) = (workspace / photo_copy.COPIES).iterdir()
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_workspace_from_an_address_equals_one_from_a_folder(lookalike, bucket, photos, tmp_path):
    made = lookalike("init", f"{bucket}/shop", "--workspace", "far", "--json")
    assert made.status == 0, made.err
    assert lookalike("init", photos, "--workspace", "near").status == 0
    far, near = Workspace(tmp_path / "far"), Workspace(tmp_path / "near")
    assert far.catalog.fingerprint == near.catalog.fingerprint
    assert copied(tmp_path / "far") == sorted(str(p.relative_to(photos)) for p in photos.rglob("*.*"))
    for name in ("far", "near"):
        assert lookalike("embed", "descriptor:color", "--workspace", name).status == 0
    assert np.array_equal(far.embeddings("color").vectors, near.embeddings("color").vectors)
    with far.database.read() as connection:
        one = listed(connection, str(far.catalog.image[0]))
    assert Thumbnails(far.folder, far.settings).make(one, 240).current
    shown = lookalike("status", "--workspace", "far").out
    assert f"{bucket}/shop" in shown


def test_refresh_copies_what_changed_and_forgets_what_is_gone(lookalike, bucket, tmp_path, monkeypatch):
    import s3fs

    files = s3fs.S3FileSystem()
    assert lookalike("init", f"{bucket}/shop").status == 0
    before = Workspace(tmp_path).catalog
    read = []
    real = ObjectStore.read

    def counted(self, name, first, last):
        read.append(name)
        return real(self, name, first, last)

    monkeypatch.setattr(ObjectStore, "read", counted)
    assert lookalike("catalog", "refresh", "--json").json["kept"] == len(before)
    assert read == []
    first, second, third = before.path[:3]
    files.rm_file(f"{bucket}/shop/{first}")
    turned = io.BytesIO()
    from PIL import Image

    Image.open(io.BytesIO(files.cat_file(f"{bucket}/shop/{third}"))).rotate(90).save(turned, "png")
    files.pipe_file(f"{bucket}/shop/{second}", turned.getvalue())
    done = lookalike("catalog", "refresh", "--json").json
    assert (done["gone"], done["replaced"], read) == ([first], [second], [second])
    assert first not in copied(tmp_path)


def test_a_copy_that_was_stopped_continues(lookalike, bucket, tmp_path, monkeypatch):
    real, read = ObjectStore.read, []

    def failing(self, name, first, last):
        if len(read) >= 5:
            raise StorageError("The network is gone.", fix="Run the same command again.")
        read.append(name)
        return real(self, name, first, last)

    monkeypatch.setattr(photo_copy, "AT_ONCE", 1)
    monkeypatch.setattr(ObjectStore, "read", failing)
    assert lookalike("init", f"{bucket}/shop").status == 1
    assert not (tmp_path / "lookalike.toml").exists()
    assert len(copied(tmp_path)) == 5
    again = []
    monkeypatch.setattr(ObjectStore, "read", lambda *of: again.append(of[1]) or real(*of))
    assert lookalike("init", f"{bucket}/shop").status == 0
    assert (len(again), set(again) & set(read)) == (31, set())


def test_a_table_on_this_machine_with_photos_at_an_address_and_photos_added_from_another(
    lookalike, bucket, photos, tmp_path
):
    names = sorted(str(path.relative_to(photos)) for path in photos.rglob("*.*"))
    rows = "".join(f"{name},{name.split('/')[1]}\n" for name in names[:12])
    (tmp_path / "catalog.csv").write_text(f"image,item\n{rows}")
    assert lookalike("init", "catalog.csv", "--images", f"{bucket}/shop").status == 0
    assert len(Workspace(tmp_path).catalog) == 12
    upload(photos, f"{bucket}/more")
    added = lookalike("catalog", "add", f"{bucket}/more", "--set", "role=query", "--json")
    assert added.status == 0, added.err
    assert lookalike("catalog", "refresh", "--json").json["gone"] == []


@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("/empty", "holds no photos"),
        ("/shop/catalog.csv", "address of a table"),
        ("-none/shop", "failed"),
    ],
)
def test_what_cannot_be_copied_ends_in_a_sentence(lookalike, bucket, tmp_path, place, words):
    done = lookalike("init", f"{bucket}{place}")
    assert (done.status, words in done.err, SECRET in done.err) == (1, True, False), done.err
    assert not (tmp_path / "lookalike.toml").exists()


def test_a_plan_lists_a_folder_and_says_how_workers_read_an_address(lookalike, bucket):
    done = lookalike("plan", "init", f"{bucket}/shop", "--to", "plan")
    assert (done.status, "--photos ADDRESS" in done.err) == (1, True)


@pytest.mark.parametrize("name", ["../up.jpg", "a/../../up.jpg", "/abs.jpg", "a//b.jpg", "./a.jpg"])
def test_a_name_that_leads_elsewhere_is_no_photo(name):
    assert not photo_copy._is_photo(name)


def test_other_drivers_list_the_same(tmp_path):
    import fsspec

    files = fsspec.filesystem("memory")
    files.pipe_file("/m/photos/a/1.jpg", b"1")
    files.pipe_file("/m/photos/2.jpg", b"22")
    found = {one.name: one.size for one in ObjectStore("memory://m/photos").tree()}
    assert found == {"a/1.jpg": 1, "2.jpg": 2}
    assert list(ObjectStore("memory://m/photos").names()) == ["2.jpg"]
    files.rm("/m", recursive=True)
