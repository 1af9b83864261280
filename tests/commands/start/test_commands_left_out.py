"""Every photo that is left out is named with its reason: by `init`, by updates and by `catalog left-out`."""

import shutil
from pathlib import Path

import pytest
from PIL import Image

from lookalike.cli.start.left_out import SHOWN


@pytest.fixture
def odd(photos, tmp_path) -> Path:
    """The shop's photos, with more bad ones than a command prints."""
    shutil.copytree(photos, tmp_path / "photos")
    for at in range(SHOWN + 2):
        (tmp_path / f"photos/bowl/000/bad-{at:02}.png").write_bytes(b"no photo")
    (tmp_path / "photos/bowl/000/empty.png").write_bytes(b"")
    return tmp_path


def test_every_photo_left_out_is_named_with_its_reason(lookalike, odd):
    printed = lookalike("init", "photos").out
    first = [f"bowl/000/bad-{at:02}.png" for at in range(SHOWN)]
    assert all(printed.count(name) == 1 for name in first)
    assert "bad-11.png" not in printed
    assert "lookalike catalog left-out" in printed
    listed = lookalike("catalog", "left-out", "--json").json["left_out"]
    reasons = {one["image"]: one["reason"].partition(":")[0] for one in listed}
    assert reasons == {
        **{f"bowl/000/bad-{at:02}.png": "not an image" for at in range(SHOWN + 2)},
        "bowl/000/empty.png": "empty file",
    }
    whole = lookalike("catalog", "left-out").out
    assert all(one["image"] in whole and one["reason"] in whole for one in listed)


def test_photos_that_an_update_leaves_out_are_named(lookalike, odd):
    shutil.rmtree(odd / "photos/bowl/000")
    assert lookalike("init", "photos").status == 0
    assert lookalike("catalog", "left-out", "--json").json == {"left_out": []}
    (odd / "photos/box/000/new.png").write_bytes(b"")
    assert "box/000/new.png" in lookalike("catalog", "refresh").out
    Image.new("RGB", (4, 4)).save("photos/box/000/tiny.png")
    (added,) = lookalike("catalog", "refresh", "--json").json["left_out"]
    assert (added["image"], added["reason"].partition(":")[0]) == ("box/000/tiny.png", "too small")
    listed = [one["image"] for one in lookalike("catalog", "left-out", "--json").json["left_out"]]
    assert sorted(listed) == ["box/000/new.png", "box/000/tiny.png"]
