"""A workspace with a small network whose photos can be read."""

from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import save_file

from lookalike.core.types import Labels
from lookalike.store.workspace import Workspace

NETWORK = "timm:test_resnet?weights=models/mine.safetensors&size=32"


@pytest.fixture
def network_shop(lookalike, photos, tmp_path) -> Path:
    """A workspace of 36 photos with labels by category, and vectors of a small network."""
    torch.manual_seed(1)
    (tmp_path / "models").mkdir()
    save_file(
        timm.create_model("test_resnet", num_classes=3).state_dict(), tmp_path / "models/mine.safetensors"
    )
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", NETWORK, "--name", "base").status == 0
    opened = Workspace(tmp_path)
    catalog = opened.catalog
    pairs = [
        (a, b)
        for a in range(len(catalog))
        for b in range(a + 1, len(catalog))
        if catalog.item[a] != catalog.item[b] and catalog.split[a] == catalog.split[b]
    ]
    ends = ([str(catalog.image[pair[end]]) for pair in pairs] for end in (0, 1))
    opened.add_labels(
        Labels.of(*ends, [catalog.category[a] == catalog.category[b] for a, b in pairs]), "test"
    )
    opened.database.close()
    return tmp_path
