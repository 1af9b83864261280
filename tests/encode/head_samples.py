"""Heads with made-up parameters and folders that hold them, for tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lookalike.core.types import Origin
from lookalike.encode.heads.head import Head
from lookalike.encode.sources.checkpoint import head_files

LEARNED = {"loss": "supcon", "temperature": 0.1}


def keep(folder: Path, base: Origin, head: Head, learned: Mapping[str, Any] = LEARNED) -> Path:
    """A checkpoint folder of a head."""
    folder.mkdir(parents=True)
    for name, content in head_files(base, head, learned).items():
        (folder / name).write_bytes(content)
    return folder
