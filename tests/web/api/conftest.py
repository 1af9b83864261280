"""Fixtures of the tests of the API."""

import pytest
from api_shop import ENCODER, serving_ready
from labelling_app import make_workspace

from lookalike.workflows.start.embed import embed


@pytest.fixture(scope="session")
def embedded_team(made_once, team):
    """The team's workspace with vectors of two encoders."""

    def make(folder):
        workspace = make_workspace(folder / "team", team)
        for spec in (ENCODER, "descriptor:hog"):
            embed(workspace, spec, workers=1)
        workspace.database.close()
        return folder

    return made_once("embedded_team", make) / "team"


@pytest.fixture(scope="module")
def shop(tmp_path_factory, embedded_team):
    """Served to programs that only read."""
    with serving_ready(make_workspace(tmp_path_factory.mktemp("api") / "shop", embedded_team, 0)) as running:
        yield running


@pytest.fixture
def own_shop(tmp_path, embedded_team):
    """Served for one test, which may change it."""
    with serving_ready(make_workspace(tmp_path / "shop", embedded_team, 0)) as running:
        yield running
