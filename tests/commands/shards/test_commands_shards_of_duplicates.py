"""plan duplicates, work, join --duplicates: the workspace is that of one process."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from object_store import object_store
from PIL import Image, ImageEnhance
from small_cells import small_cells

from lookalike.catalog.duplicates import groups
from lookalike.core.types import CATALOG_NUMBERS, CATALOG_TEXTS
from lookalike.store.workspace import Workspace

DRAWN, COPIES = 60, 4


@pytest.fixture(scope="module")
def drawn(tmp_path_factory) -> Path:
    """60 photos with 4 near copies of each in the folders of two items, and 40 nearly blank ones."""
    folder, random = tmp_path_factory.mktemp("drawn") / "photos", np.random.default_rng(0)
    for number in range(DRAWN + 1):
        small = random.integers(0, 256, (5, 5, 3)) if number < DRAWN else np.full((5, 5, 3), 250)
        photo = Image.fromarray(small.astype(np.uint8)).resize((40, 40), Image.Resampling.BICUBIC)
        for copy in range(COPIES if number < DRAWN else 40):
            path = folder / f"item{number}-{copy % 2}" / f"{copy}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            pixels = np.asarray(ImageEnhance.Brightness(photo).enhance(1 - copy / 200))
            Image.fromarray(pixels - random.integers(0, 2, pixels.shape, dtype=np.uint8)).save(path)
    (folder / "item0-0/0.png").write_bytes(b"no photo")
    shutil.copy(folder / "item1-0/0.png", folder / "item2-0/9.png")
    return folder


@pytest.fixture
def shop(lookalike, drawn, tmp_path) -> Iterator[Path]:
    """These photos, of which the shards of `init` are done in the place `shared`."""
    shutil.copytree(drawn, tmp_path / "photos")
    with small_cells():
        for step in (
            ["plan", "init", "photos", "-w", "two", "--to", "shared"],
            ["work", "shared", "--shard", "1/1"],
        ):
            result = lookalike(*step)
            assert result.status == 0, result.err
        yield tmp_path


def done(lookalike, place: str, *parts: str) -> None:
    for part in parts:
        result = lookalike("work", place, "--shard", part)
        assert result.status == 0, result.err


def flat(text: str) -> str:
    return " ".join(text.split())


def content(folder: Path) -> tuple[object, ...]:
    workspace = Workspace(folder)
    catalog = workspace.catalog
    columns = {name: getattr(catalog, name).tolist() for name in (*CATALOG_TEXTS, *CATALOG_NUMBERS)}
    more = catalog.box.tolist(), catalog.duplicate.tolist(), catalog.left_out
    return columns, more, dict(workspace.signatures()), (folder / "lookalike.toml").read_text()


@pytest.mark.parametrize("parts", [["1/1"], ["3/3", "1/3", "2/3"]])
def test_the_workspace_is_that_of_one_process(lookalike, shop, monkeypatch, parts):
    assert lookalike("init", "photos", "-w", "one").status == 0
    planned = lookalike("plan", "duplicates", "shared", "--to", "near")
    assert planned.status == 0, planned.err
    assert f"lookalike join {shop / 'shared'} --duplicates near" in flat(planned.out)
    done(lookalike, "near", *parts)
    searched, real = [], groups.near_pairs

    def seen(points, *given):
        searched.append(len(points))
        return real(points, *given)

    monkeypatch.setattr(groups, "near_pairs", seen)
    joined = lookalike("join", "shared", "--duplicates", "near", "-w", "two")
    assert joined.status == 0, joined.err
    assert f"Joined {1 + len(parts)} shards" in joined.out
    assert content(shop / "two") == content(shop / "one")
    assert Workspace(shop / "two").catalog.duplicate.max() > DRAWN // 2
    assert max(searched) < 20  # the few that are put together anew; the search of all was done by the workers


def test_a_plan_of_init_is_joined_without_duplicates_as_before(lookalike, shop):
    assert lookalike("init", "photos", "-w", "one").status == 0
    assert lookalike("join", "shared", "-w", "two").status == 0
    assert content(shop / "two") == content(shop / "one")


def test_everything_in_an_object_store(lookalike, shop, monkeypatch):
    assert lookalike("init", "photos", "-w", "one").status == 0
    with object_store(monkeypatch) as bucket:
        places = f"{bucket}/photos-of", f"{bucket}/near"
        assert lookalike("plan", "init", "photos", "-w", "two", "--to", places[0]).status == 0
        done(lookalike, places[0], "1/1")
        assert lookalike("plan", "duplicates", places[0], "--to", places[1]).status == 0
        done(lookalike, places[1], "1/2", "2/2")
        assert lookalike("join", places[0], "--duplicates", places[1], "-w", "two").status == 0
    assert content(shop / "two") == content(shop / "one")


def refused(lookalike, *command: str) -> str:
    result = lookalike(*command)
    assert result.status == 1
    return flat(result.err)


def test_missing_shards_are_named_and_make_no_workspace(lookalike, shop):
    lookalike("plan", "init", "photos", "-w", "two", "--to", "unread")
    error = refused(lookalike, "plan", "duplicates", "unread", "--to", "near")
    assert "lookalike work unread --shard 1/4" in error
    lookalike("plan", "duplicates", "shared", "--to", "near")
    done(lookalike, "near", "1/2")
    error = refused(lookalike, "join", "shared", "--duplicates", "near", "-w", "two")
    assert "lookalike work near --shard 2/2" in error
    assert not (shop / "two").exists()


def test_near_duplicates_of_another_plan_are_refused(lookalike, shop):
    lookalike("plan", "duplicates", "shared", "--to", "near")
    done(lookalike, "near", "1/1")
    lookalike("plan", "init", "photos", "-w", "two", "--to", "other", "--seed", "7")
    done(lookalike, "other", "1/1")
    error = refused(lookalike, "join", "other", "--duplicates", "near", "-w", "two")
    assert "lookalike plan duplicates other --to PLACE" in error
    assert "has another plan" in refused(lookalike, "plan", "duplicates", "other", "--to", "near")
    assert not (shop / "two").exists()


def test_places_that_are_mixed_up(lookalike, shop):
    lookalike("plan", "duplicates", "shared", "--to", "near")
    done(lookalike, "near", "1/1")
    error = refused(lookalike, "join", "near", "-w", "two")
    assert f"lookalike join {shop / 'shared'} --duplicates near" in error
    assert "`duplicates`" in refused(lookalike, "join", "near", "--duplicates", "shared", "-w", "two")
    assert "`init`" in refused(lookalike, "join", "shared", "--duplicates", "shared", "-w", "two")
    assert "`duplicates`" in refused(lookalike, "plan", "duplicates", "near", "--to", "again")


def test_boxes_that_changed_after_the_plan(lookalike, shop):
    """The same photos, of which one now has several boxes, and no near duplicates any more."""
    photos = sorted(path.relative_to(shop) for path in shop.rglob("item2*/*.png"))

    def write(*more: str) -> None:
        rows = [f"{path},{path},0,0,0,0" for path in photos]
        (shop / "table.csv").write_text("\n".join(["image,path,x0,y0,x1,y1", *rows, *more]) + "\n")

    write(f"a,{photos[0]},0,0,20,20", f"b,{photos[1]},0,0,0,0")
    lookalike("plan", "init", "table.csv", "-w", "two", "--to", "boxes")
    done(lookalike, "boxes", "1/1")
    assert lookalike("plan", "duplicates", "boxes", "--to", "near").status == 0
    done(lookalike, "near", "1/1")
    write(f"a,{photos[0]},0,0,20,20", f"b,{photos[1]},0,0,20,20")
    error = refused(lookalike, "join", "boxes", "--duplicates", "near", "-w", "two")
    assert "changed after near duplicates were planned" in error
    assert not (shop / "two").exists()
