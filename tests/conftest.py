"""Shared by all tests: how many examples hypothesis tries, and the same ones on every run.

`pytest --hypothesis-profile=deep` tries fresh random examples, many more of them.
"""

from hypothesis import HealthCheck, settings

pytest_plugins = ["databases"]

SLOW_IS_FINE = (HealthCheck.too_slow, HealthCheck.data_too_large)

settings.register_profile(
    "quick", max_examples=25, deadline=None, derandomize=True, suppress_health_check=SLOW_IS_FINE
)
settings.register_profile("deep", max_examples=500, deadline=None, suppress_health_check=SLOW_IS_FINE)
settings.load_profile("quick")
