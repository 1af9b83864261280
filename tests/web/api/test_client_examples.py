"""The client examples of the documentation, run as they are."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from api_shop import photo_of, with_token

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/how-to/serving-search.md").read_text()
CURL = re.findall(r"^    (curl .*)$", PAGE, re.MULTILINE)


def surroundings(shop, folder: Path) -> dict[str, str]:
    photo = folder / "photo.jpg"
    photo.write_bytes(photo_of(shop.workspace, 4))
    token = with_token(shop, "catalog").headers["Authorization"].partition(" ")[2]
    image = str(shop.workspace.catalog.image[4])
    return {**os.environ, "LOOKALIKE": shop.address, "TOKEN": token, "PHOTO": str(photo), "IMAGE": image}


def test_the_python_client_prints_the_same_items_for_an_image_and_its_photo(own_shop, tmp_path):
    given = surroundings(own_shop, tmp_path)
    command = [sys.executable, ROOT / "examples/search_client.py", given["IMAGE"], given["PHOTO"]]
    done = subprocess.run(command, env=given, capture_output=True, text=True, check=True)
    by_image, by_photo = done.stdout.split(given["PHOTO"] + "\n")
    own = str(own_shop.workspace.catalog.item[4])
    assert len(by_image.splitlines()) == len(by_photo.splitlines()) == 5
    assert own not in by_image.split()
    assert by_photo.split()[1] == own


@pytest.mark.parametrize(
    ("arguments", "token", "status"), [(["--help"], "", 0), (["a"], "", 1), ([], "lk_x", 1)]
)
def test_the_python_client_without_what_it_needs_shows_its_usage(arguments, token, status):
    given = {name: value for name, value in os.environ.items() if name != "TOKEN"}
    command = [sys.executable, ROOT / "examples/search_client.py", *arguments]
    done = subprocess.run(
        command, env=given | ({"TOKEN": token} if token else {}), capture_output=True, text=True, check=False
    )
    assert done.returncode == status
    assert (done.stdout + done.stderr).startswith("Usage: ")
    assert (done.stdout + done.stderr).count("\n") == 1


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
def test_the_curl_commands_of_the_page_succeed(own_shop, tmp_path):
    assert len(CURL) == 5
    given = surroundings(own_shop, tmp_path)
    for command in CURL:
        done = subprocess.run(["sh", "-c", command], env=given, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        assert '"results"' in done.stdout or '"images"' in done.stdout, command
