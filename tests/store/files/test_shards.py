"""A killed embedding run resumes: finished shards are neither lost nor computed again."""

import json
import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from lookalike.core.errors import EmbeddingsError
from lookalike.encode import run
from lookalike.encode.inputs import workers
from lookalike.encode.sources import descriptor
from lookalike.store.vectors.arrays import JOURNAL, VECTORS
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init

EMBED_AND_DIE = """
import os, signal, sys
from pathlib import Path
from lookalike.encode import run
from lookalike.workflows.start.embed import embed
from lookalike.store.vectors import arrays
from lookalike.store.workspace import Workspace
run.SHARD, shards, note = 4, 0, arrays.Shards._note
def counted(*arguments):
    global shards
    if shards == int(sys.argv[2]):  # the vectors of one more shard are written, but not yet noted
        os.kill(os.getpid(), signal.SIGKILL)
    shards += 1
    note(*arguments)
arrays.Shards._note = counted
embed(Workspace(Path(sys.argv[1])), "descriptor:color", workers=1)
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
    """How many photos were described, one entry each; the blank one that determines the dimension is not counted."""
    calls: list[int] = []
    real = descriptor.describe

    def counted(photo, parts):
        if photo.size == (24, 24):
            calls.append(1)
        return real(photo, parts)

    monkeypatch.setattr(descriptor, "describe", counted)
    return calls


def die_after(folder: Path, shards: int) -> None:
    done = subprocess.run([sys.executable, "-c", EMBED_AND_DIE, folder, str(shards)], check=False)
    assert done.returncode == -signal.SIGKILL


def partial(workspace) -> Path:
    return workspace.folder / "embeddings" / ".color.partial"


@pytest.mark.parametrize("shards", [0, 1, 3, 4])
def test_a_killed_run_resumes_after_its_last_finished_shard(workspace, described, shards):
    whole = np.array(embed(workspace, "descriptor:color", name="whole").vectors)
    described.clear()
    die_after(workspace.folder, shards)
    assert "color" not in workspace.encoders
    assert (embed(workspace, "descriptor:color").vectors == whole).all()
    assert len(described) == 20 - 4 * shards
    assert not partial(workspace).exists()
    assert not (workspace.folder / "embeddings/color" / JOURNAL).exists()


def test_a_shard_that_was_damaged_is_computed_again(workspace, described):
    die_after(workspace.folder, 3)
    with (partial(workspace) / VECTORS).open("r+b") as file:
        file.seek(200)
        file.write(b"\xff" * 64)
    embed(workspace, "descriptor:color")
    assert len(described) == 20 - 4 * 3 + 4
    assert np.isfinite(workspace.embeddings("color").vectors).all()


def test_a_half_written_line_is_no_finished_shard(workspace, described):
    die_after(workspace.folder, 3)
    journal = partial(workspace) / JOURNAL
    journal.write_text(journal.read_text()[:-10])
    embed(workspace, "descriptor:color")
    assert len(described) == 20 - 4 * 3 + 4


def test_another_encoder_under_the_name_begins_anew(workspace, described):
    die_after(workspace.folder, 3)
    made = embed(workspace, "descriptor:layout", name="color")
    assert len(described) == 20
    assert made.spec == "descriptor:layout"


def test_a_photo_changed_since_init_is_named_and_the_rest_is_kept(workspace, described):
    changed = workspace.folder / "photos/13.png"
    content = changed.read_bytes()
    Image.new("RGB", (24, 24)).save(changed)
    with pytest.raises(EmbeddingsError, match=r"1 changed since .*: '13\.png'"):
        embed(workspace, "descriptor:color")
    changed.write_bytes(content)
    described.clear()
    embed(workspace, "descriptor:color")
    assert len(described) == 4


def test_the_manifest_records_the_origin_of_the_vectors(workspace):
    embed(workspace, "descriptor:color")
    record = json.loads((workspace.folder / "embeddings/color/manifest.json").read_text())
    assert (record["spec"], record["rows"], record["dimension"]) == ("descriptor:color", 20, 486)
    assert "white square" in record["preprocessing"]


def test_rows_of_photos_that_did_not_change_are_copied(workspace, described):
    before = np.array(embed(workspace, "descriptor:color").vectors)
    Image.new("RGB", (24, 24), "red").save(workspace.folder / "photos/07.png")
    (workspace.folder / "photos/11.png").unlink()
    again, _ = init(workspace.folder / "photos", workspace.folder / "other")
    shutil.copytree(workspace.folder / "embeddings/color", again.folder / "embeddings/color")
    described.clear()
    after = embed(again, "descriptor:color").vectors
    assert len(described) == 1
    kept = [row for row in range(20) if row not in (7, 11)]
    assert (np.delete(after, 7, axis=0) == before[kept]).all()
    assert not (after[7] == before[7]).all()


def test_worker_processes_and_threads_give_the_same_vectors(tmp_path, monkeypatch):
    (tmp_path / "photos").mkdir()
    for n in range(40):
        noise = np.random.default_rng(n).integers(0, 255, (24, 24, 3), dtype=np.uint8)
        Image.fromarray(noise).save(tmp_path / "photos" / f"{n:02d}.png")
    workspace = init(tmp_path / "photos", tmp_path)[0]
    threads = np.array(embed(workspace, "descriptor:color+hog", name="threads").vectors)
    monkeypatch.setattr(workers, "FEW", 0)
    processes = embed(workspace, "descriptor:color+hog", name="processes", workers=2).vectors
    assert (processes == threads).all()


def test_a_worker_that_is_killed_is_an_error_with_a_way_out(tmp_path, monkeypatch):
    (tmp_path / "photos").mkdir()
    for n in range(20):
        Image.new("RGB", (24, 24), (n, 9, 9)).save(tmp_path / "photos" / f"{n:02d}.png")
    workspace = init(tmp_path / "photos", tmp_path)[0]
    monkeypatch.setattr(workers, "FEW", 0)
    monkeypatch.setattr(descriptor, "Describe", DiesAtWork)
    with pytest.raises(EmbeddingsError, match="worker process"):
        embed(workspace, "descriptor:color", workers=2)
    monkeypatch.undo()
    assert embed(workspace, "descriptor:color").vectors.shape == (20, 486)


class DiesAtWork(descriptor.Describe):
    """Kills the process that it works in, unless that is the one the test runs in."""

    def __call__(self, photo):
        if multiprocessing.current_process().name != "MainProcess" and photo.size == (24, 24):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().__call__(photo)
