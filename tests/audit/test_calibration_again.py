"""The shipped calibration is what the command makes: a part of it is made again."""

from contextlib import nullcontext

import pytest

from lookalike.audit.trust import calibration
from lookalike.research.bias.calibrate import first_pool
from lookalike.research.bias.run import studio_of
from lookalike.research.bias.simulate import simulate


@pytest.mark.slow
def test_the_first_pool_of_the_first_studio_comes_out_the_same():
    table = calibration()
    made = table["made"]
    world = studio_of(made["images"], made["seed"], lambda doing: nullcontext(None))
    assert list(world.encoders) == made["encoders"]
    again = first_pool(simulate(world, 1, made["seed"]))
    for measure, counts in table["first_pool"].items():
        assert again[measure] == pytest.approx(counts, abs=2), (
            measure
        )  # last bits may turn a pair that nearly ties
