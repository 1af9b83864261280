"""Embedding that is killed goes on where it stood: finished shards are neither lost nor computed again."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.core.errors import EmbeddingsError
from lookalike.encode import run
from lookalike.recipes.embed import embed
from lookalike.recipes.init import init
from lookalike.store.arrays import JOURNAL, VECTORS

EMBED_AND_DIE = """
import os, signal, sys
from pathlib import Path
from lookalike.encode import run
from lookalike.recipes.embed import embed
from lookalike.store.workspace import Workspace
run.SHARD, photos, describe = 4, 0, run.describe
def counted(*arguments):
    global photos
    photos += 1
    if photos > int(sys.argv[2]):
        os.kill(os.getpid(), signal.SIGKILL)
    return describe(*arguments)
run.describe, run.cores = counted, None
import lookalike.recipes.embed as recipe
recipe.cores = lambda: 1
embed(Workspace(Path(sys.argv[1])), "descriptor:color")
"""


@pytest.fixture
def workspace(tmp_path, monkeypatch):
    """Twenty noisy photos."""
    monkeypatch.setattr(run, "SHARD", 4)
    (tmp_path / "photos").mkdir()
    for n in range(20):
        noise = np.random.default_rng(n).integers(0, 255, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / "photos" / f"{n:02d}.png")
    return init(tmp_path / "photos", tmp_path)[0]


@pytest.fixture
def described(monkeypatch) -> list[int]:
    """How many photos were described, one entry each."""
    calls: list[int] = []
    real = run.describe
    monkeypatch.setattr(run, "describe", lambda *a: (calls.append(1), real(*a))[1])
    return calls


def die_after(folder: Path, photos: int) -> None:
    done = subprocess.run([sys.executable, "-c", EMBED_AND_DIE, folder, str(photos)], check=False)
    assert done.returncode == -signal.SIGKILL


def partial(workspace) -> Path:
    return workspace.folder / "embeddings" / ".color.partial"


@pytest.mark.parametrize(("killed_after", "left"), [(3, 20), (4, 16), (13, 8), (19, 4)])
def test_a_killed_run_goes_on_after_its_last_finished_shard(workspace, described, killed_after, left):
    whole = np.array(embed(workspace, "descriptor:color", name="whole").vectors)
    described.clear()
    # Up to 64 photos are handed to the worker ahead; one worker describes them in order.
    die_after(workspace.folder, killed_after)
    assert "color" not in workspace.encoders
    assert (embed(workspace, "descriptor:color").vectors == whole).all()
    assert len(described) in (left, left + 4)  # the kill may come before the last shard was noted
    assert not partial(workspace).exists()
    assert not (workspace.folder / "embeddings/color" / JOURNAL).exists()


def test_a_shard_that_was_damaged_is_computed_again(workspace, described):
    die_after(workspace.folder, 13)
    with (partial(workspace) / VECTORS).open("r+b") as file:
        file.seek(200)
        file.write(b"\xff" * 64)
    embed(workspace, "descriptor:color")
    assert 12 <= len(described) <= 16
    assert np.isfinite(workspace.embeddings("color").vectors).all()


def test_a_half_written_line_is_no_finished_shard(workspace, described):
    die_after(workspace.folder, 13)
    journal = partial(workspace) / JOURNAL
    journal.write_text(journal.read_text()[:-10])
    embed(workspace, "descriptor:color")
    assert len(described) == 12


def test_another_encoder_under_the_name_begins_anew(workspace, described):
    die_after(workspace.folder, 13)
    made = embed(workspace, "descriptor:layout", name="color")
    assert len(described) == 20
    assert made.spec == "descriptor:layout"


def test_a_photo_changed_since_init_is_named_and_the_rest_is_kept(workspace, described):
    changed = workspace.folder / "photos/13.png"
    content = changed.read_bytes()
    Image.new("RGB", (24, 24)).save(changed)
    with pytest.raises(EmbeddingsError, match=r"1 changed since the catalog was made: '13.png'"):
        embed(workspace, "descriptor:color")
    changed.write_bytes(content)
    described.clear()
    embed(workspace, "descriptor:color")
    assert len(described) == 4


def test_the_manifest_says_what_made_the_vectors(workspace):
    embed(workspace, "descriptor:color")
    said = json.loads((workspace.folder / "embeddings/color/manifest.json").read_text())
    assert (said["spec"], said["rows"], said["dimension"]) == ("descriptor:color", 20, 486)
    assert "white square" in said["preprocessing"]
