"""The settings file: what is written is read again, and wrong values are refused by name, value and rule."""

import tomllib

import pytest

from lookalike.core.errors import WorkspaceError
from lookalike.store.settings import FILE, FORMAT, PhotoSource, WorkspaceSettings, read_settings

SETTINGS = WorkspaceSettings(
    "shop/photos",
    "shop/photos",
    columns=("image=file name",),
    values=("domain=wild",),
    seed=7,
    generated=True,
    database="postgresql://me@localhost/shop",
    added=(PhotoSource("more.csv", 'a "quoted" folder', role="gallery"),),
)


def test_what_is_written_is_read_again_with_a_comment_for_each_setting(tmp_path):
    SETTINGS.write(tmp_path)
    assert read_settings(tmp_path) == SETTINGS
    lines = (tmp_path / FILE).read_text().splitlines()
    for at, line in enumerate(lines):
        if " = " in line and not line.startswith("#"):
            assert lines[at - 1].startswith("# ")
    assert tomllib.loads("\n".join(lines))["added"][0]["photos"] == 'a "quoted" folder'


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("seed = 7", 'seed = "zero"', ("seed", "'zero'", "integer")),
        ("seed = 7", "seed = true", ("seed", "True", "integer")),
        ("seed = 7", "seed = -4", ("seed", "-4", "0")),
        ("seed = 7", "seed = 1979-05-27", ("seed", "1979-05-27")),
        ("max_megapixels = 100.0", "max_megapixels = nan", ("max_megapixels", "nan", "0")),
        ("max_megapixels = 100.0", 'max_megapixels = "3"', ("max_megapixels", "'3'")),
        ('role = ""', 'role = "boss"', ("role", "'boss'", "gallery")),
        ('role = "gallery"', 'role = "boss"', ("added.0.role", "'boss'")),
        ('["domain=wild"]', '["wild"]', ("values.0", "'wild'", "name=value")),
        ('["domain=wild"]', "[3]", ("values.0", "3")),
        ("generated = true", "generated = 1", ("generated", "1")),
        ("generated = true", "colour = 3", ("'colour'", "seed")),
        ("seed = 7", "phot = 1", ("'phot'",)),
        ('photos = "shop/photos"', "", ("'photos'",)),
        ("photos =", "photos", ("TOML",)),
        ("format = 3", "", ("format",)),
        ("format = 3", "format = 'three'", ("format", "'three'")),
    ],
)
def test_a_wrong_value_is_refused_by_name_value_and_rule(tmp_path, old, new, named):
    SETTINGS.write(tmp_path)
    content = (tmp_path / FILE).read_text()
    assert old in content
    (tmp_path / FILE).write_text(content.replace(old, new, 1))
    with pytest.raises(WorkspaceError) as refused:
        read_settings(tmp_path)
    assert all(word in f"{refused.value.problem} {refused.value.fix}" for word in named)


@pytest.mark.parametrize(
    ("version", "way_out"), [(0, "labels export"), (FORMAT - 1, "labels export"), (FORMAT + 1, "pip install")]
)
def test_a_folder_of_another_format_is_refused_with_a_way_out(tmp_path, version, way_out):
    SETTINGS.write(tmp_path)
    content = (tmp_path / FILE).read_text().replace(f"format = {FORMAT}", f"format = {version}")
    (tmp_path / FILE).write_text(content + "\nunknown = 1\n")
    with pytest.raises(WorkspaceError, match=f"format {version}") as refused:
        read_settings(tmp_path)
    assert way_out in refused.value.fix
    assert (tmp_path / FILE).read_text() == content + "\nunknown = 1\n"


def test_a_folder_without_the_file_is_not_a_workspace(tmp_path):
    with pytest.raises(WorkspaceError, match=FILE):
        read_settings(tmp_path)
