"""A studio workspace in which networks learn: 96 photos, their true labels, and the vectors of a small network."""

import contextlib
import io
from itertools import combinations
from pathlib import Path

import numpy as np
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from lookalike.cli.app import run as run_command
from lookalike.core.types import Labels
from lookalike.store.workspace import Workspace
from lookalike.studio import studio, true_labels, write_photos

IMAGES, STUDIO = 96, 200
NETWORK = "timm:test_resnet?weights=models/mine.safetensors&size=32"


def network_for(photos: Path) -> dict[str, torch.Tensor]:
    """A small random network whose BatchNorm layers have the statistics of these photos, so that vectors differ."""
    torch.manual_seed(1)
    model = timm.create_model("test_resnet", num_classes=3)
    pixels = [np.asarray(Image.open(path), np.float32) / 255 for path in sorted(photos.glob("*/*/*.png"))]
    for layer in model.modules():
        if isinstance(layer, torch.nn.BatchNorm2d):
            layer.momentum = None
    with torch.no_grad():
        model.train()(torch.from_numpy(np.stack(pixels)).permute(0, 3, 1, 2) * 4 - 2)
    return model.state_dict()


def fill(folder: Path) -> None:
    """A catalog without labels, and an encoder `base`."""
    write_photos(studio(STUDIO, photos_per_item=2), folder / "photos", rows=range(IMAGES), size=32)
    (folder / "models").mkdir()
    save_file(network_for(folder / "photos"), folder / "models/mine.safetensors")
    with contextlib.chdir(folder), contextlib.redirect_stdout(io.StringIO()):
        assert run_command(["init", "photos"]) == 0
        assert run_command(["embed", NETWORK, "--name", "base"]) == 0


def add_true_labels(folder: Path) -> None:
    """The true label of most pairs of items of one split, drawn at random."""
    drawn, opened = studio(STUDIO, photos_per_item=2), Workspace(folder)
    catalog, known = opened.catalog, drawn.catalog()
    item = np.array([known.row[image] // 2 for image in catalog.image])
    first = [at for at, name in enumerate(catalog.item) if name not in catalog.item[:at]]
    pairs = np.array([pair for pair in combinations(first, 2) if len(set(catalog.split[list(pair)])) == 1])
    pairs = pairs[np.random.default_rng(0).random(len(pairs)) < 0.7]
    label = true_labels(drawn, item[pairs[:, 0]], item[pairs[:, 1]])
    query, candidate = (catalog.image[pairs[:, side]].tolist() for side in (0, 1))
    opened.add_labels(Labels.of(query, candidate, label.tolist()), "the truth")
    opened.database.close()
