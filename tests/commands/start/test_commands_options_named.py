"""Errors in a shell name the option or command to type, never a name of Python."""

import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.encode import open as opening

OF_PYTHON = re.compile(
    r"\w=\{|\bcolumns\b *=|max_megapixels|allow_pickle|unsafely|\blookalike\[|\w\(\w+=|margin"
)


@pytest.fixture
def shop(lookalike, tmp_path) -> Path:
    """A table with another name for its images, a large photo, and files that are no vectors."""
    (tmp_path / "photos").mkdir()
    for name in "ab":
        Image.effect_noise((40, 40), 90).save(tmp_path / f"photos/{name}.png")
    Image.effect_noise((200, 150), 90).save(tmp_path / "photos/large.png")
    (tmp_path / "catalog.csv").write_text("file name,item\na.png,1\nb.png,2\n")
    (tmp_path / "whole.csv").write_text("image\na.png\nb.png\n")
    np.save(tmp_path / "objects.npy", np.array([{"a": 1}, None], object), allow_pickle=True)
    (tmp_path / "text.npy").write_text("no vectors")
    assert lookalike("init", "photos", "--workspace", "here").status == 0
    return tmp_path


@pytest.mark.parametrize(
    ("command", "option"),
    [
        (("init", "catalog.csv"), "--column 'image=file name'"),
        (("init", "catalog.csv", "--column", "photo=file"), "--column image="),
        (("init", "catalog.csv", "--column", "image=name"), "file name"),
        (("init", "whole.csv", "--images", "nowhere"), "--images"),
        (("init", "whole.csv"), "--images FOLDER"),
        (("init", "photos", "--images", "photos", "--column", "image=x"), "--images"),
        (("init", "whole.csv", "--layout", "item/photo"), "--layout"),
        (("init", "photos", "--layout", "photo/item"), "--layout"),
        (("init", "photos", "--max-megapixels", "0"), "--max-megapixels"),
        (("embed", "precomputed:objects.npy", "-w", "here"), "numpy.save"),
        (("embed", "precomputed:text.npy", "-w", "here"), "numpy.save"),
        (("discover", "--stratify", "item", "-w", "here"), "--"),
        (("discover", "--confidence", "95", "-w", "here"), "--confidence"),
        (("compare", "a", "b", "--negligible", "2", "-w", "here"), "--negligible"),
        (("compare", "a", "b", "--width", "0", "-w", "here"), "--width"),
    ],
)
def test_a_mistake_names_the_option_to_type(lookalike, shop, command, option):
    refused = lookalike(*command, "--json")
    assert refused.status in (1, 2)
    words = " ".join(refused.json["error"][part] for part in ("problem", "fix"))
    assert option in words
    assert not OF_PYTHON.search(words), words


def test_a_photo_that_is_too_large_names_the_option_that_admits_it(lookalike, shop):
    made = lookalike("init", "photos", "--max-megapixels", 0.01, "--json").json
    (large,) = made["left_out"]
    option = re.search(r"--max-megapixels (\d+)", large["reason"])
    assert option is not None
    again = lookalike("init", "photos", "--overwrite", *option[0].split(), "--json").json
    assert again["left_out"] == []


def test_a_missing_library_names_the_command_that_installs_it(lookalike, shop, monkeypatch):
    monkeypatch.setattr(opening, "not_installed", list)
    refused = lookalike("embed", "timm:resnet18", "-w", "here", "--json")
    assert "pip install '.[models]'" in refused.json["error"]["fix"]
    assert not OF_PYTHON.search(refused.json["error"]["fix"])
