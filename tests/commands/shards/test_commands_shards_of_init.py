"""plan init, work, join: the workspace is that of one process."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from object_store import object_store, upload
from PIL import Image

from lookalike.catalog.read import rows_of
from lookalike.core.types import CATALOG_NUMBERS, CATALOG_TEXTS
from lookalike.store.workspace import Workspace
from lookalike.workflows.shards import init as catalogs


@pytest.fixture
def shop(lookalike, photos, tmp_path, monkeypatch) -> Path:
    """36 photos in units of 8, of which one is damaged, one tiny, one larger, and two are duplicates."""
    monkeypatch.setattr(catalogs, "UNIT", 8)
    shutil.copytree(photos, tmp_path / "photos")
    (tmp_path / "photos/bowl/000/1.png").write_bytes(b"no photo")
    Image.new("RGB", (4, 4)).save(tmp_path / "photos/box/001/1.png")
    Image.new("RGB", (200, 100), "red").save(tmp_path / "photos/box/002/1.png")
    shutil.copy(tmp_path / "photos/rod/001/1.png", tmp_path / "photos/rod/002/3.png")
    return tmp_path


def done(lookalike, place: str, *parts: str) -> None:
    for part in parts:
        result = lookalike("work", place, "--shard", part)
        assert result.status == 0, result.err


def content(folder: Path) -> tuple[object, ...]:
    workspace = Workspace(folder)
    catalog = workspace.catalog
    columns = {name: getattr(catalog, name).tolist() for name in (*CATALOG_TEXTS, *CATALOG_NUMBERS)}
    more = catalog.box.tolist(), catalog.duplicate.tolist(), catalog.left_out
    return columns, more, dict(workspace.signatures()), (folder / "lookalike.toml").read_text()


@pytest.mark.parametrize("options", [[], ["--seed", 7, "--max-megapixels", 0.01]])
def test_the_workspace_is_that_of_one_process(lookalike, shop, options):
    assert lookalike("init", "photos", "-w", "one", *options).status == 0
    planned = lookalike("plan", "init", "photos", "-w", "two", "--to", "shared", *options)
    assert planned.status == 0, planned.err
    assert "37 images in 5 units" in planned.out
    done(lookalike, "shared", "2/3", "3/3", "1/3", "1/3")
    joined = lookalike("join", "shared", "-w", "two")
    assert joined.status == 0, joined.err
    assert "Left out" in joined.out
    assert "lookalike embed" in joined.out
    assert content(shop / "two") == content(shop / "one")


def test_the_table_of_a_published_layout_and_its_columns(lookalike, shop):
    rows = [
        f"{at},photos/{path.relative_to(shop / 'photos')}"
        for at, path in enumerate(sorted(shop.rglob("*/2.png")))
    ]
    (shop / "table.csv").write_text("number,file\n" + "\n".join(rows) + "\n")
    columns = ["--column", "image=number", "--column", "path=file"]
    assert lookalike("init", "table.csv", "-w", "one", *columns).status == 0
    assert lookalike("plan", "init", "table.csv", "-w", "two", "--to", "shared", *columns).status == 0
    done(lookalike, "shared", "1/1")
    assert lookalike("join", "shared", "-w", "two").status == 0
    assert content(shop / "two") == content(shop / "one")


@pytest.mark.parametrize("change", ["added", "removed", "renamed"])
def test_photos_that_changed_after_the_plan(lookalike, shop, change):
    lookalike("plan", "init", "photos", "-w", "two", "--to", "shared")
    done(lookalike, "shared", "1/1")
    photo = shop / "photos/rod/003/1.png"
    if change == "added":
        shutil.copy(photo, shop / "photos/rod/005/9.png")
    elif change == "removed":
        photo.unlink()
    else:
        photo.rename(photo.with_name("other.png"))
    result = lookalike("join", "shared", "-w", "two")
    assert result.status == 1
    assert "are not those of the plan" in result.err
    assert not (shop / "two").exists()


def test_a_missing_shard_makes_no_workspace(lookalike, shop):
    lookalike("plan", "init", "photos", "-w", "two", "--to", "shared")
    done(lookalike, "shared", "1/2")
    result = lookalike("join", "shared", "-w", "two")
    assert result.status == 1
    assert "lookalike work shared --shard 2/2" in " ".join(result.err.split())
    assert not (shop / "two").exists()


def test_a_workspace_that_exists_stays_unless_told(lookalike, shop):
    assert lookalike("init", "photos", "-w", "one").status == 0
    refused = lookalike("plan", "init", "photos", "-w", "one", "--to", "shared")
    assert refused.status == 1
    assert "--overwrite" in refused.err
    lookalike("plan", "init", "photos", "-w", "two", "--to", "shared")
    done(lookalike, "shared", "1/1")
    assert lookalike("init", "photos", "-w", "two", "--seed", 3).status == 0
    before = content(shop / "two")
    late = lookalike("join", "shared", "-w", "two")
    assert late.status == 1
    assert content(shop / "two") == before
    assert lookalike("plan", "init", "photos", "-w", "two", "--to", "again", "--overwrite").status == 0
    done(lookalike, "again", "1/1")
    assert lookalike("join", "again", "-w", "two").status == 0
    assert content(shop / "two")[0] != before[0]


def test_a_source_without_photos_needs_no_plan(lookalike, shop, monkeypatch):
    def without_photos(*given, **options):
        rows, layout = rows_of(*given, **options)
        return replace(rows, root=None), layout

    monkeypatch.setattr(catalogs, "rows_of", without_photos)
    result = lookalike("plan", "init", "photos", "-w", "two", "--to", "shared")
    assert result.status == 1
    assert "lookalike init photos" in result.err


def test_photos_in_an_object_store(lookalike, shop, monkeypatch):
    assert lookalike("init", "photos", "-w", "one").status == 0
    lookalike("plan", "init", "photos", "-w", "two", "--to", "shared")
    with object_store(monkeypatch) as bucket:
        upload(shop / "photos", f"{bucket}/photos")
        for part in ("1/2", "2/2"):
            result = lookalike("work", "shared", "--shard", part, "--photos", f"{bucket}/photos")
            assert result.status == 0, result.err
    assert lookalike("join", "shared", "-w", "two").status == 0
    assert content(shop / "two") == content(shop / "one")
