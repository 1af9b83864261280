"""Files of positiveness are streamed, and whole or not there: killed in the middle, on a full disk, on an error."""

import resource
import signal
import subprocess
import sys
import time

import numpy as np
import polars
import pytest

from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, StorageError
from lookalike.positive.distances import Block
from lookalike.positive.positiveness import Softness, weights
from lookalike.store.formats import soft_files
from lookalike.store.formats.soft_files import SoftFile

NAMES = strings(['a,"comma"', "b", "007", "ü 1.jpg"])
BLOCKS = [
    Block(np.array([0, 0], np.int32), np.array([1, 2], np.int32), np.array([1, 2], np.uint8)),
    Block(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.uint8)),
    Block(np.array([2], np.int32), np.array([3], np.int32), np.array([7], np.uint8)),
]
WRITING = """
import itertools, resource, signal, sys
import numpy as np
from pathlib import Path
from lookalike.core.checks import strings
from lookalike.core.errors import StorageError
from lookalike.positive.distances import Block
from lookalike.store.formats.soft_files import SoftFile
if len(sys.argv) > 2:
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
random = np.random.default_rng(0)
def blocks():
    for _ in itertools.count():
        a, b = random.integers(0, 9000, (2, 100_000)).astype(np.int32)
        yield Block(a, b, random.integers(0, 255, 100_000).astype(np.uint8))
weight = random.random(256).astype(np.float32)
try:
    SoftFile(strings(f"photo {i}" for i in range(9000)), weight).write(blocks(), Path(sys.argv[1]))
except StorageError as error:
    print(error.problem)
"""
ENDINGS = ("csv", "parquet")


def soft_file() -> SoftFile:
    """What writes the rows above."""
    return SoftFile(NAMES, weights(Softness(beta=0.7, max_distance=7)))


def read(path) -> polars.DataFrame:
    """A file's rows."""
    if path.suffix == ".csv":
        return polars.read_csv(path, schema_overrides={"image_a": polars.String, "image_b": polars.String})
    return polars.read_parquet(path)


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("group", [1, 2, 1_000_000])
def test_rows_come_in_their_order_for_any_blocks(tmp_path, monkeypatch, ending, group):
    monkeypatch.setattr(soft_files, "GROUP", group)
    path = tmp_path / f"soft.{ending}"
    assert soft_file().write(iter(BLOCKS), path) == [0, 1, 1, 0, 0, 0, 0, 1]
    found = read(path)
    assert found.columns == ["image_a", "image_b", "positiveness", "distance"]
    assert found["image_a"].to_list() == ['a,"comma"', 'a,"comma"', "007"]
    assert found["image_b"].to_list() == ["b", "007", "ü 1.jpg"]
    assert np.allclose(found["positiveness"], [1, np.exp(-1.4), np.exp(-4.9)], rtol=1e-6)
    assert found["distance"].to_list() == [1, 2, 7]


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_file_without_rows_has_its_columns(tmp_path, ending):
    path = tmp_path / f"soft.{ending}"
    assert soft_file().write(iter([]), path) == []
    assert (read(path).columns, len(read(path))) == (["image_a", "image_b", "positiveness", "distance"], 0)


def test_a_row_of_csv_has_the_estimated_length(tmp_path):
    path = tmp_path / "soft.csv"
    soft_file().write(iter(BLOCKS[:1]), path)
    assert soft_file().bytes_per_row(BLOCKS[0], path) * 2 == path.stat().st_size


def test_another_ending_is_refused_before_anything_is_done(tmp_path):
    def none():
        pytest.fail("no block is wanted")
        yield

    with pytest.raises(ArgumentError, match=r"soft\.json"):
        soft_file().write(none(), tmp_path / "soft.json")


@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("error", [KeyboardInterrupt, OSError(28, "No space left on device"), MemoryError])
def test_an_error_in_the_middle_leaves_what_was_there(tmp_path, ending, error):
    path = tmp_path / f"soft.{ending}"
    path.write_text("before")

    def blocks():
        yield from BLOCKS
        raise error

    with pytest.raises((KeyboardInterrupt, MemoryError, StorageError)):
        soft_file().write(blocks(), path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert path.read_text() == "before"


@pytest.mark.parametrize("ending", ENDINGS)
def test_killed_in_the_middle_what_was_there_stays_and_the_rest_is_swept_up(tmp_path, ending):
    path = tmp_path / f"soft.{ending}"
    path.write_text("before")
    process = subprocess.Popen([sys.executable, "-c", WRITING, str(path)])
    half = tmp_path / f".{path.name}.{process.pid}.new"
    while not (half.exists() and half.stat().st_size > 1_000_000):
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert path.read_text() == "before"
    assert half.exists()
    soft_file().write(iter(BLOCKS), path)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]
    assert len(read(path)) == 3


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_disk_that_takes_no_more_is_an_error_in_words(tmp_path, ending):
    path = tmp_path / f"soft.{ending}"
    done = subprocess.run(
        [sys.executable, "-c", WRITING, str(path), "limited"], capture_output=True, text=True, check=True
    )
    assert "disk is full" in done.stdout
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_memory_does_not_grow_with_the_file(tmp_path):
    """8 million rows pass through; all of them would be 72 MB as columns of numbers alone, and 500 MB as names."""
    random = np.random.default_rng(0)
    a, b = random.integers(0, 4, (2, 500_000)).astype(np.int32)
    block = Block(a, b, random.integers(0, 7, 500_000).astype(np.uint8))
    for ending in ENDINGS:
        soft_file().write([block] * 4, tmp_path / f"small.{ending}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for ending in ENDINGS:
        assert sum(soft_file().write([block] * 16, tmp_path / f"large.{ending}")) == 8_000_000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 150 * 1024
