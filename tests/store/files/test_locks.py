"""Locks: one command at a time, free again the moment it ends, however it ends."""

import os
import signal
import time

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


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("fails", [False, True])
def test_a_child_that_holds_a_copy_of_the_handle_does_not_keep_the_lock(tmp_path, fails):
    """Between fork and exec a worker process holds every handle of its parent."""
    child = 0
    try:
        with lock(tmp_path, "vectors", "embed color"):
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            if fails:
                raise RuntimeError
    except RuntimeError:
        pass
    try:
        with lock(tmp_path, "vectors", "embed color"):
            pass
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
