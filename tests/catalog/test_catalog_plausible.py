"""A folder that does not look like a catalog gives a warning; one that does gives none."""

import json

import pytest
from sample_photos import photo

from lookalike.catalog.read import catalog_from
from lookalike.cli.app import run


def folder_of(root, *names: str):
    for at, name in enumerate(names):
        if name.endswith(".jpg"):
            photo(root / name, 16, 16, seed=at, format="JPEG")
        else:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("")
    return root


SHOP = [
    f"{category}/{item:02}/{at}.jpg" for category in ("bed", "sofa") for item in range(6) for at in (1, 2)
]
FLAT = [f"{category}/{at:02}.jpg" for category in ("bed", "sofa") for at in range(9)]


@pytest.mark.parametrize(
    "names",
    [SHOP, FLAT, [f"{at}.jpg" for at in range(9)], [*SHOP, *(f"{name}.json" for name in SHOP), "x.txt"],
     [f"{split}/{name}" for split in ("train", "val", "test") for name in SHOP]],
)  # fmt: skip
def test_a_folder_of_product_photos_gives_no_warning(tmp_path, names):
    assert catalog_from(folder_of(tmp_path, *names)).warnings == ()


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        ([*SHOP, *(f"src/{at}.{kind}" for at in range(7) for kind in ("py", "c", "h", "md"))], ["24 of 52"]),
        ([*SHOP, "logo.jpg", "docs/how/to/x.jpg"], ["2 photos", "'docs/how/to/x.jpg'"]),
        ([f"sofa/all/{at:02}.jpg" for at in range(25)], ["25 photos", "--layout category/-/photo"]),
        (["a/1.jpg", "b/1.jpg", "c/1.jpg", "d/1.jpg"], ["--layout item/photo"]),
        ([f"train/{item}/{at}.jpg" for item in "abcd" for at in (1, 2)], ["--layout split/item/photo"]),
    ],
)
def test_an_implausible_layout_gives_a_warning(tmp_path, names, parts):
    warnings = catalog_from(folder_of(tmp_path, *names)).warnings
    assert any(all(part in warning for part in parts) for warning in warnings), warnings


def test_a_layout_that_was_given_is_not_doubted(tmp_path):
    folder_of(tmp_path, *(f"sofa/all/{at:02}.jpg" for at in range(25)))
    assert catalog_from(tmp_path, layout="category/-/photo").warnings == ()


def test_a_split_without_photos_gives_a_warning():
    (warning,) = catalog_from({"image": list("abcd"), "item": ["x", "x", "y", "y"]}).warnings
    assert "validation" in warning
    assert "2 items" in warning
    given = {"image": list("abcd"), "split": ["train"] * 4}
    assert catalog_from(given).warnings == ()


def test_the_command_prints_the_warning_and_still_makes_a_workspace(tmp_path, capsys):
    folder_of(tmp_path / "photos", *SHOP, "docs/how/to/x.jpg")
    assert run(["init", str(tmp_path / "photos"), "--workspace", str(tmp_path / "w"), "--json"]) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "x.jpg" in warning
