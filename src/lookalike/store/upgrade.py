"""Folders of earlier formats brought to this one, step by step. What a step writes is whole or not there."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from lookalike.core.types import Catalog
from lookalike.store.arrays import MANIFEST, ROWS, file_sum, images_fingerprint, row_keys
from lookalike.store.disk import disk_errors, lock, write_file
from lookalike.store.settings import FORMAT, Settings


def upgrade(folder: Path, settings: Settings, catalog: Callable[[], Catalog]) -> Settings:
    """Run the steps that are missing. The settings file says which are done, after each: a killed one runs again."""
    if settings.format == FORMAT:
        return settings
    with lock(folder, "format", "migrating the workspace"), disk_errors("migrating the workspace", folder):
        for step in range(settings.format, FORMAT):
            STEPS[step](folder, catalog())
            settings = replace(settings, format=step + 1)
            settings.write(folder)
    return settings


def _to_2(folder: Path, catalog: Catalog) -> None:
    """Manifests name weights and precision, and each row's content is kept, so that unchanged rows are not redone."""
    for path in (folder / "embeddings").glob(f"[!.]*/{MANIFEST}"):
        try:
            had = json.loads(path.read_text(encoding="utf-8"))
            fresh = had["images"] == images_fingerprint(catalog)
        except (OSError, ValueError, KeyError, TypeError):
            continue  # damaged then, damaged now: `status` says so
        new = {"weights": "", "precision": "float32", **had}
        if fresh:
            np.save(path.parent / ROWS, row_keys(catalog, had["spec"]))
            new["rows_sum"] = file_sum(path.parent / ROWS)
        write_file(path, (json.dumps(new, indent=2) + "\n").encode())


STEPS: Mapping[int, Callable[[Path, Catalog], None]] = MappingProxyType({1: _to_2})
