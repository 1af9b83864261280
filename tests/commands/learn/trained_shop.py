"""A workspace of vectors with a head on one encoder, as if it had been trained on the workspace's labels."""

from pathlib import Path
from typing import Any

import numpy as np

from lookalike.catalog.read import catalog_from
from lookalike.core.types import Labels, Origin
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.encode.sources.checkpoint import head_files
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.embed import embed

IMAGES, WIDE = 48, 8
ENCODERS = ("plain", "other", "third")
LEARNED: dict[str, Any] = {
    "settings": {"loss": "supcon", "soft": {"beta": 0.7, "max_distance": 7}, "measure": "DCS(alpha=10)"},
    "epochs": 30,
    "best": 12,
    "value": 0.71,
    "before": 0.6,
}


def split_of(number: int) -> str:
    """16 images to train on, 8 to validate, 24 to test."""
    return "train" if number < 16 else "validation" if number < 24 else "test"


def make_shop(folder: Path) -> Workspace:
    """Three encoders of 48 images in three kinds; similar means of one kind, and each query has eight labels."""
    random = np.random.default_rng(5)
    names = [f"i{number:02d}" for number in range(IMAGES)]
    kind = np.arange(IMAGES) % 3
    columns = {
        "image": names,
        "category": [f"kind{k}" for k in kind],
        "split": [split_of(number) for number in range(IMAGES)],
    }
    workspace = Workspace.create(folder, catalog_from(columns).catalog, WorkspaceSettings("memory", ""))
    for name in ENCODERS:
        vectors = random.normal(size=(IMAGES, WIDE)).astype(np.float32)
        vectors[np.arange(IMAGES), kind] += 1.5
        np.save(folder / f"{name}.npy", vectors)
        embed(workspace, f"precomputed:{folder}/{name}.npy", name=name)
    pairs = [(q, c) for q in range(IMAGES) for c in random.permutation(IMAGES)[:8] if c != q]
    query, candidate = np.array(pairs).T
    low, high = np.minimum(query, candidate), np.maximum(query, candidate)
    _, first = np.unique(low * IMAGES + high, return_index=True)
    named = np.array(names, object)
    label = (kind[query] == kind[candidate]).astype(np.int8)
    workspace.add_labels(Labels.of(named[query[first]], named[candidate[first]], label[first]), "test")
    return workspace


def keep_head(folder: Path, base: Origin, *, wide: int = WIDE, to: int = 6, learned: Any = LEARNED) -> None:
    """A head's folder."""
    folder.mkdir(parents=True)
    for name, content in head_files(base, ProjectionHead.seeded(wide, to, seed=3), learned).items():
        (folder / name).write_bytes(content)


def train_as_if(workspace: Workspace, name: str = "run-7", base: str = "plain", **about: Any) -> None:
    """Put a head on an encoder into models/ and make its vectors."""
    keep_head(workspace.folder / "models" / name, workspace.manifest(base).origin, **about)
    embed(workspace, f"checkpoint:{name}")
