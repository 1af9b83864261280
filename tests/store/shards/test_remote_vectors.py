"""Vectors at a place: rows by ranges, from a folder and an object store, and the refusal of what is no whole file."""

import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from object_store import object_store, upload
from PIL import Image

from lookalike.core.errors import EmbeddingsError
from lookalike.store.shards.places import Folder, Place, place_at
from lookalike.store.vectors import remote
from lookalike.store.vectors.remote import RemoteVectors
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init

ROWS, DIMENSION = 40, 5
WIDTH = 4 * DIMENSION


@pytest.fixture(scope="module")
def written(tmp_path_factory) -> Path:
    """The folder of an encoder, as Lookalike writes it."""
    folder = tmp_path_factory.mktemp("shop")
    (folder / "photos").mkdir()
    for n in range(ROWS):
        Image.new("RGB", (8, 8), (n, 0, 0)).save(folder / "photos" / f"{n:02d}.png")
    vectors = np.random.default_rng(1).normal(size=(ROWS, DIMENSION)).astype(np.float32)
    np.save(folder / "mine.npy", vectors)
    embed(init(folder / "photos", folder)[0], f"precomputed:{folder}/mine.npy")
    return folder / "embeddings/mine"


@pytest.fixture(params=["folder", "s3"])
def place(request, written, monkeypatch):
    if request.param == "folder":
        yield place_at(str(written))
        return
    with object_store(monkeypatch) as bucket:
        upload(written, f"{bucket}/embeddings/mine")
        yield place_at(f"{bucket}/embeddings/mine")


def vectors_in(folder: Path) -> np.ndarray:
    return np.load(folder / "vectors.npy")


class Noted(Folder):
    """A folder that notes the ranges that were read of its vectors, and answers with fewer bytes if told."""

    def __init__(self, path: Path, lost: int = 0) -> None:
        super().__init__(path)
        self.ranges: list[tuple[int, int]] = []
        self.lost = lost

    def read(self, name: str, first: int, last: int) -> bytes:
        if name == "vectors.npy" and first:
            self.ranges.append((first, last))
            last -= self.lost
        return super().read(name, first, last)


@pytest.mark.parametrize("rows", [[], [0], [39, 0, 7, 7, 8], list(range(40)), [3, 4, 5, 30, 31, 2]])
def test_rows_come_in_the_order_that_is_asked_for(place: Place, written, rows):
    found = RemoteVectors.at(place)
    assert (found.manifest.rows, found.manifest.dimension) == (ROWS, DIMENSION)
    read = found.read(np.array(rows, np.int64))
    assert (read.dtype, read.shape) == (np.float32, (len(rows), DIMENSION))
    assert (read == vectors_in(written)[rows]).all()


@given(
    rows=st.lists(st.integers(0, ROWS - 1), max_size=60),
    most=st.integers(1, 12 * WIDTH),
    gap=st.integers(0, 6 * WIDTH),
)
def test_ranges_are_few_small_and_enough(written, rows, most, gap):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remote, "READ", most)
        patch.setattr(remote, "GAP", gap)
        noted = Noted(written)
        found = RemoteVectors.at(noted)
        assert (found.read(np.array(rows, np.int64)) == vectors_in(written)[rows]).all()
    ranges = sorted(noted.ranges)
    assert all(last - first <= max(most, WIDTH) for first, last in ranges)
    assert all(one[1] <= two[0] for one, two in pairwise(ranges))  # no byte is read twice
    wanted, fits = sorted(set(rows)), max(most // WIDTH, 1)
    expected = 0  # runs, each cut into ranges of `fits` rows from its first on
    for at, row in enumerate(wanted):
        if not at or (row - wanted[at - 1] - 1) * WIDTH > gap:
            begin = row
        expected += not at or begin == row or (row - begin) // fits != (wanted[at - 1] - begin) // fits
    assert len(ranges) == expected


def test_neighbours_are_one_range_and_rows_far_apart_are_two(written, monkeypatch):
    monkeypatch.setattr(remote, "GAP", 2 * WIDTH)
    noted = Noted(written)
    found = RemoteVectors.at(noted)
    found.read(np.array([10, 11, 14, 20]))
    assert noted.ranges == [
        (found.first + 10 * WIDTH, found.first + 15 * WIDTH),
        (found.first + 20 * WIDTH, found.first + 21 * WIDTH),
    ]


def test_progress_counts_rows(written, monkeypatch):
    monkeypatch.setattr(remote, "READ", 16 * WIDTH)
    steps = []
    RemoteVectors.at(Folder(written)).read(np.arange(ROWS), lambda done, total: steps.append((done, total)))
    assert steps == [(16, 40), (32, 40), (40, 40)]


@pytest.mark.parametrize("rows", [[40], [-1, 3]])
def test_rows_that_are_not_there(place: Place, rows):
    with pytest.raises(EmbeddingsError, match="have 40 rows"):
        RemoteVectors.at(place).read(np.array(rows))


def test_no_vectors(tmp_path, monkeypatch):
    with pytest.raises(EmbeddingsError, match=r"no manifest\.json"):
        RemoteVectors.at(Folder(tmp_path / "nothing"))
    with (
        object_store(monkeypatch) as bucket,
        pytest.raises(EmbeddingsError, match=f"no vectors at {bucket}/x"),
    ):
        RemoteVectors.at(place_at(f"{bucket}/x"))


def shorten(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def other_header(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"'shape': (40, 5)", b"'shape': (40, (]"))


def as_double(path: Path) -> None:
    np.save(path, np.load(path).astype(np.float64))


def by_columns(path: Path) -> None:
    np.save(path, np.asfortranarray(np.load(path)))


def fewer_rows(path: Path) -> None:
    np.save(path, np.load(path)[:39])


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (shorten, r"vectors\.npy has 927 bytes, and its header says 928"),
        (other_header, r"the header of vectors\.npy cannot be read"),
        (lambda path: path.write_bytes(b""), r"the header of vectors\.npy cannot be read"),
        (
            lambda path: path.write_bytes(path.read_bytes()[:100]),
            r"the header of vectors\.npy cannot be read",
        ),
        (as_double, r"not the file of manifest\.json"),
        (by_columns, r"not the file of manifest\.json"),
        (fewer_rows, r"not the file of manifest\.json"),
        (Path.unlink, r"it has no vectors\.npy"),
        (lambda path: path.with_name("manifest.json").write_text("{"), r"manifest\.json cannot be read"),
        (lambda path: path.with_name("manifest.json").write_bytes(b"\xff"), r"manifest\.json cannot be read"),
    ],
)
def test_what_is_no_whole_file_is_refused(written, tmp_path, damage, problem):
    folder = shutil.copytree(written, tmp_path / "copy")
    damage(folder / "vectors.npy")
    with pytest.raises(EmbeddingsError, match=problem) as refused:
        RemoteVectors.at(Folder(folder))
    assert "Copy the encoder's folder there again" in refused.value.fix


def test_a_file_that_gets_shorter_is_refused(written):
    found = RemoteVectors.at(Noted(written, lost=1))
    with pytest.raises(EmbeddingsError, match="shorter than its header says"):
        found.read(np.arange(3))


def test_the_manifest_identifies_the_vectors(place: Place, written):
    assert RemoteVectors.at(place).manifest.sum == json.loads((written / "manifest.json").read_text())["sum"]
