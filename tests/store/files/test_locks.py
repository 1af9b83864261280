"""Locks: one command at a time, free again the moment it ends, however it ends."""

import subprocess
import sys

import pytest

from lookalike.core.errors import WorkspaceError
from lookalike.store.disk import lock


def test_a_second_command_is_refused_with_the_running_process(tmp_path):
    with (
        lock(tmp_path, "vectors", "embed color"),
        pytest.raises(WorkspaceError, match="embed color, process"),
        lock(tmp_path, "vectors", "embed hog"),
    ):
        pass


FORKS = """
import os, signal, sys, time
from pathlib import Path
from lookalike.store.disk import lock

folder, child = Path(sys.argv[1]), 0
try:
    with lock(folder, "vectors", "embed color"):
        child = os.fork()
        if child == 0:
            time.sleep(60)
            os._exit(0)
        if sys.argv[2] == "fails":
            raise RuntimeError
except RuntimeError:
    pass
try:
    with lock(folder, "vectors", "embed color"):
        print("free")
finally:
    os.kill(child, signal.SIGKILL)
"""


@pytest.mark.parametrize("how", ["ends", "fails"])
def test_a_child_that_holds_a_copy_of_the_handle_does_not_keep_the_lock(tmp_path, how):
    """Between fork and exec a worker process holds every handle of its parent."""
    command = [sys.executable, "-c", FORKS, str(tmp_path), how]
    assert subprocess.run(command, check=False, capture_output=True, text=True, timeout=60).stdout == "free\n"
