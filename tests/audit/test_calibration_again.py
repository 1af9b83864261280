"""The code still makes what the shipped calibration holds: its check pool is simulated again."""

from contextlib import nullcontext

import pytest

from lookalike.audit.trust import calibration
from lookalike.research.bias.calibrate import first_pool
from lookalike.research.bias.run import check_pool


@pytest.mark.slow
def test_the_check_pool_comes_out_the_same():
    table = calibration()
    pool = check_pool(lambda doing: nullcontext(None))
    assert list(pool.encoders) == table["made"]["encoders"]
    again = first_pool(pool)
    assert set(again) == set(table["check"])
    for measure, counts in table["check"].items():
        # the last bits of a processor may decide a pair that nearly ties
        assert again[measure] == pytest.approx(counts, abs=2), measure
