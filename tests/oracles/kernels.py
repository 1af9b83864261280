"""Run a program with another matrix product than this machine's: rounding differs between processors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def has_avx2() -> bool:
    info = Path("/proc/cpuinfo")
    return info.exists() and "avx2" in info.read_text()


def on_another_kernel(program: str) -> str:
    """Run a program with the product kernels of most desktops and AMD servers (OpenBLAS: Haswell)."""
    environment = os.environ | {"OPENBLAS_CORETYPE": "Haswell", "PYTHONPATH": str(Path(__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


needs_avx2 = pytest.mark.skipif(not has_avx2(), reason="the kernel needs AVX2")
