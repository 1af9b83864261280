"""Shared by all tests: how many examples hypothesis tries, and the same ones on every run.

`pytest --hypothesis-profile=deep` tries fresh random examples, many more of them.
"""

import os

from hypothesis import HealthCheck, settings

pytest_plugins = ["databases"]

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "quick", max_examples=25, deadline=None, derandomize=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile("deep", max_examples=500, deadline=None, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("quick")


def pytest_xdist_auto_num_workers() -> int:
    """Two workers per processor: about half of the suite's time is spent waiting for servers, disks and commands."""
    return 2 * (os.cpu_count() or 1)
