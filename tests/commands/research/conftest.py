"""The studio workspace of `learning_studio.py`, without and with labels."""

import shutil
from pathlib import Path

import pytest
from learning_studio import add_true_labels, fill


@pytest.fixture(scope="session")
def made_studio(made_once) -> Path:
    """The workspace that all tests copy."""
    return made_once("learning_studio", fill)


@pytest.fixture
def unlabelled(lookalike, made_studio, tmp_path) -> Path:
    """The workspace without labels."""
    return shutil.copytree(made_studio, tmp_path, dirs_exist_ok=True)


@pytest.fixture
def taught(unlabelled) -> Path:
    """The workspace with labels."""
    add_true_labels(unlabelled)
    return unlabelled
