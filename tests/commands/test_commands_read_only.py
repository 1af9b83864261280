"""A workspace that cannot be written to: reading commands work, others are refused with a sentence, nothing changes."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

EARLIER = Path(__file__).parent / "start/earlier/1000.tar.xz"
MODES = {True: 0o555, False: 0o444}
READING = (
    ("status",),
    ("evaluate",),
    ("audit",),
    ("search", "bowl/000/1.png", "--encoder", "color"),
    ("labels", "stats"),
    ("labels", "export", "../labels.csv"),
    ("discover", "--pairs", "../pairs.csv"),
    ("users", "list"),
    ("doctor",),
    ("backup", "../kept.db"),
    ("report", "--output", "../report.html"),
)
WRITING = (
    ("report",),
    ("embed", "descriptor:lbp"),
    ("discover", "--overwrite", "--generators", "color", "--top", "2"),
    ("labels", "import", "labels.csv", "--replace"),
    ("labels", "export", "again.csv"),
    ("users", "add", "ada", "--role", "lead", "--invite"),
    ("catalog", "refresh"),
    ("catalog", "remove", "bowl/000/1.png"),
    ("index", "color"),
    ("promote", "color"),
    ("pca", "color", "--name", "small"),
    ("serve", "--port", "0"),
    ("restore", "../kept.db", "--overwrite"),
)


@pytest.fixture
def protect(lookalike, monkeypatch, tmp_path):
    """Make a folder read-only and enter it: by its mode, or for root, whom no mode stops, by a mount."""
    mounted = []

    def enter(folder: Path) -> Path:
        shown = folder
        if os.geteuid():
            for path in (*folder.rglob("*"), folder):
                path.chmod(MODES[path.is_dir()])
        else:
            shown = tmp_path / "shown"
            shown.mkdir()
            for options in (("--bind", folder, shown), ("-o", "remount,ro,bind", shown)):
                done = subprocess.run(["mount", *options], capture_output=True, text=True, check=False)
                if done.returncode:
                    pytest.skip(
                        f"root may write to every folder, and cannot mount one: {done.stderr.strip()}"
                    )
                mounted[:] = [shown]
        monkeypatch.chdir(shown)
        return shown

    yield enter
    monkeypatch.chdir(tmp_path)
    for place in mounted:
        subprocess.run(["umount", place], check=True)
    for path in (tmp_path, *tmp_path.rglob("*")):
        path.chmod(0o755)


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def shop(protect, labelled, tmp_path) -> Path:
    """A labelled workspace in a folder that cannot be written to, which is the current one."""
    inside = tmp_path / "inside"
    inside.mkdir()
    for path in [path for path in tmp_path.iterdir() if path != inside]:
        path.rename(inside / path.name)
    return protect(inside)


def test_reading_commands_work(lookalike, shop):
    before = content(shop)
    for words in READING:
        done = lookalike(*words)
        assert done.status == 0, (words, done)
    assert content(shop) == before


def test_writing_commands_are_refused_and_say_what_failed(lookalike, shop, photos):
    before = content(shop)
    assert lookalike("backup", "../kept.db").status == 0
    for words in (*WRITING, ("init", photos, "--overwrite")):
        done = lookalike(*words)
        assert done.status == 1, (words, done)
        problem, *fix = done.err.removeprefix("Error: ").splitlines()
        assert any(word in done.err for word in ("ead-only", "readonly", "ermission denied")), words
        assert problem, words
        assert fix, words
    assert "--output FILE" in lookalike("report").err
    assert content(shop) == before


def test_a_workspace_of_an_earlier_version_names_the_upgrade_and_the_way_out(lookalike, protect, tmp_path):
    (tmp_path / "old").mkdir()
    with tarfile.open(EARLIER) as archive:
        archive.extractall(tmp_path / "old", filter="data")
    old = protect(tmp_path / "old")
    before = content(old)
    for words in (("status",), ("evaluate",), ("labels", "stats")):
        done = lookalike(*words)
        assert done.status == 1
        assert "must be upgraded (database version 1000 to" in " ".join(done.err.split())
        assert "copy the workspace" in " ".join(done.err.split())
    assert content(old) == before
