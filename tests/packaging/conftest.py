"""What the tests of packages share: the registry that they install from."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def registry(tmp_path_factory) -> None:
    """The package registry answers. Tests that install packages are skipped where it does not."""
    words = ("--no-deps", "--retries", "0", "--timeout", "20", "--dest", "asked", "hatchling")
    asked = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", *words],
        cwd=tmp_path_factory.mktemp("registry"),
        capture_output=True,
        text=True,
        check=False,
    )
    if asked.returncode:
        pytest.skip(f"the package registry cannot be reached: {asked.stderr.strip().splitlines()[-1]}")


@pytest.fixture(autouse=True)
def uncompiled(monkeypatch):
    """Compiling all that is installed takes a third of the time of these tests, and they need little of it."""
    monkeypatch.setenv("PIP_COMPILE", "0")
