"""Whole files: what a killed command left of one is gone once the file is written again."""

import os
import subprocess
import sys

from lookalike.store.disk import write_file


def test_leftovers_of_a_dead_process_go_and_those_of_a_living_one_stay(tmp_path):
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    dead = tmp_path / f".settings.toml.{ended.pid}.new"
    alive = tmp_path / f".settings.toml.{os.getppid()}.new"
    others = [tmp_path / f".other.toml.{ended.pid}.new", tmp_path / ".settings.toml.mine.new"]
    for path in (dead, alive, *others):
        path.write_bytes(b"half")
    write_file(tmp_path / "settings.toml", b"whole")
    assert (tmp_path / "settings.toml").read_bytes() == b"whole"
    assert not dead.exists()
    assert all(path.exists() for path in (alive, *others))
