"""Other versions of Python on this machine."""

import shutil
import subprocess
from pathlib import Path


def interpreter(version: str) -> str | None:
    """A Python of a version like 3.12; None if this machine has none."""
    places = (
        shutil.which(f"python{version}"),
        *map(str, Path.home().glob(f".pyenv/versions/{version}.*/bin/python")),
    )
    for place in filter(None, places):
        asked = subprocess.run([place, "--version"], capture_output=True, text=True, check=False)
        if asked.stdout.startswith(f"Python {version}."):
            return place
    return None
