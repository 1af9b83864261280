"""Workspaces that earlier versions wrote are opened, brought to this format, and lose nothing."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pytest

from lookalike.encode import descriptor
from lookalike.recipes.embed import embed
from lookalike.recipes.evaluate import evaluate
from lookalike.store import upgrade
from lookalike.store.database import VERSION
from lookalike.store.settings import FORMAT, read_settings
from lookalike.store.workspace import Workspace

WRITTEN = Path(__file__).parent / "workspaces"


@pytest.fixture
def folder(tmp_path) -> Path:
    """A workspace of format 1: 12 photos, two encoders, a pool of 37 pairs, 37 labels."""
    with zipfile.ZipFile(WRITTEN / "format-1.zip") as packed:
        packed.extractall(tmp_path)
    return tmp_path


def test_a_workspace_of_format_1_opens_with_all_it_held(folder):
    old = np.load(folder / "embeddings/hog/vectors.npy")
    workspace = Workspace(folder)
    assert (read_settings(folder).format, workspace.database.version()) == (FORMAT, VERSION)
    assert len(workspace.catalog) == 12
    assert workspace.encoders == ["color", "hog"]
    assert (workspace.embeddings("hog").vectors == old).all()
    assert len(workspace.pool()) == 37
    assert workspace.label_count() == 37
    assert len(evaluate(workspace, ["color", "hog"], ["DCS"]).scores) == 2


def test_its_vectors_are_not_computed_again(folder, monkeypatch):
    workspace = Workspace(folder)
    monkeypatch.setattr(descriptor, "SIDE", 8)  # a computed vector would be another one
    before = np.array(workspace.embeddings("color").vectors)
    monkeypatch.setattr(descriptor, "color", None)
    assert (embed(workspace, "descriptor:color", replace=True).vectors == before).all()


def test_a_migration_that_was_killed_runs_again(folder, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as killed:
        killed.setattr("lookalike.store.settings.write_file", stop)
        with pytest.raises(KeyboardInterrupt):
            Workspace(folder)
    assert read_settings(folder).format == 1
    assert Workspace(folder).embeddings("color").vectors.shape[0] == 12
    assert read_settings(folder).format == FORMAT


def test_damaged_and_stale_vectors_stay_what_they_are(folder):
    (folder / "embeddings/color/manifest.json").write_text("{")
    path = folder / "embeddings/hog/manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "images": "of another catalog"}))
    workspace = Workspace(folder)
    assert workspace.manifest("hog").precision == "float32"
    assert not (folder / "embeddings/hog/rows.npy").exists()


def test_there_is_a_step_for_every_earlier_format():
    assert sorted(upgrade.STEPS) == list(range(1, FORMAT))
    assert {path.stem for path in WRITTEN.glob("format-*.zip")} == {f"format-{n}" for n in range(1, FORMAT)}
