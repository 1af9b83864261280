"""Photos are decoded by threads if they are few or one worker is asked for, else by processes."""

import os

import pytest

from lookalike.encode.inputs.workers import FEW, workers


@pytest.mark.parametrize(
    ("count", "photos", "in_processes", "own"),
    [(2, FEW - 1, False, True), (1, FEW, False, True), (2, FEW, False, False), (1, FEW - 1, True, False)],
)
def test_one_worker_or_few_photos_need_no_other_process(count, photos, in_processes, own):
    with workers(count, photos, in_processes=in_processes) as pool:
        found = {pool.submit(os.getpid).result() for _ in range(4)}
    assert (found == {os.getpid()}) == own
