"""A studio catalog of 500 images with the vectors of two encoders, and some labels."""

import shutil
from pathlib import Path

import pytest
import requests
from labelling_app import draw_team, serving_shop, when

from lookalike.core.types import Labels
from lookalike.store.workspace import Workspace
from lookalike.workflows.search.searcher import Searcher
from lookalike.workflows.start.embed import embed


def fill(folder: Path) -> None:
    workspace = Workspace(draw_team(folder, images=500))
    for encoder in ("color", "hog"):
        embed(workspace, f"descriptor:{encoder}", workers=1)
    query = str(workspace.catalog.image[0])
    found = [hit.image for hit in Searcher.of(workspace, "color").by_image(query, 6).results]
    workspace.add_labels(Labels.of([query] * 4, found[:4], [1, 0, 1, 0]), "a file")
    workspace.database.close()


@pytest.fixture(scope="session")
def explored(made_once) -> Path:
    """A workspace that no test changes: `color` ranked four labelled items first for its first image."""
    return made_once("explored", fill) / "team"


@pytest.fixture(scope="module")
def shop(explored, tmp_path_factory):
    """A copy of it, served."""
    folder = tmp_path_factory.mktemp("explored") / "shop"
    with serving_shop(Workspace(Path(shutil.copytree(explored, folder)))) as running:
        when(lambda: requests.get(f"{running.address}/readyz", timeout=30).ok)
        yield running
